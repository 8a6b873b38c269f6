/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <limits.h>
#include <stddef.h>

#include "info/params.h"
#include "info/rails.h"
#include "conf.h"
#include "wire.h"

/* A peer is declared lost after 10 + 4 * 5 s of silence, or 30 s without acknowledgement. */
#define DEFAULTS				\
	.keepalive = { .idle_s = 10, .intvl_s = 5, .probes = 4, .unacked_ms = 30000 }, \
	.keepalive_on = 1,			\
	.nodelay = 1,				\
	.conn_timeout_ms = 15000,		\
	.conn_retry_ms = INFO_CONN_RETRY_MS,	\
	.lanes = 1,				\
	.rails = 1,				\
	.rail_min = 65536,			\
	.stage_size = 65536,			\
	.rbuf_size = 65536,			\
	.eager_size = 65536,			\
	.inject_size = 128,			\
	.tx_size = 256,				\
	.rx_size = 256

struct tcp_conf tcp_conf = { DEFAULTS, .local = 1 };
struct tcp_conf tcp_conf_sockets = { DEFAULTS, .wire = TCP_FORMAT_NATIVE };

const struct tcp_conf *tcp_conf_of(const struct fi_provider *prov)
{
	return prov == tcp_conf_sockets.prov ? &tcp_conf_sockets : &tcp_conf;
}

#define FIELD(member) offsetof(struct tcp_conf, member)

#define KEEPALIVE_S_MAX 32767	/* of TCP_KEEPIDLE and TCP_KEEPINTVL */

static const char *const formats[] = { "auto", "native", "compatible", NULL };

/* Those of tcp come first, those of sockets last. */
static const struct info_param params[] = {
	{ "TX_SIZE", FI_PARAM_SIZE_T, FIELD(tx_size), 1, 1 << 20, NULL,
	  "transmit queue entries of an endpoint that asks for no number (default: 256)" },
	{ "RX_SIZE", FI_PARAM_SIZE_T, FIELD(rx_size), 1, 1 << 20, NULL,
	  "receive queue entries of an endpoint that asks for no number (default: 256)" },
	{ "MAX_INJECT", FI_PARAM_SIZE_T, FIELD(inject_size), 8, 4096, NULL,
	  "largest message that fi_inject() takes, in bytes (default: 128, at most 4096)" },
	{ "MAX_RX_SIZE", FI_PARAM_SIZE_T, FIELD(eager_size), 256, TCP_PAYLOAD_MAX, NULL,
	  "largest message that is sent before the receiver asks for it, in bytes; a larger one "
	  "waits for its receive buffer (default: 65536)" },
	{ "NODELAY", FI_PARAM_BOOL, FIELD(nodelay), 0, 1, NULL,
	  "set TCP_NODELAY: small messages leave at once (default: on)" },
	{ "STAGING_SBUF_SIZE", FI_PARAM_INT, FIELD(stage_size), 0, 1 << 24, NULL,
	  "bytes of small messages that one system call may carry when they are sent in a burst; "
	  "0: one call for each message (default: 65536)" },
	{ "PREFETCH_RBUF_SIZE", FI_PARAM_INT, FIELD(rbuf_size), 4096, 1 << 24, NULL,
	  "bytes that one system call may receive ahead (default: 65536)" },
	{ "WIRE", FI_PARAM_STRING, FIELD(wire), 0, 0, formats,
	  "wire format of connections: native, compatible (that of other "
	  "implementations of this provider), or auto: native where the other side is this library, "
	  "else compatible (default: auto)" },
	{ "TRACE_MSG", FI_PARAM_BOOL, FIELD(trace), 0, 1, NULL,
	  "log the size of every frame sent and received, at log level trace (default: off)" },
	{ "FIREWALL_ADDR", FI_PARAM_BOOL, FIELD(firewall_addr), 0, 1, NULL,
	  "accept connecting peers whose endpoint address is not the one they connect from, as "
	  "happens behind address translation; without it they are refused (default: off)" },
	{ "MAX_CONNS", FI_PARAM_INT, FIELD(max_conns), 0, INT_MAX, NULL,
	  "connections that the RDM endpoints of a process keep: beyond, the one that was idle "
	  "longest is closed until it is needed again; 0: as many as the limit on descriptors "
	  "(ulimit -n) allows (default: 0)" },
	{ "LANES", FI_PARAM_INT, FIELD(lanes), 1, TCP_LANES_MAX, NULL,
	  "connections between two RDM endpoints that share the payload of large messages, where "
	  "a network gives each connection a part of its bandwidth only; the lower number of both "
	  "sides counts (default: 1, at most 8)" },
	{ "LOCAL", FI_PARAM_BOOL, FIELD(local), 0, 1, NULL,
	  "RDM endpoints reach those of the same user on the same host through shared memory; "
	  "off: over TCP, like all others (default: on)" },
	{ "USER_TIMEOUT", FI_PARAM_INT, FIELD(keepalive.unacked_ms), 0, INT_MAX, NULL,
	  "milliseconds that sent data may stay unacknowledged, or a peer without traffic leave probes "
	  "unanswered, until it is declared lost; 0: no probes, and the limit of the system, some 15 "
	  "minutes (default: 30000)" },
	{ "CONN_TIMEOUT", FI_PARAM_INT, FIELD(conn_timeout_ms), 1, INT_MAX, NULL,
	  "milliseconds until an attempt to connect has failed (default: 15000); an RDM endpoint "
	  "that is there and makes no progress is waited for longer" },
	{ "KEEPALIVE_ENABLE", FI_PARAM_BOOL, FIELD(keepalive_on), 0, 1, NULL,
	  "probe silent peers, so that operations with a dead one end with an error "
	  "(default: on)" },
	{ "KEEPALIVE_TIME", FI_PARAM_INT, FIELD(keepalive.idle_s), 1, KEEPALIVE_S_MAX, NULL,
	  "seconds of silence before a peer is probed (default: 10)" },
	{ "KEEPALIVE_INTVL", FI_PARAM_INT, FIELD(keepalive.intvl_s), 1, KEEPALIVE_S_MAX, NULL,
	  "seconds between two probes (default: 5)" },
	{ "KEEPALIVE_PROBES", FI_PARAM_INT, FIELD(keepalive.probes), 1, 127, NULL,
	  "unanswered probes after which a peer is declared lost (default: 4)" },
};

