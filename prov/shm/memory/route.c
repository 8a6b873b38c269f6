/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The route of a connection as text: channel/route.h.  Why the memory of a peer cannot be read is found out
 * when it is asked for.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/uio.h>

#include "base/os/process.h"
#include "channel/route.h"
#include "secure/policy.h"
#include "../link.h"

/* read_errno - what the kernel says about reading the memory of @pid: EFAULT where it would allow
 * it, since nothing is at the address that this asks for.
 */
static int read_errno(pid_t pid)
{
	char byte;
	struct iovec here = { &byte, 1 }, there = { NULL, 1 };
	ssize_t ret = os_process_read(pid, &here, 1, &there, 1);

	return ret < 0 ? (int) -ret : 0;
}

const char *shm_path_unreadable(pid_t pid)
{
	int err = pid > 0 ? read_errno(pid) : ESRCH;

	switch (err) {
	case ESRCH:
		return "it is in another PID namespace";
	case ENOSYS:
		return "the kernel, or a filter of system calls, has no process_vm_readv";
	case EPERM:
	case EACCES:
		return os_process_forbidden(pid);
	default:
		return "it is in another PID namespace, where its number is that of another process";
	}
}

static void copies_text(const struct shm_conn *conn, struct chan_route *path)
{
	bool theirs = atomic_load_explicit(&conn->out.seg->rx.can_read, memory_order_relaxed);

	if (conn->can_read && theirs)
		return;
	if (shm_conf.disable_cma) {
		snprintf(path->why, sizeof(path->why), "long messages are copied twice: FI_SHM_DISABLE_CMA is set");
	} else if (conn->can_read) {
		snprintf(path->why, sizeof(path->why), "long messages to the peer are copied twice: it cannot read "
			 "the memory of this process, its log has the reason");
	} else {
		path->surprise = CHAN_COPIES;
		snprintf(path->why, sizeof(path->why), "long messages are copied twice, since the memory of the "
			 "peer's process cannot be read: %s", shm_path_unreadable(conn->pid));
	}
}

static const char *proof_text(const struct shm_link *link)
{
	if (!link->sec)
		return "";
	return link->sec->level == SEC_AUTH ? ", which has proven the key (auth)" : ", which has proven the key (encrypt)";
}

void shm_route(const struct chan *base, struct chan_route *path)
{
	const struct shm_conn *conn = base->conn;
	bool self = conn->src.fd < 0;
	char whose[64];

	snprintf(whose, sizeof(whose), "process %ld", (long) conn->pid);
	snprintf(path->way, sizeof(path->way), "shared memory of %s%s, long messages %s",
		 self ? "this endpoint itself" : conn->pid > 0 ? whose : "a process in another PID namespace",
		 self ? "" : proof_text(conn->link), conn->can_read ? conn->can_write ?
		 "are read from its memory, remote memory accesses copy to and from it" :
		 "are read from its memory" : "come through shared memory");
	path->same_host = true;
	path->traffic.sent_packets = conn->out.pos;
	path->traffic.got_packets = conn->in.pos;
	copies_text(conn, path);
}
