/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fuzz_record - libFuzzer target: records of a connection that recovers, and the exchange of addresses. */
#include "record_check.h"

#include <net/if.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct eng_ep *ep;
	struct net_rail rail[2] = { { .iface = "lo", .prefix = 8 }, { .iface = "lo", .prefix = 8 } };

	if (!ep) {
		fake_start();
		ep = fake_ep(FI_EP_RDM, 0);
		rail[0].addr = rail[1].addr = fake_loopback(0);
		tcp_rails_start(container_of(ep->link, struct tcp_link, base.base), rail, 2);
	}
	check_records(ep, data, size);
	return 0;
}
