/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/provider.h"
#include "info/getinfo.h"
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
	.xrcd_file = (char *) "/tmp/verbs_xrcd",
};

static void verbs_cleanup(void)
{
}

struct fi_provider vrb_prov = {
	.version = OFI_PROV_VERSION,
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.name = "verbs",
	.getinfo = vrb_getinfo,
	.fabric = vrb_fabric,
	.cleanup = verbs_cleanup,
};

static void number(const char *name, const char *help, int *value, int low, int high)
{
	int given;

	fi_param_define(&vrb_prov, name, FI_PARAM_INT, "%s (%d to %d; default %d)", help, low, high,
			*value);
	if (fi_param_get_int(&vrb_prov, name, &given))
		return;
	if (given >= low && given <= high)
		*value = given;
	else
		VRB_WARN(FI_LOG_CORE, "FI_VERBS variable %s is %d: it must lie between %d and %d; "
			 "%d is used\n", name, given, low, high, *value);
}

static void text(const char *name, const char *help, char **value)
{
	char *given = NULL;

	fi_param_define(&vrb_prov, name, FI_PARAM_STRING, "%s", help);
	if (!fi_param_get_str(&vrb_prov, name, &given) && given)
		*value = strdup(given);	/* the program may change its environment */
}

static void yes_no(const char *name, const char *help, int *value)
{
	fi_param_define(&vrb_prov, name, FI_PARAM_BOOL, "%s", help);
	fi_param_get_bool(&vrb_prov, name, value);
}

static void read_conf(void)
{
	fi_param_define(NULL, "fork_unsafe", FI_PARAM_BOOL, "The program does not fork: do not "
			"protect registered memory from copy-on-write, which saves a system call for "
			"each region where the kernel does not do it by itself (default: no)");
	fi_param_get_bool(NULL, "fork_unsafe", &vrb_conf.fork_unsafe);
	number("tx_size", "Transmit queue entries", &vrb_conf.tx_size, 2, 16384);
	number("rx_size", "Receive queue entries", &vrb_conf.rx_size, 2, 16384);
	number("tx_iov_limit", "Entries of the iov of a send", &vrb_conf.tx_iov, 1,
	       VRB_IOV_MAX);
	number("rx_iov_limit", "Entries of the iov of a receive", &vrb_conf.rx_iov, 1, VRB_IOV_MAX);
	yes_no("use_odp", "Register regions with on-demand paging instead of pinning them, where "
	       "the device supports it (default: no)", &vrb_conf.odp);
	number("inline_size", "Longest message that is copied into the request",
	       &vrb_conf.inline_size, 8, 1024);
	number("min_rnr_timer", "Delay before a sender retries at a peer without a posted receive, "
	       "as code of the InfiniBand specification", &vrb_conf.min_rnr_timer, 0, 31);
	number("gid_idx", "Index in the GID table of a port for datagram endpoints that are named by "
	       "their queue pair (FI_ADDR_IB_UD); -1: the best",
	       &vrb_conf.gid_idx, -1, 255);
	number("cqread_bunch_size", "Completions polled from the device at a time",
	       &vrb_conf.bunch, 1, VRB_BUNCH_MAX);
	yes_no("prefer_xrc", "Offer XRC endpoints, which share queue pairs, before RC ones, where the "
	       "device has them (default: no)", &vrb_conf.prefer_xrc);
	text("xrcd_filename", "File that identifies the XRC domain that processes share; created if it "
	     "does not exist (default: /tmp/verbs_xrcd)", &vrb_conf.xrcd_file);
	text("device_name", "Use this RDMA device only", &vrb_conf.device);
	text("doorbell", "How requests reach the device: extended or post (default: the first that the "
	     "device supports); direct: written into the queues of an mlx5 device", &vrb_conf.doorbell);
}

OFI_PROVIDER_INI(verbs)
{
	info_params_define(&vrb_prov, INFO_PARAM_IFACE);
	read_conf();
	vrb_info_init();
	return &vrb_prov;
}
