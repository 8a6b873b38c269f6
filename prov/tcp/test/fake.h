/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fake.h - the link under prov/util/channel/test/fake_engine.h. */
#ifndef TCP_FAKE_H
#define TCP_FAKE_H

#include "tcp/link.h"

#define FAKE_OPS tcp_link_ops
#define FAKE_CHAN struct tcp_chan
#define FAKE_NAME "tcp"
#define FAKE_DATA_MAX TCP_WIRE_DATA_MAX

typedef union net_sa fake_addr;

static bool fake_addr_is(const fake_addr *a, const void *b)
{
	return !net_addr_cmp(&a->sa, b);
}

static void fake_addr_set(fake_addr *a, const void *b)
{
	net_addr_copy(b, sizeof(*a), a);
}

#include "channel/test/fake_engine.h"

static void fake_start(void)
{
	list_init(&fake_prog.pollers);
	tcp_conf.prov = &fake_prov;
	tcp_conf.conn_timeout_ms = 2000;
	tcp_conf.conn_retry_ms = 200;
}

static inline union net_sa fake_loopback(uint16_t port)
{
	union net_sa sa = { .in = { .sin_family = AF_INET } };

	sa.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	sa.in.sin_port = htons(port);
	return sa;
}

static inline struct eng_ep *fake_ep(enum fi_ep_type type, uint16_t port)
{
	struct eng_ep *ep = calloc(1, sizeof(*ep));
	union net_sa addr = fake_loopback(port);

	ep->info.src_addr = malloc(sizeof(addr));
	memcpy(ep->info.src_addr, &addr, sizeof(addr));
	ep->info.src_addrlen = net_addr_len(&addr.sa);
	ep->info.addr_format = FI_SOCKADDR_IN;
	ep->base.info = &ep->info;
	ep->base.type = type;
	ep->base.prog = &fake_prog;
	ep->base.prov = &fake_prov;
	list_init(&ep->peers);
	list_init(&ep->held);
	list_add_tail(&ep->node, &fake_eps);
	CHECK(!tcp_link_ops.open(ep, NULL, &ep->link));
	return ep;
}

static inline union net_sa fake_name(struct eng_link *link)
{
	union net_sa addr = { 0 };
	size_t len = sizeof(addr);

	CHECK(!link->ops->getname(link, NULL, &addr, &len));
	CHECK(len == 16);
	return addr;
}

#endif
