/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * rails.c - the interfaces of an endpoint.  Each has a socket that listens at its address and, where the system
 * permits that, takes connections by that interface alone: so both directions of a connection go by it, also where
 * several interfaces are in one network.
 */
#include "tcp/recover/state.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "info/rails.h"

/* ---- listening ------------------------------------------------------------------------- */

static void rail_on_connections(struct chan_src *src, uint32_t events)
{
	struct tcp_rail_listener *listener = container_of(src, struct tcp_rail_listener, base.src);

	tcp_listener_accept(listener->rails->link, &listener->base);
}

static int rail_listen(struct tcp_rails *rails, unsigned i)
{
	struct tcp_rail_listener *listener = &rails->listener[i];
	int fd, ret;

	ret = net_sock_open(rails->rail[i].addr.sa.sa_family, SOCK_STREAM, &fd);
	if (ret)
		return ret;
	listener->rails = rails;
	ret = net_rail_bind(&rails->rail[i], fd, &rails->link->conf->ports, &listener->at);
	if (!ret)
		ret = net_sock_listen(fd, 0);
	listener->base.src.fd = fd;
	if (!ret)
		ret = chan_listener_start(&listener->base, &rails->link->poller->base, rail_on_connections);
	if (ret) {
		close(fd);
		listener->base.src.fd = -1;
	}
	return ret;
}

/* ---- the choice ------------------------------------------------------------------------ */

static unsigned choose_rails(struct tcp_link *link, struct net_rail *rail)
{
	const struct tcp_conf *conf = link->conf;
	struct info_rails rails = { .most = conf->rails, .ifaces = conf->rails_ifaces };

	return info_rails_choose(conf->prov, &rails, link->addr.sa.sa_family, rail);
}

static bool may_have_rails(const struct tcp_link *link)
{
	if (link->conf->rails < 2)
		return false;
	if (link->sec)
		TCP_INFO(link->conf, "FI_RAILS has no effect where FI_SECURITY protects connections\n");
	else if (info_rails_named())
		TCP_INFO(link->conf, "FI_RAILS has no effect: the program names an interface or a source address\n");
	return !link->sec && !info_rails_named();
}

static void log_rails(const struct tcp_rails *rails)
{
	char text[NET_ADDR_TEXT_MAX];
	unsigned i;

	for (i = 0; i < rails->cnt; i++)
		TCP_INFO(rails->link->conf, "rail %u: %s, %s, %llu Mbit/s\n", i, rails->rail[i].iface,
			 net_addr_text(&rails->listener[i].at.sa, text),
			 (unsigned long long) (rails->rail[i].speed / 1000000));
}

void tcp_rails_start(struct tcp_link *link, const struct net_rail *rail, unsigned cnt)
{
	struct tcp_rails *rails = calloc(1, sizeof(*rails));
	int ret = 0;

	if (!rails)
		return;
	rails->link = link;
	memcpy(rails->rail, rail, cnt * sizeof(*rail));
	while (!ret && rails->cnt < cnt) {
		ret = rail_listen(rails, rails->cnt);
		rails->cnt += !ret;
	}
	link->rails = rails;
	if (ret)
		TCP_WARN(link->conf, "cannot listen at %s: %s%s%s\n", rails->rail[rails->cnt].iface, TCP_WHY(-ret));
	if (rails->cnt < 2) {
		TCP_INFO(link->conf, "FI_RAILS has no effect: there are not two interfaces for it\n");
		tcp_rails_close(link);
		return;
	}
	link->poller->protects = link->poller->rx_slow = true;
	log_rails(rails);
}

void tcp_rails_open(struct tcp_link *link)
{
	struct net_rail rail[NET_RAILS_MAX];

	if (may_have_rails(link))
		tcp_rails_start(link, rail, choose_rails(link, rail));
}

void tcp_rails_close(struct tcp_link *link)
{
	struct tcp_rails *rails = link->rails;
	unsigned i;

	for (i = 0; rails && i < rails->cnt; i++) {
		chan_listener_stop(&rails->listener[i].base);
		close(rails->listener[i].base.src.fd);
	}
	link->rails = NULL;
	free(rails);
}
