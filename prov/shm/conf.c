/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "conf.h"

#include <limits.h>
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <string.h>

#include "engine/api.h"
#include "obj/test/slow.h"
#include "share.h"

/* Below this a copy through the ring is cheaper than a system call. */
#define PULL_SIZE 8192

struct shm_conf shm_conf = {
	.pull_size = PULL_SIZE,
	.share_size = SHM_SHARE_MIN,
	.tx_size = 1024,
	.rx_size = 1024,
	.conn_timeout_ms = 15000,
	.conn_retry_ms = 1000,
};

static void read_size(struct shm_conf *conf, const char *name, size_t min, size_t max,
		      size_t *value_p, const char *help)
{
	size_t value;
	int ret;

	fi_param_define(conf->prov, name, FI_PARAM_SIZE_T, "%s", help);
	ret = fi_param_get_size_t(conf->prov, name, &value);
	if (ret == -FI_ENODATA || ret == -FI_ENOENT)
		return;
	if (!ret && value >= min && value <= max)
		*value_p = value;
	else
		FI_WARN(conf->prov, FI_LOG_CORE,
			"parameter %s is ignored, it must be a number from %zu to %zu\n",
			name, min, max);
}

void shm_conf_define(struct shm_conf *conf, struct fi_provider *prov)
{
	size_t retry_ms = (size_t) conf->conn_retry_ms;
	char *dir = NULL;

	conf->prov = prov;
	read_size(conf, "CONN_RETRY", 0, INT_MAX, &retry_ms,
		  "milliseconds during which a call is repeated that nobody takes, or that comes to "
		  "nothing for want of descriptors; 0: never (default: 1000)");
	conf->conn_retry_ms = (int) retry_ms;
	read_size(conf, "TX_SIZE", 1, 1 << 20, &conf->tx_size,
		  "transmit queue entries of an endpoint that asks for no number (default: 1024)");
	read_size(conf, "RX_SIZE", 1, 1 << 20, &conf->rx_size,
		  "receive queue entries of an endpoint that asks for no number (default: 1024)");
	read_size(conf, "PULL_SIZE", ENG_INJECT_MAX + 1, SHM_PAYLOAD_MAX, &conf->pull_size,
		  "payload of this many bytes and more is read straight from the sender's memory, "
		  "where the kernel admits it (default: 8192)");
	/* it does not see what another process writes, and would call it undefined */
	if (under_valgrind())
		conf->share_size = SIZE_MAX;
	read_size(conf, "SHARE_SIZE", SHM_SHARE_PAGES, SIZE_MAX, &conf->share_size,
		  "payload of this many bytes and more is copied by both processes, where the sender "
		  "can write the receiver's memory (default: 65536; under valgrind: none)");
	fi_param_define(prov, "DISABLE_CMA", FI_PARAM_BOOL,
			"never read a peer's memory, copy everything through shared memory "
			"(default: off)");
	fi_param_get_bool(prov, "DISABLE_CMA", &conf->disable_cma);
	fi_param_define(prov, "DIR", FI_PARAM_STRING,
			"directory for the sockets over which endpoints meet, for processes that share "
			"a directory but no network namespace (default: none, sockets have no files)");
	if (!fi_param_get_str(prov, "DIR", &dir) && dir && *dir)
		conf->dir = strdup(dir);	/* the program may change its environment */
}

static struct fi_provider nobody = { .name = "shm" };

static void define_once(void)
{
	if (!shm_conf.prov)
		shm_conf_define(&shm_conf, &nobody);
}

void shm_conf_use(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, define_once);
}