#define PARAMS (sizeof(params) / sizeof(params[0]))
#define PARAMS_TCP 15		/* the first ones */
#define PARAMS_SOCKETS 14	/* the others, and this one */

/* set_keepalive - a peer without traffic is declared lost as soon as one that acknowledges nothing. */
static void set_keepalive(struct tcp_conf *conf)
{
	unsigned third_s = conf->keepalive.unacked_ms / 3000;

	if (third_s > KEEPALIVE_S_MAX)
		third_s = KEEPALIVE_S_MAX;
	conf->keepalive_on = conf->keepalive.unacked_ms != 0;
	conf->keepalive.idle_s = third_s ? third_s : 1;
	conf->keepalive.intvl_s = third_s > 1 ? third_s / 2 : 1;
}

static void read_rails(struct tcp_conf *conf)
{
	struct info_rails rails = { .most = conf->rails, .min = conf->rail_min };

	info_rails_read(conf->prov, &rails);
	conf->rails = rails.most;
	conf->rail_min = rails.min;
	conf->rails_ifaces = rails.ifaces;
}

void tcp_conf_define(struct tcp_conf *conf)
{
	if (conf == &tcp_conf) {
		info_params_read(conf->prov, params, PARAMS_TCP, conf);
		set_keepalive(conf);
	} else {
		info_params_read(conf->prov, params + PARAMS_SOCKETS, PARAMS - PARAMS_SOCKETS, conf);
	}
	info_params_conn_retry(conf->prov, &conf->conn_retry_ms);
	fi_param_define(NULL, "recover", FI_PARAM_BOOL, "Connections of tcp between two endpoints that both set it go on "
			"where they were when they are cut; costs a copy and 8 MiB a peer (default: off)");
	fi_param_get_bool(NULL, "recover", &conf->recover);
	read_rails(conf);
	info_params_define(conf->prov, conf == &tcp_conf ? INFO_PARAM_IFACE | INFO_PARAM_PORTS
							: INFO_PARAM_IFACE);
	if (conf == &tcp_conf)
		info_params_ports(conf->prov, &conf->ports);
}
