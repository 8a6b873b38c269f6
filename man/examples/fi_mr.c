/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
/* What a peer needs to know to read the region. */
struct grant {
	uint64_t addr;
	uint64_t key;
	uint64_t len;
};

static int grant_read(struct example *e, void *buf, size_t len, struct fid_mr **mr,
		      struct grant *grant)
{
	static uint64_t next_key = 1;	/* not used with FI_MR_PROV_KEY */
	int mode = e->info->domain_attr->mr_mode;
	int ret;

	ret = fi_mr_reg(e->domain, buf, len, FI_REMOTE_READ, 0, next_key++, 0, mr, NULL);
	if (ret)
		return ret;
	if (mode & FI_MR_ENDPOINT) {
		ret = fi_mr_bind(*mr, &e->ep->fid, 0);
		if (!ret)
			ret = fi_mr_enable(*mr);
		if (ret) {
			fi_close(&(*mr)->fid);
			return ret;
		}
	}
	grant->addr = mode & FI_MR_VIRT_ADDR ? (uintptr_t) buf : 0;
	grant->key = fi_mr_key(*mr);
	grant->len = len;
	return 0;
}
/* page] */

int main(void)
{
	struct fid_mr *mr = NULL, *twin = NULL;
	struct grant grant = { 0 };
	struct example e;
	char buf[64];
	int ret = 0;

	setenv("FI_LOG_LEVEL", "none", 0);	/* the warning is expected */
	example_open(&e, "tcp", FI_EP_RDM, FI_MSG);
	MUST(grant_read(&e, buf, sizeof(buf), &mr, &grant));
	if (!(e.info->domain_attr->mr_mode & FI_MR_PROV_KEY))
		ret = fi_mr_reg(e.domain, buf, 1, FI_REMOTE_READ, 0, grant.key, 0, &twin, NULL) !=
		      -FI_ENOKEY;
	MUST(fi_close(&mr->fid));
	example_close(&e);
	return ret || grant.key == FI_KEY_NOTAVAIL;
}
