/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "common/ft.h"

#define DOMAINS	16

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: many domains of one fabric, closed in any order; a busy one stays.",
		.local = true,
	};
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_NONE };
	struct fid_domain *dom[DOMAINS];
	struct fid_cq *cq[DOMAINS];
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	for (int i = 0; i < DOMAINS; i++) {
		FT_TRY(fi_domain(ft.fabric, ft.info, &dom[i], &dom[i]));
		FT_WANT(dom[i]->fid.context == &dom[i] && dom[i]->fid.fclass == FI_CLASS_DOMAIN,
			"a domain lost its context or class");
		FT_TRY(fi_cq_open(dom[i], &attr, &cq[i], NULL));
		for (int j = 0; j < i; j++)
			FT_WANT(dom[j] != dom[i], "two opens gave one domain");
	}
	FT_IS(fi_close(&dom[0]->fid), -FI_EBUSY);
	FT_IS(fi_close(&ft.fabric->fid), -FI_EBUSY);
	for (int i = 0; i < DOMAINS; i++)
		FT_TRY(fi_close(&cq[i]->fid));
	for (int i = 0; i < DOMAINS; i += 2)
		FT_TRY(fi_close(&dom[i]->fid));
	for (int i = DOMAINS - 1; i > 0; i -= 2)
		FT_TRY(fi_close(&dom[i]->fid));
	return ft_end(&ft);
}
