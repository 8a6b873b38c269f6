/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * eq.h - the event queue.
 *
 * Events keep their order; an error stands in line like the rest and makes
 * fi_eq_read() return -FI_EAVAIL until fi_eq_readerr() has taken it.
 */
#ifndef OBJ_EQ_H
#define OBJ_EQ_H

#include <rdma/fi_cm.h>
#include <rdma/fi_eq.h>

#include "base/list.h"
#include "base/lock.h"
#include "obj/ref.h"
#include "obj/waitset.h"

struct obj_fabric;

struct obj_eq_event {
	struct list node;
	uint32_t event;
	int err;			/* not 0: an error, data is struct fi_eq_err_entry */
	struct fi_info *info;		/* FI_CONNREQ not yet read: freed with the event */
	bool spare;			/* one of the queue's spare ones */
	uint32_t size;			/* bytes in data */
	_Alignas(8) char data[];
};

struct obj_eq {
	struct fid_eq fid;		/* first: the program's handle */
	struct lock lock;		/* guards @events and wait.wake.armed */
	struct list events;
	struct obj_eq_event *shown;	/* owns the err_data last handed out */
	struct list spares;		/* for events when there is no memory, which many errors are about */
	void *spare_mem;
	struct obj_wait wait;
	struct obj_ref set_ref;		/* FI_WAIT_SET: to the set */
	struct obj_fabric *fabric;
	struct obj_ref fabric_ref;
	struct obj_refs refs;		/* endpoints, passive endpoints, avs, domains, poll sets */
	uint64_t flags;			/* FI_WRITE: programs may fi_eq_write() */
};

/* obj_eq_open - fi_eq_open().  Errors: -FI_EINVAL, -FI_ENOMEM, -FI_EMFILE. */
int obj_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		struct fid_eq **eq_p, void *context);

/* obj_eq_write - add an event.
 *
 * @buf: struct fi_eq_entry or the like, which begins with its fid; @len bytes, copied
 *
 * Threading: takes eq->lock; the caller may hold prog->lock.
 * Errors:    -FI_ENOMEM, and then nothing was written or taken: there was no memory for many events before
 *            this one, either.
 */
int obj_eq_write(struct obj_eq *eq, uint32_t event, const void *buf, size_t len);

/* obj_eq_write_cm - add an event of a connection.
 *
 * @info: of FI_CONNREQ, else NULL
 * @data: private data, @len bytes; copied
 *
 * Ownership: @info is the reader's once read, and freed by us, its handle closed, if it is
 *            never read.
 * Threading, Errors: as obj_eq_write().
 */
int obj_eq_write_cm(struct obj_eq *eq, uint32_t event, struct fid *fid, struct fi_info *info,
		    const void *data, size_t len);

/* obj_eq_write_err - add an error.
 *
 * @entry:    fid, context, data, err and prov_errno are used
 * @err_data: copied; NULL with @size 0 for none
 */
int obj_eq_write_err(struct obj_eq *eq, const struct fi_eq_err_entry *entry,
		     const void *err_data, size_t size);

/* obj_eq_purge - @fid is being closed: drop all events that name it. */
void obj_eq_purge(struct obj_eq *eq, const struct fid *fid);

static inline struct obj_eq *obj_eq_of(struct fid_eq *fid)
{
	return container_of(fid, struct obj_eq, fid);
}

#endif
