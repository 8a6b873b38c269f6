/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fake.h - the link under prov/util/channel/test/fake_engine.h; included after <cmocka.h>. */
#ifndef SHM_FAKE_H
#define SHM_FAKE_H

#include "shm/name.h"

#define FAKE_OPS shm_link_ops
#define FAKE_CHAN struct shm_chan
#define FAKE_NAME "shm"
#define FAKE_DATA_MAX 8

typedef struct { char name[SHM_NAME_MAX]; } fake_addr;

static bool fake_addr_is(const fake_addr *a, const void *b)
{
	return !strcmp(a->name, b);
}

static void fake_addr_set(fake_addr *a, const void *b)
{
	strcpy(a->name, b);
}

#include "channel/test/fake_engine.h"
#include "obj/domain.h"

static const struct shm_scope fake_scope = { FAKE_NAME, NULL };

static struct sec_policy *fake_sec;	/* how the endpoints that are opened next prove a key; NULL: not at all */
static struct obj_domain fake_domain;	/* as much as obj/lease.h looks at */

static void fake_start(void)
{
	static struct list parents = { &parents, &parents };

	if (fake_prog.pollers.next)	/* in a child: keep them reachable for the leak check */
		list_splice_tail(&fake_prog.pollers, &parents);
	list_init(&fake_prog.pollers);
	lock_init(&fake_domain.mr_lock, LOCK_MUTEX);
	hmap_init(&fake_domain.mr_map);
	list_init(&fake_domain.tenants);
	list_init(&fake_domain.left);
	fake_domain.prov = &fake_prov;
	shm_conf.prov = &fake_prov;
	shm_conf.chan.retry_ms = 200;
}

/* ep_at - an endpoint called @name; NULL: whatever is free. */
static struct eng_ep *ep_at(const char *name)
{
	struct eng_ep *ep = calloc(1, sizeof(*ep));

	ep->info.src_addr = name ? strdup(name) : NULL;
	ep->info.src_addrlen = name ? strlen(name) + 1 : 0;
	ep->info.addr_format = FI_ADDR_STR;
	ep->base.info = &ep->info;
	ep->base.domain = &fake_domain;
	ep->base.type = FI_EP_RDM;
	ep->base.prog = &fake_prog;
	ep->base.prov = &fake_prov;
	ep->base.sec = fake_sec;
	list_init(&ep->peers);
	list_init(&ep->held);
	list_add_tail(&ep->node, &fake_eps);
	CHECK(!shm_link_ops.open(ep, NULL, &ep->link));
	return ep;
}

static fake_addr name_of(struct eng_ep *ep)
{
	fake_addr addr = { "" };
	size_t len = sizeof(addr);

	CHECK(!ep->link->ops->getname(ep->link, NULL, &addr, &len));
	CHECK(len == strlen(addr.name) + 1);
	return addr;
}

static inline struct eng_peer *peer_at(struct eng_ep *ep, struct eng_ep *other)
{
	fake_addr addr = name_of(other);

	return fake_peer(ep, &addr);
}

/* some_size - mostly short, some for the data ring, some long. */
static inline size_t some_size(void)
{
	switch (fake_draw() % 8) {
	case 0:
		return fake_draw() % 400000;
	case 1:
		return fake_draw() % 40000;
	case 2:
		return fake_draw() % 9000;
	default:
		return fake_draw() % 120;
	}
}

static int start(void **state)
{
	fake_start();
	return 0;
}

static int stop(void **state)
{
	fake_stop();
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

#endif
