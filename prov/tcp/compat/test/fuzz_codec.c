/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Any bytes may come from a peer: what is accepted has possible fields only, and encoded and
 * decoded again is the same.
 */
#include <stdlib.h>
#include <string.h>

#include "tcp/compat/cm.h"
#include "tcp/compat/frame.h"
#include "tcp/compat/rdm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_frame(const uint8_t *buf, size_t size, bool swapped)
{
	uint8_t again[TCP_CFRAME_MAX];
	struct tcp_cframe frame, back;
	const char *why;
	size_t len = tcp_cframe_get(buf, size, swapped, &frame, &why);

	if (!len)
		return;
	if (why || len > size || len > TCP_CFRAME_MAX || frame.ranges > TCP_CFRAME_RANGES ||
	    frame.number > TCP_CFRAME_NUMBERS)
		abort();
	if (tcp_cframe_put(&frame, swapped, again) != len ||
	    tcp_cframe_get(again, len, swapped, &back, &why) != len || memcmp(&frame, &back, sizeof(frame)))
		abort();
}

static void check_message(const uint8_t *buf, size_t size)
{
	uint8_t again[TCP_CM_SIZE + TCP_CM_DATA_MAX] = { 0 }, third[TCP_CM_SIZE];
	struct tcp_cm_msg msg, back;

	if (tcp_cm_need(buf, size) > sizeof(again) || tcp_cm_get(buf, size, &msg) != TCP_CM_OK)
		return;
	if (msg.data_len + (size_t) TCP_CM_SIZE > size)
		abort();
	tcp_cm_put(&msg, again);
	if (tcp_cm_get(again, sizeof(again), &back) != TCP_CM_OK)
		abort();
	tcp_cm_put(&back, third);
	if (back.swapped || memcmp(again, third, sizeof(third)))
		abort();
}

static void check_rdm(const uint8_t *buf, size_t size)
{
	uint8_t again[TCP_RDM_SIZE];
	struct tcp_rdm rdm;

	if (!tcp_rdm_get(buf, size, &rdm))
		return;
	tcp_rdm_put(&rdm, again);
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
