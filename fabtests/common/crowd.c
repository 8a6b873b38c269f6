/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/* Many peers between two programs: endpoints of the server, all of which have the address of
 * the client's one.
 */
#include <stdlib.h>
#include <string.h>

#include "ft.h"

static void *alloc_cells(size_t cnt, size_t size)
{
	void *p = calloc(cnt, size);

	if (!p)
		ft_fail("out of memory for %zu peers", cnt);
	return p;
}

static void tell_name(struct ft *ft, struct ft_ep *e)
{
	char name[FT_ADDR_MAX] = "";
	size_t len = sizeof(name);

	FT_TRY(fi_getname(&e->ep->fid, name, &len));
	ft_ctl_send(ft, name, sizeof(name));
}

static void open_one(struct ft *ft, struct ft_ep *e)
{
	if (e != &ft->ep) {
		e->txcq = ft->ep.txcq;
		e->rxcq = ft->ep.rxcq;
	}
	ft_ep_open(ft, e, ft->info);
	FT_TRY(fi_enable(e->ep));
}

static void open_server(struct ft *ft, struct ft_crowd *c)
{
	char name[FT_ADDR_MAX];

	c->e = alloc_cells((size_t) c->cnt, sizeof(struct ft_ep *));
	ft_ctl_recv(ft, name, sizeof(name));
	for (int i = 0; i < c->cnt; i++) {
		c->e[i] = i ? alloc_cells(1, sizeof(struct ft_ep)) : &ft->ep;
		open_one(ft, c->e[i]);
		c->e[i]->peer = i ? ft->ep.peer : ft_av_add(ft, name);
		tell_name(ft, c->e[i]);
	}
}

void ft_crowd_open(struct ft *ft, struct ft_crowd *c, int cnt)
{
	ft_at("opening an endpoint for each peer");
	*c = (struct ft_crowd) { .cnt = cnt };
	if (ft->server) {
		open_server(ft, c);
		return;
	}
	c->names = alloc_cells((size_t) cnt, sizeof(*c->names));
	c->addr = alloc_cells((size_t) cnt, sizeof(*c->addr));
	open_one(ft, &ft->ep);
	tell_name(ft, &ft->ep);
	for (int i = 0; i < cnt; i++) {
		ft_ctl_recv(ft, c->names[i], sizeof(c->names[i]));
		c->addr[i] = FI_ADDR_UNSPEC;
	}
}

/* The first one is closed by ft_end(), with the queues. */
void ft_crowd_close(struct ft_crowd *c)
{
	for (int i = 1; c->e && i < c->cnt; i++) {
		ft_ep_close(c->e[i]);
		free(c->e[i]);
	}
	free(c->e);
	free(c->names);
	free(c->addr);
}

void ft_crowd_hello(struct ft *ft, struct ft_crowd *c, int i)
{
	struct ft_ep *e = ft->server ? c->e[i] : &ft->ep;

	if (ft->server) {
		ft_recv(e, 8);
		ft_send(e, 8);
		return;
	}
	if (c->addr[i] == FI_ADDR_UNSPEC)
		c->addr[i] = ft_av_add(ft, c->names[i]);
	e->peer = c->addr[i];
	ft_rx(e, ft->rx.p, 8, ft->rx.desc, &e->rx_ctx);
	ft_send(e, 8);
	ft_wait_rx(e, e->rx_posted);
}
