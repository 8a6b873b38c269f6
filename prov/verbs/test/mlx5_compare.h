/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mlx5_compare.h - for tests on the real libmlx5: compares its requests with ours.
 */
#ifndef VRB_MLX5_COMPARE_H
#define VRB_MLX5_COMPARE_H

#include <string.h>

#include "verbs/mlx5_direct.h"

/* libmlx5 and the direct path write the same bytes for a request. */
static void compare_bytes(struct mlx5_sq *sq, struct vrb_sq *library, const struct vrb_wr *wr)
{
	uint32_t from = sq->next, used, i;
	char ours[16 * MLX5_BB];
	int ret;
	size_t len;

	assert_int_equal(sq->base.ops->build(&sq->base, wr), 0);
	used = sq->next - from;
	assert_true(from + used <= sq->mask + 1);
	memcpy(ours, sq->buf + (size_t) from * MLX5_BB, (size_t) used * MLX5_BB);
	memset(sq->buf + (size_t) from * MLX5_BB, 0, (size_t) used * MLX5_BB);
	ret = library->ops->build(library, wr);
	if (ret)
		fail_msg("libmlx5 refuses operation %d, flags %x, %u pieces, %u bytes, at %u: %d", wr->op,
			 wr->flags, wr->sge_cnt, wr->sge[0].length, from, ret);
	len = (size_t) (unsigned char) ours[7] * 16;	/* all that the device reads */
	for (i = 0; i < len; i++)
		if (ours[i] != sq->buf[(size_t) from * MLX5_BB + i])
			fail_msg("operation %d, flags %x, %u bytes: byte %u is %02x, not %02x", wr->op,
				 wr->flags, wr->sge[0].length, i, (unsigned char) ours[i],
				 (unsigned char) sq->buf[(size_t) from * MLX5_BB + i]);
	assert_int_equal(be32toh(sq->dbrec[MLX5_DB_SEND]), sq->next & 0xffff);
}

#endif
