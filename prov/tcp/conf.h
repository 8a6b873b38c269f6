/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * conf.h - the settings from the environment, one structure per provider name.
 *
 * Read once, when the provider is initialised; constant from then on.
 */
#ifndef TCP_CONF_H
#define TCP_CONF_H

#include <stdbool.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include "net/sock.h"
#include "obj/log.h"

enum tcp_format {
	TCP_FORMAT_AUTO,	/* native to this library, compatible to others */
	TCP_FORMAT_NATIVE,
	TCP_FORMAT_COMPATIBLE,
};

struct tcp_conf {
	struct fi_provider *prov;	/* for log lines and parameters */
	struct net_ports ports;		/* listeners bind in this range */
	struct net_keepalive keepalive;	/* bound on finding a dead peer */
	int keepalive_on;
	int nodelay;
	int wire;			/* enum tcp_format */
	int trace;			/* log every frame */
	int local;			/* reach peers on this host through shared memory */
	int firewall_addr;		/* connecting peers may be behind address translation */
	int conn_timeout_ms;		/* TCP connect, and the handshake except the answer of an RDM peer */
	int max_conns;			/* idle connections of a process are parked beyond; 0: never */
	int lanes;			/* connections that share long payload to one RDM peer */
	int recover;			/* connections survive the loss of their sockets (FI_RECOVER) */
	int rails;			/* most interfaces that a connectionless endpoint uses (FI_RAILS); 1: one */
	size_t rail_min;		/* bytes that wait before another than the best rail takes some (FI_RAIL_MIN) */
	const char *rails_ifaces;		/* FI_RAILS_IFACES; NULL: not set */
	int conn_retry_ms;		/* FI_CONN_RETRY: how long a refused RDM connect is retried */
	int stage_size;			/* bytes that a burst may stage; 0: every packet is sent at once */
	int rbuf_size;			/* bytes that one read may fetch ahead */
	size_t eager_size;		/* largest eager message */
	size_t inject_size;		/* tx_attr->inject_size */
	size_t tx_size;			/* default queue sizes */
	size_t rx_size;
};

extern struct tcp_conf tcp_conf;		/* provider tcp */
extern struct tcp_conf tcp_conf_sockets;	/* provider sockets */

/* tcp_conf_of - the settings of the provider that an object belongs to. */
const struct tcp_conf *tcp_conf_of(const struct fi_provider *prov);

/* tcp_conf_define - make the parameters known (fi_info -e) and read them.
 *
 * A value that is out of range is logged as a warning, with the range, and the
 * default stays.  Called when the provider is initialised.
 */
void tcp_conf_define(struct tcp_conf *conf);

/* TCP_WHY - three arguments for "%s%s%s": the text of an errno, and the advice on it. */
#define TCP_WHY(err) \
	fi_strerror(err), *net_sock_advice(err) ? "; " : "", net_sock_advice(err)

/* Log lines under the provider's own name. */
#define TCP_WARN(conf, ...)	OBJ_WARN((conf)->prov, FI_LOG_EP_CTRL, __VA_ARGS__)
#define TCP_WARN_SPARSE(conf, ...) FI_WARN_SPARSE((conf)->prov, FI_LOG_EP_CTRL, __VA_ARGS__)
#define TCP_INFO(conf, ...)	OBJ_INFO((conf)->prov, FI_LOG_EP_CTRL, __VA_ARGS__)

#endif
