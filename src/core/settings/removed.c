/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Variables that earlier versions had, or that other implementations have for what is done otherwise here. */

#include <string.h>

#include "core/param.h"

#define IN_HINTS "programs ask for it in their hints (fi_getinfo(3))"
#define BY_VERBS "FI_VERBS_USE_DMABUF=0 registers no device memory as a dma-buf"
#define BY_RETRY "a connect is repeated for FI_CONN_RETRY"
#define BY_MEMORY "queues take 1048576 transmits and 4194304 receives"
#define BY_RAILS "each interface carries as much as it delivers (FI_RAILS, fi_rails(7))"
#define BY_TIMEOUT "probes follow FI_TCP_USER_TIMEOUT, 0 for none"

static const struct {
	const char *name;
	const char *instead;
} removed[] = {
	{ "FI_HMEM_CUDA_USE_DMABUF", BY_VERBS },
	{ "FI_HMEM_NEURON_USE_DMABUF", BY_VERBS },
	{ "FI_HMEM_ROCR_USE_DMABUF", BY_VERBS },
	{ "FI_HMEM_SYNAPSEAI_USE_DMABUF", BY_VERBS },
	{ "FI_HMEM_ZE_COPY_ENGINE", "group 0 of a device's queues copies" },
	{ "FI_HMEM_ZE_USE_DMABUF", BY_VERBS },
	{ "FI_LNX_MULTI_RAIL_SELECTION", BY_RAILS },
	{ "FI_LNX_PROV_LINKS", "peers of the same host go by shared memory below every provider that has it; several "
	  "interfaces are used with FI_RAILS (fi_rails(7))" },
	{ "FI_LOOP_CONN_RETRY", "a connect is repeated for 1 s" },
	{ "FI_LOOP_RX_SIZE", IN_HINTS },
	{ "FI_LOOP_TX_SIZE", IN_HINTS },
	{ "FI_OFI_MRAIL_ADDR", "the peers exchange their addresses; FI_RAILS_IFACES names interfaces (fi_rails(7))" },
	{ "FI_OFI_MRAIL_CONFIG", BY_RAILS },
	{ "FI_OFI_RXD_EAGER_SIZE", "messages of up to 65536 bytes are sent before the receiver asks for them" },
	{ "FI_OFI_RXD_KEEPALIVE", "an idle peer is probed after a thirtieth of FI_OFI_RXD_PEER_TIMEOUT" },
	{ "FI_OFI_RXD_MAX_INJECT", IN_HINTS },
	{ "FI_OFI_RXD_RX_SIZE", IN_HINTS },
	{ "FI_OFI_RXD_TX_SIZE", IN_HINTS },
	{ "FI_OFI_RXD_WINDOW", "peers may have in flight what the socket buffer holds (net.core.rmem_max)" },
	{ "FI_OFI_RXM_NUM_MSG_EPS", "each peer has one endpoint below, which keeps all message orders; FI_TCP_LANES is "
	  "for several TCP connections to a peer of provider tcp" },
	{ "FI_OFI_RXM_CONN_RETRY", BY_RETRY },
	{ "FI_OFI_RXM_CONN_TIMEOUT", "a connect that times out below is repeated for a minute" },
	{ "FI_RAILS_EXCLUDE", "FI_RAILS_IFACES=^NAME,... means all but these" },
	{ "FI_ROCR_D2H_THRESHOLD", "copies to the host of up to 16384 bytes are waited for" },
	{ "FI_RX_QUEUE_MAX", BY_MEMORY },
	{ "FI_SHM_CONN_RETRY", BY_RETRY },
	{ "FI_SHM_PULL_SIZE", "8192 bytes and more are read from the sender's memory; FI_SHM_DISABLE_CMA=1 copies all "
	  "through shared memory" },
	{ "FI_TCP_CONN_RETRY", BY_RETRY },
	{ "FI_TCP_KEEPALIVE_ENABLE", BY_TIMEOUT },
	{ "FI_TCP_KEEPALIVE_INTVL", BY_TIMEOUT },
	{ "FI_TCP_KEEPALIVE_PROBES", BY_TIMEOUT },
	{ "FI_TCP_KEEPALIVE_TIME", BY_TIMEOUT },
	{ "FI_TX_QUEUE_MAX", BY_MEMORY },
	{ "FI_UNEXP_SIZE", "peers announce messages from a quarter of FI_UNEXP_PEER_MAX on" },
};

const char *core_param_removed(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(removed) / sizeof(removed[0]); i++)
		if (!strcmp(removed[i].name, name))
			return removed[i].instead;
	return NULL;
}
