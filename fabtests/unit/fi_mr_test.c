/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "common/ft.h"

#define ACCESS	(FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)
#define MANY	64

static uint64_t key_for(struct ft *ft, uint64_t key)
{
	return ft->info->domain_attr->mr_mode & (FI_MR_PROV_KEY | FI_MR_BASIC) ? 0 : key;
}

static void finish(struct ft *ft, struct fid_mr *mr)
{
	FT_WANT(fi_mr_key(mr) != FI_KEY_NOTAVAIL, "a region has no key");
	FT_WANT(mr->mem_desc == fi_mr_desc(mr) && mr->fid.fclass == FI_CLASS_MR,
		"a region's class or descriptor is wrong");
	FT_TRY(fi_close(&mr->fid));
}

static void lengths(struct ft *ft, char *buf)
{
	for (size_t len = 1; len <= 1u << 20; len *= 4) {
		struct fid_mr *mr;

		FT_TRY(fi_mr_reg(ft->domain, buf, len, ACCESS, 0, key_for(ft, 100 + len), 0, &mr, NULL));
		finish(ft, mr);
	}
}

static void rights(struct ft *ft, char *buf)
{
	static const uint64_t access[] = { FI_SEND, FI_RECV, FI_READ, FI_WRITE, FI_REMOTE_READ,
		FI_REMOTE_WRITE, FI_SEND | FI_RECV, FI_REMOTE_READ | FI_REMOTE_WRITE, ACCESS };

	for (size_t i = 0; i < FT_COUNT(access); i++) {
		struct fid_mr *mr;

		FT_TRY(fi_mr_reg(ft->domain, buf, 4096, access[i], 0, key_for(ft, 200 + i), 0, &mr, NULL));
		finish(ft, mr);
	}
}

static void pieces(struct ft *ft, char *buf)
{
	size_t limit = ft->info->domain_attr->mr_iov_limit;
	struct iovec iov[2] = { { buf, 1000 }, { buf + 8192, 3000 } };
	struct fi_mr_attr attr = { .mr_iov = iov, .iov_count = 2, .access = ACCESS,
				   .requested_key = key_for(ft, 300) };
	struct fid_mr *mr;

	FT_WANT(limit, "mr_iov_limit is 0");
	attr.iov_count = limit < 2 ? 1 : 2;
	FT_TRY(fi_mr_regv(ft->domain, iov, attr.iov_count, ACCESS, 0, key_for(ft, 300), 0, &mr, NULL));
	finish(ft, mr);
	FT_TRY(fi_mr_regattr(ft->domain, &attr, 0, &mr));
	finish(ft, mr);
}

/* Keys: unique while in use, and free again afterwards. */
static void keys(struct ft *ft, char *buf)
{
	struct fid_mr *mr[MANY], *twin;
	bool own = key_for(ft, 1);

	for (size_t i = 0; i < MANY; i++)
		FT_TRY(fi_mr_reg(ft->domain, buf + i, 64, ACCESS, 0, key_for(ft, 1000 + i), 0, &mr[i], mr));
	for (size_t i = 0; i < MANY; i++) {
		FT_WANT(!own || fi_mr_key(mr[i]) == 1000 + i, "a requested key was changed");
		for (size_t j = 0; j < i; j++)
			FT_WANT(fi_mr_key(mr[i]) != fi_mr_key(mr[j]), "two regions have one key");
	}
	if (own)
		FT_IS(fi_mr_reg(ft->domain, buf, 64, ACCESS, 0, 1000, 0, &twin, NULL), -FI_ENOKEY);
	for (size_t i = 0; i < MANY; i++)
		FT_TRY(fi_close(&mr[i]->fid));
	FT_TRY(fi_mr_reg(ft->domain, buf, 64, ACCESS, 0, key_for(ft, 1000), 0, &twin, NULL));
	FT_TRY(fi_close(&twin->fid));
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: memory registration: lengths, rights, vectors, keys.",
		.local = true,
		.caps = FI_MSG | FI_RMA,
	};
	char *buf = malloc(1 << 20);
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	lengths(&ft, buf);
	rights(&ft, buf);
	pieces(&ft, buf);
	keys(&ft, buf);
	free(buf);
	return ft_end(&ft);
}
