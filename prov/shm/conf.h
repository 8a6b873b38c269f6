/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * conf.h - what a person set in the environment.
 *
 * Read once, when the provider is initialised; constant from then on.
 */
#ifndef SHM_CONF_H
#define SHM_CONF_H

#include <stdbool.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include "obj/log.h"

struct shm_conf {
	struct fi_provider *prov;	/* whose parameters these are; NULL: not read yet */
	int disable_cma;		/* never read a peer's memory */
	const char *dir;		/* where the sockets are; NULL: names without files */
	size_t pull_size;		/* payload from here on is read from the sender's memory */
	size_t share_size;		/* payload from here on is copied by both sides */
	size_t tx_size;			/* default queue sizes */
	size_t rx_size;
	int conn_timeout_ms;		/* a greeting must be answered by then */
	int conn_retry_ms;		/* how long a call that finds nobody is repeated */
	bool barrier;			/* expedited barriers work; known once a link is open */
};

extern struct shm_conf shm_conf;

/* shm_conf_define - make the parameters known (fi_info -e) and read them.
 * A value that is out of range is logged with the range, and the default stays.
 */
void shm_conf_define(struct shm_conf *conf, struct fi_provider *prov);

/* shm_conf_use - the same for an endpoint of another provider, unless it has been done. */
void shm_conf_use(void);

#define SHM_WARN(link, ...)	OBJ_WARN((link)->prov, FI_LOG_EP_CTRL, __VA_ARGS__)
#define SHM_WARN_SPARSE(link, ...) FI_WARN_SPARSE((link)->prov, FI_LOG_EP_CTRL, __VA_ARGS__)
#define SHM_INFO(link, ...)	OBJ_INFO((link)->prov, FI_LOG_EP_CTRL, __VA_ARGS__)

#endif
