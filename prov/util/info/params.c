/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <ctype.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <stdio.h>

#include "info/getinfo.h"

/* env_name - FI_TCP for a provider named tcp; for log texts. */
static const char *env_name(const struct fi_provider *prov, char *buf, size_t len)
{
	size_t i;

	snprintf(buf, len, "FI_%s", prov->name);
	for (i = 3; buf[i]; i++)
		buf[i] = (char) toupper((unsigned char) buf[i]);
	return buf;
}

int info_params_define(const struct fi_provider *prov, int which)
{
	int ret = 0;

	if (which & INFO_PARAM_IFACE)
		ret = fi_param_define(prov, "iface", FI_PARAM_STRING,
				      "Use this network interface only, for example eth0 "
				      "(default: all, best first)");
	if (!ret && which & INFO_PARAM_PORTS)
		ret = fi_param_define(prov, "port_low_range", FI_PARAM_INT,
				      "First port that an endpoint may listen on when it "
				      "asks for none, 1 to 65535 (default: the system chooses)");
	if (!ret && which & INFO_PARAM_PORTS)
		ret = fi_param_define(prov, "port_high_range", FI_PARAM_INT,
				      "Last such port (default: 65535 if port_low_range is set)");
	return ret;
}

const char *info_params_iface(struct fi_provider *prov)
{
	char *name = NULL;

	return fi_param_get_str(prov, "iface", &name) || !name || !*name ? NULL : name;
}

int info_params_ports(struct fi_provider *prov, struct net_ports *ports_p)
{
	int low = 0, high = 0;
	char env[64];

	fi_param_get_int(prov, "port_low_range", &low);
	fi_param_get_int(prov, "port_high_range", &high);
	if (!net_ports_set(low, high, ports_p))
		return 0;
	net_ports_set(0, 0, ports_p);
	env_name(prov, env, sizeof(env));
	FI_WARN(prov, FI_LOG_CORE,
		"%s_PORT_LOW_RANGE=%d and %s_PORT_HIGH_RANGE=%d are not a valid range of ports and are "
		"ignored: give two numbers from 1 to 65535, the lower one first\n",
		env, low, env, high);
	return -FI_EINVAL;
}
