/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "conf.h"

#include <limits.h>
#include <pthread.h>
#include <stddef.h>

#include "base/clock.h"
#include "engine/api.h"
#include "hmem/mem.h"
#include "info/params.h"
#include "ring.h"
#include "split.h"

struct shm_conf shm_conf = {
	.pull_size = SHM_PULL_MIN,
	.share_size = SHM_SPLIT_MIN,
	.gdr_size = SIZE_MAX,
	.tx_size = 1024,
	.rx_size = 1024,
	.chan = {
		.retry_ms = INFO_CONN_RETRY_MS,
		.conn_timeout_ms = 15000,
		.backoff_ns = 2 * CLOCK_NS_PER_MS,
		.yield_ns = CLOCK_NS_PER_S / 5,
	},
};

#define FIELD(name) offsetof(struct shm_conf, name)

static const struct info_param params[] = {
	{ "TX_SIZE", FI_PARAM_SIZE_T, FIELD(tx_size), 1, 1 << 20, NULL,
	  "transmit queue entries of an endpoint that asks for no number (default: 1024)" },
	{ "RX_SIZE", FI_PARAM_SIZE_T, FIELD(rx_size), 1, 1 << 20, NULL,
	  "receive queue entries of an endpoint that asks for no number (default: 1024)" },
	{ "SHARE_SIZE", FI_PARAM_SIZE_T, FIELD(share_size), SHM_SPLIT_PAGES, INFO_PARAM_MAX, NULL,
	  "payload of this many bytes and more is copied by both processes, where each "
	  "can write the other's memory (default: 32768)" },
	{ "DISABLE_CMA", FI_PARAM_BOOL, FIELD(disable_cma), 0, 1, NULL,
	  "never read a peer's memory, copy everything through shared memory (default: off)" },
	{ "MAX_GDRCOPY_SIZE", FI_PARAM_SIZE_T, FIELD(gdr_size), 0, INFO_PARAM_MAX, NULL,
	  "longest copy of CUDA memory by a mapping of libgdrapi, over any provider "
	  "(default: 3072 to the host, 16384 to a device; 0: none is mapped)" },
	{ "DIR", FI_PARAM_STRING, FIELD(dir), 0, 0, NULL,
	  "directory for the sockets over which endpoints connect, for processes that share a "
	  "directory but no network namespace (default: none, sockets have no files)" },
};

void shm_conf_define(struct shm_conf *conf, struct fi_provider *prov)
{
	conf->prov = prov;
	info_params_read(prov, params, sizeof(params) / sizeof(params[0]), conf);
	info_params_conn_retry(prov, &conf->chan.retry_ms);
	if (conf->gdr_size != SIZE_MAX)
		hmem_gdr_limit(conf->gdr_size);
}

static struct fi_provider unregistered = { .name = "shm" };

static void define_once(void)
{
	if (!shm_conf.prov)
		shm_conf_define(&shm_conf, &unregistered);
}

void shm_conf_use(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, define_once);
}
