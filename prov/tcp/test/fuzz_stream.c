/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fuzz_stream - libFuzzer target: the bytes after the handshakes, on any number of lanes. */
#include "stream_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct eng_ep *ep;

	if (!ep) {
		fake_start();
		tcp_conf.rbuf_size = 4096;	/* quick, and more split points */
		tcp_conf.lanes = STREAM_LANES;
		ep = fake_ep(FI_EP_RDM, 0);
	}
	check_stream(ep, data, size);
	return 0;
}
