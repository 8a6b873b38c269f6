/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <arpa/inet.h>

#include "example.h"

/* [page */
static int insert_all(struct fid_av *av, const struct sockaddr_in *addr, size_t cnt,
		      fi_addr_t *fi_addr)
{
	int *errs = calloc(cnt, sizeof(*errs));
	char text[64];
	size_t i, len;
	int ret;

	if (!errs)
		return -FI_ENOMEM;
	ret = fi_av_insert(av, addr, cnt, fi_addr, FI_SYNC_ERR, errs);
	for (i = 0; ret >= 0 && i < cnt; i++) {
		len = sizeof(text);
		if (errs[i])
			printf("%s cannot be inserted: %s\n",
			       fi_av_straddr(av, &addr[i], text, &len), fi_strerror(errs[i]));
	}
	free(errs);
	return ret;
}
/* page] */

int main(void)
{
	struct sockaddr_in addr[3], back;
	fi_addr_t fi_addr[3], sym[4];
	size_t len = sizeof(back);
	struct example e;
	int i;

	setenv("FI_LOG_LEVEL", "none", 0);	/* the warning is expected */
	example_open(&e, "tcp", FI_EP_RDM, FI_MSG);
	memset(addr, 0, sizeof(addr));
	for (i = 0; i < 3; i++) {
		addr[i].sin_family = AF_INET;
		addr[i].sin_port = htons(5000 + i);
		addr[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	}
	addr[1].sin_port = 0;
	if (MUST(insert_all(e.av, addr, 3, fi_addr)) != 2 || fi_addr[1] != FI_ADDR_NOTAVAIL)
		return 1;
	MUST(fi_av_lookup(e.av, fi_addr[2], &back, &len));
	if (back.sin_port != addr[2].sin_port)
		return 1;
	MUST(fi_av_remove(e.av, &fi_addr[0], 1, 0));
	if (MUST(fi_av_insertsym(e.av, "127.0.0.1", 2, "6000", 2, sym, 0, NULL)) != 4)
		return 1;
	MUST(fi_av_lookup(e.av, sym[3], &back, &len));
	i = back.sin_port == htons(6001) && back.sin_addr.s_addr == htonl(INADDR_LOOPBACK + 1);
	example_close(&e);
	return !i;
}
