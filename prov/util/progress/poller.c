/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* What the pollers of all transports do alike: made when the first endpoint of a group comes. */
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>

#include "base/line.h"
#include "progress/group.h"
#include "progress/fdset.h"

int obj_prog_share(struct obj_prog *prog, const struct obj_poller_ops *ops, size_t size,
		   const struct fi_provider *prov, struct obj_poller **poller_p)
{
	struct obj_poller *poller = obj_prog_find(prog, ops);
	int ret;

	*poller_p = poller;
	if (poller)
		return 0;
	poller = line_alloc(size);
	if (!poller)
		return -FI_ENOMEM;
	poller->ops = ops;
	poller->key = ops;
	poller->fd = fdset_open();
	if (poller->fd < 0) {
		ret = poller->fd;
		FI_WARN(prov, FI_LOG_EP_CTRL, "cannot make a set of descriptors: %s%s\n",
			fi_strerror(-ret),
			ret == -EMFILE ? "; this process has too many open files: raise 'ulimit -n'" :
			ret == -ENFILE ? "; the system has too many: raise fs.file-max" : "");
		free(poller);
		return ret;
	}
	obj_prog_add(prog, poller);
	*poller_p = poller;
	return 1;
}
