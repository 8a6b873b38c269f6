/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * caps.c - arithmetic of capabilities and registration modes.  Pure.
 */
#include <rdma/fi_errno.h>

#include "info/check.h"

#define MSG_OPS (FI_MSG | FI_TAGGED | FI_MULTICAST)
#define MSG_WAYS (FI_SEND | FI_RECV)
#define RMA_OPS (FI_RMA | FI_ATOMIC)
#define RMA_WAYS (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)

uint64_t info_caps_expand(uint64_t caps)
{
	if (caps & MSG_OPS && !(caps & MSG_WAYS))
		caps |= MSG_WAYS;
	if (caps & RMA_OPS && !(caps & RMA_WAYS))
		caps |= RMA_WAYS;
	return caps;
}

int info_caps_get(uint64_t offered, uint64_t wanted, uint64_t *caps_p)
{
	uint64_t caps, extra = INFO_CAPS_FREE;

	if (wanted & ~offered)
		return -FI_ENODATA;
	if (!wanted) {
		*caps_p = offered & ~INFO_CAPS_ASKED;
		return 0;
	}
	caps = info_caps_expand(wanted) & offered;
	if (!(caps & FI_MSG) || !(caps & FI_RECV))
		extra &= ~FI_MULTI_RECV;
	*caps_p = caps | (extra & offered);
	return 0;
}

uint64_t info_caps_tx(uint64_t caps)
{
	uint64_t tx = caps & INFO_CAPS_TX;

	if (!(caps & FI_SEND))
		tx &= ~MSG_OPS;
	if (!(caps & (FI_READ | FI_WRITE)))
		tx &= ~RMA_OPS;
	return tx;
}

uint64_t info_caps_rx(uint64_t caps)
{
	uint64_t rx = caps & INFO_CAPS_RX;

	if (!(caps & FI_RECV))
		rx &= ~MSG_OPS;
	if (!(caps & (FI_REMOTE_READ | FI_REMOTE_WRITE)))
		rx &= ~RMA_OPS;
	return rx;
}

#define LEGACY (FI_MR_BASIC | FI_MR_SCALABLE)

int info_mr_mode_bits(int mr_mode)
{
	return (mr_mode & ~LEGACY) | (mr_mode & FI_MR_BASIC ? INFO_MR_BASIC_BITS : 0);
}

int info_mr_mode_need(int required, uint64_t caps)
{
	int need = info_mr_mode_bits(required);

	if (!(caps & RMA_OPS))
		need &= FI_MR_LOCAL | FI_MR_HMEM | FI_MR_COLLECTIVE | FI_MR_ENDPOINT |
			FI_MR_MMU_NOTIFY | FI_MR_XPU_DESC;
	if (!(caps & FI_HMEM))
		need &= ~FI_MR_HMEM;
	if (!(caps & FI_RMA_EVENT))
		need &= ~FI_MR_RMA_EVENT;
	if (!(caps & FI_XPU))
		need &= ~FI_MR_XPU_DESC;
	if (!(caps & FI_COLLECTIVE))
		need &= ~FI_MR_COLLECTIVE;
	return need;
}

int info_mr_mode_get(int need, int wanted, int *out_p)
{
	bool word = wanted == FI_MR_BASIC || wanted == FI_MR_SCALABLE;

	if (!word && wanted & LEGACY)
		return -FI_ENODATA;
	need = info_mr_mode_bits(need);
	if (need & ~info_mr_mode_bits(wanted))
		return -FI_ENODATA;
	*out_p = word ? wanted : need;
	return 0;
}
