/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mlx5_doorbell.h - ringing the doorbell of an mlx5 send queue, by a store of our own.
 *
 * Where libibverbs posts the requests (data/libibverbs.c), it rings by itself.  The order of the
 * stores is explained in mlx5_direct.h: requests, the doorbell record, then the register.
 * Inlined into the calls of the fast path.
 *
 * Threading: the caller holds the lock of the progress group, which guards queue and register.
 */
#ifndef MLX5_DOORBELL_H
#define MLX5_DOORBELL_H

#include "mlx5_queue.h"

/* A test replaces the store, to look at memory at that moment. */
#ifndef MLX5_STORE64
#define MLX5_STORE64(reg, val) (*(volatile uint64_t *) (reg) = (val))
#endif

static inline uint64_t block_word(const char *block, unsigned i)
{
	uint64_t v;

	memcpy(&v, block + i * sizeof(v), sizeof(v));
	return v;
}

MLX5_INLINE void ring_block(char *reg, const char *block)
{
	unsigned i;

#pragma GCC unroll 8
	for (i = 0; i < MLX5_BB / sizeof(uint64_t); i++)
		MLX5_STORE64(reg + i * sizeof(uint64_t), block_word(block, i));
}

/* mlx5_ring_queue - ring the doorbell: the device executes what was built.
 *
 * A single short request is written into the register as a whole, so that the device need not
 * fetch it; of several, only the first 8 bytes of the last one.
 */
MLX5_INLINE void mlx5_ring_queue(struct mlx5_sq *sq)
{
	const uint32_t blocks = sq->next - sq->last;
	struct mlx5_reg *share = sq->reg;
	char *reg = sq->doorbell + share->at;
	uint32_t i;

	device_barrier();
	__atomic_store_n(&sq->dbrec[MLX5_DB_SEND], htobe32(sq->next & MLX5_COUNTER_MASK),
			 __ATOMIC_RELEASE);
	store_fence();
	if (sq->rung == sq->last && blocks * MLX5_BB <= share->size) {
		ring_block(reg, mlx5_seg_at(sq, sq->last * 4));
		for (i = 1; i < blocks; i++)
			ring_block(reg + i * MLX5_BB, mlx5_seg_at(sq, (sq->last + i) * 4));
	} else {
		MLX5_STORE64(reg, block_word(mlx5_seg_at(sq, sq->last * 4), 0));
	}
	store_fence();
	share->at ^= share->size;
	sq->rung = sq->next;
}

#endif
