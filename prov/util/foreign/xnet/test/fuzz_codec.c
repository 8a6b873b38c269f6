/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Any bytes may come from a peer: what is accepted has possible fields only, and encoded and
 * decoded again is the same.
 */
#include <stdlib.h>
#include <string.h>

#include "foreign/xnet/cm.h"
#include "foreign/xnet/frame.h"
#include "foreign/xnet/rdm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_frame(const uint8_t *buf, size_t size, bool swapped)
{
	uint8_t again[XNET_FRAME_MAX];
	struct xnet_frame frame, back;
	const char *why;
	size_t len = xnet_frame_get(buf, size, swapped, &frame, &why);

	if (!len)
		return;
	if (why || len > size || len > XNET_FRAME_MAX || frame.ranges > XNET_FRAME_RANGES ||
	    frame.number > XNET_FRAME_NUMBERS)
		abort();
	if (xnet_frame_put(&frame, swapped, again) != len ||
	    xnet_frame_get(again, len, swapped, &back, &why) != len || memcmp(&frame, &back, sizeof(frame)))
		abort();
}

static void check_message(const uint8_t *buf, size_t size)
{
	uint8_t again[XNET_CM_SIZE + XNET_CM_DATA_MAX] = { 0 }, third[XNET_CM_SIZE];
	struct xnet_cm_msg msg, back;

	if (xnet_cm_need(buf, size) > sizeof(again) || xnet_cm_get(buf, size, &msg) != XNET_CM_OK)
		return;
	if (msg.data_len + (size_t) XNET_CM_SIZE > size)
		abort();
	xnet_cm_put(&msg, again);
	if (xnet_cm_get(again, sizeof(again), &back) != XNET_CM_OK)
		abort();
	xnet_cm_put(&back, third);
	if (back.swapped || memcmp(again, third, sizeof(third)))
		abort();
}

static void check_rdm(const uint8_t *buf, size_t size)
{
	uint8_t again[XNET_RDM_SIZE];
	struct xnet_rdm rdm;

	if (!xnet_rdm_get(buf, size, &rdm))
		return;
	xnet_rdm_put(&rdm, again);
	if (!rdm.port || !rdm.process || memcmp(again, buf, sizeof(again)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	memcpy(copy, data, size);
	check_frame(copy, size, false);
	check_frame(copy, size, true);
	check_message(copy, size);
	check_rdm(copy, size);
	free(copy);
	return 0;
}
