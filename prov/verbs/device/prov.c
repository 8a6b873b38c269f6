/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/provider.h"
#include "info/getinfo.h"
#include "info/params.h"
#include "mr/cache.h"
#include "verbs/ep.h"

struct vrb_conf vrb_conf = {
	.tx_size = 384,
	.rx_size = 384,
	.tx_iov = 4,
	.rx_iov = 4,
	.inline_size = 256,
	.min_rnr_timer = 12,
	.gid_idx = -1,
	.bunch = 8,
	.dmabuf = 1,
	.xrcd_file = (char *) "/tmp/verbs_xrcd",
};

struct fi_provider vrb_prov = {
	.version = OFI_PROV_VERSION,
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.name = "verbs",
	.getinfo = vrb_getinfo,
	.fabric = vrb_fabric,
};

#define FIELD(member) offsetof(struct vrb_conf, member)

static const struct info_param params[] = {
	{ "tx_size", FI_PARAM_INT, FIELD(tx_size), 2, 16384, NULL,
	  "Transmit queue entries (2 to 16384; default: 384)" },
	{ "rx_size", FI_PARAM_INT, FIELD(rx_size), 2, 16384, NULL,
	  "Receive queue entries (2 to 16384; default: 384)" },
	{ "tx_iov_limit", FI_PARAM_INT, FIELD(tx_iov), 1, VRB_IOV_MAX, NULL,
	  "Entries of the iov of a send (1 to 16; default: 4)" },
	{ "rx_iov_limit", FI_PARAM_INT, FIELD(rx_iov), 1, VRB_IOV_MAX, NULL,
	  "Entries of the iov of a receive (1 to 16; default: 4)" },
	{ "use_odp", FI_PARAM_BOOL, FIELD(odp), 0, 1, NULL,
	  "Register regions with on-demand paging instead of pinning them, where the device "
	  "supports it (default: no)" },
	{ "use_dmabuf", FI_PARAM_BOOL, FIELD(dmabuf), 0, 1, NULL,
	  "Register memory of devices (FI_HMEM) as dma-bufs, where the RDMA device takes them "
	  "(default: yes)" },
	{ "inline_size", FI_PARAM_INT, FIELD(inline_size), 8, 1024, NULL,
	  "Longest message that is copied into the request (8 to 1024; default: 256)" },
	{ "min_rnr_timer", FI_PARAM_INT, FIELD(min_rnr_timer), 0, 31, NULL,
	  "Delay before a sender retries at a peer without a posted receive, as code of the "
	  "InfiniBand specification (0 to 31; default: 12)" },
	{ "cqread_bunch_size", FI_PARAM_INT, FIELD(bunch), 1, VRB_BUNCH_MAX, NULL,
	  "Completions polled from the device at a time (1 to 64; default: 8)" },
	{ "prefer_xrc", FI_PARAM_BOOL, FIELD(prefer_xrc), 0, 1, NULL,
	  "Offer XRC endpoints, which share queue pairs, before RC ones, where the device has them "
	  "(default: no)" },
	{ "xrcd_filename", FI_PARAM_STRING, FIELD(xrcd_file), 0, 0, NULL,
	  "File that identifies the XRC domain that processes share; created if it does not exist "
	  "(default: /tmp/verbs_xrcd)" },
	{ "device_name", FI_PARAM_STRING, FIELD(device), 0, 0, NULL, "Use this RDMA device only" },
	{ "doorbell", FI_PARAM_STRING, FIELD(doorbell), 0, 0, NULL,
	  "How requests reach the device: extended or post (default: the first that the device "
	  "supports); direct: written into the queues of an mlx5 device" },
};

/* It may be negative, which a table does not have. */
static void read_gid_idx(void)
{
	int given;

	fi_param_define(&vrb_prov, "gid_idx", FI_PARAM_INT, "Index in the GID table of a port for "
			"datagram endpoints that are named by their queue pair (FI_ADDR_IB_UD), -1 to "
			"255; -1: the best (default: -1)");
	if (fi_param_get_int(&vrb_prov, "gid_idx", &given))
		return;
	if (given >= -1 && given <= 255)
		vrb_conf.gid_idx = given;
	else
		VRB_WARN(FI_LOG_CORE, "FI_VERBS_GID_IDX is ignored, it must be a number from -1 to 255\n");
}

static void read_conf(void)
{
	fi_param_define(NULL, "fork_unsafe", FI_PARAM_BOOL, "The program does not fork: do not "
			"protect registered memory from copy-on-write, which saves a system call for "
			"each region where the kernel does not do it by itself (default: no)");
	fi_param_get_bool(NULL, "fork_unsafe", &vrb_conf.fork_unsafe);
	info_params_read(&vrb_prov, params, sizeof(params) / sizeof(params[0]), &vrb_conf);
	read_gid_idx();
}

OFI_PROVIDER_INI(verbs)
{
	info_params_define(&vrb_prov, INFO_PARAM_IFACE);
	mr_cache_params();
	read_conf();
	vrb_info_init();
	return &vrb_prov;
}
