/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <pthread.h>

#include "example.h"

/* [page */
#define EVENT_STOP 1000

static void *worker(void *arg)
{
	struct fid_eq *eq = arg;
	struct fi_eq_entry entry;
	uint32_t event;
	ssize_t ret;

	do {
		ret = fi_eq_sread(eq, &event, &entry, sizeof(entry), -1, 0);
	} while (ret == -FI_EAGAIN || (ret >= 0 && event != EVENT_STOP));
	return ret < 0 ? NULL : entry.context;
}

static int stop(struct fid_eq *eq, void *reason)
{
	struct fi_eq_entry entry = { .context = reason };
	ssize_t ret = fi_eq_write(eq, EVENT_STOP, &entry, sizeof(entry), 0);

	return ret < 0 ? (int) ret : 0;
}
/* page] */

int main(void)
{
	struct fi_eq_attr attr = { .flags = FI_WRITE, .wait_obj = FI_WAIT_UNSPEC };
	struct fi_info *info = example_getinfo("tcp", FI_EP_RDM, FI_MSG);
	struct fid_fabric *fabric;
	struct fid_eq *eq;
	pthread_t thread;
	void *why = NULL;

	MUST(fi_fabric(info->fabric_attr, &fabric, NULL));
	MUST(fi_eq_open(fabric, &attr, &eq, NULL));
	if (pthread_create(&thread, NULL, worker, eq))
		return 1;
	MUST(stop(eq, &attr));
	pthread_join(thread, &why);
	MUST(fi_close(&eq->fid));
	MUST(fi_close(&fabric->fid));
	fi_freeinfo(info);
	return why != &attr;
}
