/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * conf.h - the parameters of the environment.
 *
 * Read once, when the provider is initialised; constant from then on.
 */
#ifndef SHM_CONF_H
#define SHM_CONF_H

#include <rdma/providers/fi_prov.h>
#include <stdbool.h>

#include "channel/chan.h"

struct shm_conf {
	struct fi_provider *prov;	/* whose parameters these are; NULL: not read yet */
	int disable_cma;		/* never read a peer's memory */
	const char *dir;		/* where the sockets are; NULL: names without files */
	size_t pull_size;		/* payload from here on is read from the sender's memory */
	size_t share_size;		/* payload from here on is copied by both sides */
	size_t gdr_size;		/* longest copy by a mapping of device memory; SIZE_MAX: not set */
	size_t tx_size;			/* default queue sizes */
	size_t rx_size;
	struct chan_conf chan;		/* retries and timeouts of connections */
	bool barrier;			/* expedited barriers work; known once a link is open */
};

extern struct shm_conf shm_conf;

/* shm_conf_define - define the parameters (fi_info -e) and read them. */
void shm_conf_define(struct shm_conf *conf, struct fi_provider *prov);

/* shm_conf_use - the same for an endpoint of another provider, unless it has been done. */
void shm_conf_use(void);

#endif
