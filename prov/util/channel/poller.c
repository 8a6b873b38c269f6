/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "channel/poller.h"

int chan_poller_get(struct obj_prog *prog, const struct obj_poller_ops *ops, size_t size,
		    const struct fi_provider *prov, struct chan_poller **poller_p)
{
	struct chan_poller *poller;
	struct obj_poller *base;
	int ret = obj_prog_share(prog, ops, size, prov, &base);

	if (ret < 0)
		return ret;
	poller = container_of(base, struct chan_poller, base);
	*poller_p = poller;
	if (!ret)
		return 0;
	timers_init(&poller->timers);
	list_init(&poller->queued);
	list_init(&poller->dirty);
	list_init(&poller->failed);
	list_init(&poller->paused);
	return 1;
}

void chan_poller_fini(struct chan_poller *poller)
{
	timers_fini(&poller->timers);
}
