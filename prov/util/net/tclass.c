/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "net/tclass.h"

/* Priorities of the kernel's packet schedulers (tc-prio(8)).  Above 6 needs CAP_NET_ADMIN. */
#define PRIO_BEST_EFFORT 0
#define PRIO_FILLER 1
#define PRIO_BULK 2
#define PRIO_INTERACTIVE 6
#define PRIO_CONTROL 7

/* By label, from FI_TC_LABEL on. */
static const struct {
	uint8_t dscp;
	int prio;
} labels[] = {
	[FI_TC_BEST_EFFORT - FI_TC_LABEL] = { 0, PRIO_BEST_EFFORT },
	[FI_TC_LOW_LATENCY - FI_TC_LABEL] = { 18, PRIO_INTERACTIVE },		/* AF21 */
	[FI_TC_DEDICATED_ACCESS - FI_TC_LABEL] = { 46, PRIO_INTERACTIVE },	/* EF */
	[FI_TC_BULK_DATA - FI_TC_LABEL] = { 10, PRIO_BULK },			/* AF11 */
	[FI_TC_SCAVENGER - FI_TC_LABEL] = { 8, PRIO_FILLER },			/* CS1 */
	[FI_TC_NETWORK_CTRL - FI_TC_LABEL] = { 48, PRIO_CONTROL },		/* CS6 */
};

#define LABEL_CNT (sizeof(labels) / sizeof(labels[0]))
#define DSCP_MAX 63

static bool is_dscp(uint32_t tclass)
{
	return tclass >= FI_TC_DSCP && tclass <= FI_TC_DSCP + DSCP_MAX;
}

bool net_tclass_valid(uint32_t tclass)
{
	return tclass == FI_TC_UNSPEC || is_dscp(tclass) ||
	       (tclass >= FI_TC_LABEL && tclass - FI_TC_LABEL < LABEL_CNT);
}

uint32_t net_tclass_of(const struct fi_info *info)
{
	uint32_t tclass = info->tx_attr ? info->tx_attr->tclass : FI_TC_UNSPEC;

	return tclass == FI_TC_UNSPEC && info->domain_attr ? info->domain_attr->tclass : tclass;
}

uint8_t net_tclass_octet(uint32_t tclass)
{
	uint8_t dscp = is_dscp(tclass) ? fi_tc_dscp_get(tclass) :
		       tclass == FI_TC_UNSPEC ? 0 : labels[tclass - FI_TC_LABEL].dscp;

	return (uint8_t) (dscp << 2);
}

/* The class selector of a DSCP, its upper 3 bits, has the scale of the priorities. */
static int priority_of(uint32_t tclass)
{
	return is_dscp(tclass) ? fi_tc_dscp_get(tclass) >> 3 : labels[tclass - FI_TC_LABEL].prio;
}

static int set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) ? -errno : 0;
}

int net_tclass_set(int fd, int family, uint32_t tclass)
{
	bool six = family == AF_INET6;
	int ret;

	if (tclass == FI_TC_UNSPEC)
		return 0;
	ret = set_int(fd, six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_TCLASS : IP_TOS,
		      net_tclass_octet(tclass));
	/* second, because IP_TOS changes the priority too */
	if (!ret)
		ret = set_int(fd, SOL_SOCKET, SO_PRIORITY, priority_of(tclass));
	if (ret == -EPERM && priority_of(tclass) > PRIO_INTERACTIVE)
		ret = set_int(fd, SOL_SOCKET, SO_PRIORITY, PRIO_INTERACTIVE);
	return ret;
}
