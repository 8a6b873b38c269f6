/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mlx5_wire.h - layout of the queues of an mlx5 device, after its programming manual.
 * Everything is big-endian.
 */
#ifndef VRB_MLX5_WIRE_H
#define VRB_MLX5_WIRE_H

#include <assert.h>
#include <stdint.h>

#define MLX5_BB 64u			/* bytes of a basic block; a send request takes up one or more */
#define MLX5_SEG 16u			/* bytes of a segment; a request is made of segments */
#define MLX5_WQE_MAX 16u		/* blocks of the longest request that we build */
#define MLX5_INLINE_BIT 0x80000000u	/* of a segment that is followed by its data */
#define MLX5_NO_LKEY 0x100u		/* ends the list of a receive */
#define MLX5_COUNTER_MASK 0xffffu	/* of a doorbell record */

/* Doorbell record of a queue pair: next receive, next send. */
#define MLX5_DB_RECV 0
#define MLX5_DB_SEND 1

/* Doorbell record of a completion queue: index of the reader, and arming. */
#define MLX5_DB_CI 0
#define MLX5_DB_ARM 1
#define MLX5_ARM_REG 0x20	/* offset of the register that arms */

enum mlx5_wqe_op {
	MLX5_WQE_WRITE = 0x08,
	MLX5_WQE_WRITE_IMM = 0x09,
	MLX5_WQE_SEND = 0x0a,
	MLX5_WQE_SEND_IMM = 0x0b,
	MLX5_WQE_READ = 0x10,
	MLX5_WQE_CMP_SWAP = 0x11,
	MLX5_WQE_FETCH_ADD = 0x12,
};

/* mlx5_ctrl.flags */
#define MLX5_CTRL_COMPLETION 0x08
#define MLX5_CTRL_SOLICITED 0x02
#define MLX5_CTRL_FENCE 0x80

struct mlx5_ctrl {
	uint32_t index_op;		/* counter of its first block << 8, operation */
	uint32_t qpn_ds;		/* queue pair << 8, segments in all */
	uint8_t signature;
	uint8_t reserved[2];
	uint8_t flags;
	uint32_t imm;
};

/* The destination of a datagram: three segments. */
struct mlx5_av {
	uint32_t qkey;
	uint32_t reserved;
	uint32_t qpn;			/* and MLX5_AV_LONG */
	uint8_t rate_sl;
	uint8_t path;
	uint16_t lid;
	uint8_t reserved2[4];
	uint8_t mac[6];
	uint8_t tclass;
	uint8_t hop_limit;
	uint32_t gid_flow;		/* GRH (not on RoCE) << 30, source GID index << 20, flow label */
	uint8_t gid[16];
};

#define MLX5_AV_LONG 0x80000000u	/* it has all three segments */

/* The remote memory of a write, read or atomic. */
struct mlx5_raddr {
	uint64_t addr;			/* virtual address at the peer */
	uint32_t rkey;			/* of the peer's region */
	uint32_t reserved;
};

/* The operands of an atomic, behind struct mlx5_raddr. */
struct mlx5_amo {
	uint64_t operand;		/* addend, or the new value */
	uint64_t compare;		/* compare and swap only */
};

/* A buffer that the device reads or writes. */
struct mlx5_data {
	uint32_t len;			/* 0 means 2 GiB */
	uint32_t lkey;			/* of its region; MLX5_NO_LKEY ends a list */
	uint64_t addr;			/* virtual address in this process */
};

/* First segment of a receive of a shared queue, a list: receives complete in any order. */
struct mlx5_next {
	uint8_t reserved1[2];
	uint16_t index;			/* of the next receive */
	uint8_t signature;
	uint8_t reserved2[11];
};

static_assert(sizeof(struct mlx5_next) == MLX5_SEG, "a segment");
static_assert(sizeof(struct mlx5_ctrl) == MLX5_SEG, "a segment");
static_assert(sizeof(struct mlx5_raddr) == MLX5_SEG, "a segment");
static_assert(sizeof(struct mlx5_amo) == MLX5_SEG, "a segment");
static_assert(sizeof(struct mlx5_av) == 3 * MLX5_SEG, "segments");
static_assert(sizeof(struct mlx5_data) == MLX5_SEG, "a segment");

enum mlx5_cqe_op {
	MLX5_CQE_SENT = 0,		/* a request is complete, and all before it */
	MLX5_CQE_WRITTEN_IMM = 1,	/* a write with data has consumed a receive */
	MLX5_CQE_RECEIVED = 2,		/* a message */
	MLX5_CQE_RECEIVED_IMM = 3,	/* a message with remote CQ data */
	MLX5_CQE_SEND_ERROR = 13,	/* a request failed; @syndrome says why */
	MLX5_CQE_RECV_ERROR = 14,	/* the same of a receive */
	MLX5_CQE_NONE = 15,		/* not yet written */
};

struct mlx5_cqe {
	union {
		uint8_t data[32];	/* with MLX5_CQE_DATA_HERE: what was received or read */
		struct {		/* of a datagram */
			uint8_t reserved0[22];
			uint16_t slid;
			uint32_t grh_qpn;	/* MLX5_CQE_GRH, low 24 bits: queue pair of the source */
			uint8_t reserved3[4];
		};
	};
	uint32_t srqn;
	uint32_t imm;
	uint32_t reserved1;
	uint32_t len;
	uint8_t reserved2[6];		/* a time stamp, where it is no error */
	uint8_t vendor;			/* of an error */
	uint8_t syndrome;
	uint32_t op_qpn;		/* low 24 bits: queue pair */
	uint16_t counter;		/* of the completed request */
	uint8_t signature;
	uint8_t op_own;			/* enum mlx5_cqe_op << 4, MLX5_CQE_DATA_, owner bit */
};

#define MLX5_CQE_GRH 0x30000000u	/* the header before the data is valid */

/* Short data may come in the completion instead of the buffers of its request. */
#define MLX5_CQE_DATA_HERE 0x4		/* in its first 32 bytes */
#define MLX5_CQE_DATA_BEFORE 0x8	/* in the 64 bytes before it */


static_assert(sizeof(struct mlx5_cqe) == 64, "a completion");

#endif
