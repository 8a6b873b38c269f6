/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <unistd.h>

#include "example.h"

/* [page */
/* Print the variables whose names begin with @prefix; returns how many. */
static int print_variables(const char *prefix)
{
	struct fi_param *params;
	int i, cnt, shown = 0, ret;

	ret = fi_getparams(&params, &cnt);
	if (ret)
		return ret;
	for (i = 0; i < cnt; i++) {
		if (strncmp(params[i].name, prefix, strlen(prefix)))
			continue;
		printf("%s=%s\n\t%s\n", params[i].name,
		       params[i].value ? params[i].value : "", params[i].help_string);
		shown++;
	}
	fi_freeparams(params);
	return shown;
}
/* page] */

int main(void)
{
	const char *top = getenv("top_builddir");
	char path[4096];

	snprintf(path, sizeof(path), "+%s/man/examples/.libs/libexample-fi.so", top ? top : ".");
	if (access(path + 1, R_OK)) {
		printf("skipped: there is no %s\n", path + 1);
		return 77;
	}
	setenv("FI_PROVIDER_PATH", path, 1);
	return MUST(print_variables("FI_EXAMPLE_")) != 1 ||
	       MUST(print_variables("FI_LOG_")) < 6;
}
