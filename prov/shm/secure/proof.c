/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "proof.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../link.h"
#include "base/os/process.h"
#include "secure/handshake.h"
#include "secure/policy.h"
#include "secure/secret.h"

#define MESSAGE_MAX 4096		/* bytes of TLS in a message; a whole flight is below 1 KiB */
#define SILENT_MAX 64			/* connections that have sent nothing, at most */
#define INSECURE "it does not protect connections, and FI_SECURITY or a key here asks for that: set the same there"

struct shm_proof {
	struct sec_shake *shake;
	struct sec_keys *keys;		/* of @shake */
	bool heard;			/* the peer's first message was accepted: a client's names a key of ours */
};

/* Both processes, as the kernel tells each about the other one, and what their numbers belong to. */
struct pair {
	uint8_t tag[2];
	uint32_t server, client;
	uint64_t pid_ns;
} __attribute__((packed));
_Static_assert(sizeof(struct pair) == SEC_TO_SIZE, "it is what the client means to reach");

static void set_pair(const struct shm_conn *conn, struct sec_shake_attr *attr)
{
	uint32_t own = (uint32_t) getpid(), peer = (uint32_t) conn->pid;
	struct pair pair = {
		.tag = "SM",
		.server = attr->server ? own : peer,
		.client = attr->server ? peer : own,
		.pid_ns = os_namespace("pid"),
	};

	memcpy(attr->to, &pair, sizeof(pair));
}

static void log_refusal(const struct shm_conn *conn, const char *why)
{
	const struct shm_link *link = conn->link;

	if (link->local)
		CHAN_INFO(&link->base, "no shared memory with process %ld, which is reached over sockets: %s\n",
			  (long) conn->pid, why);
	else
		CHAN_WARN_SPARSE(&link->base, "a connection %s process %ld was refused: %s\n",
				 conn->state == SHM_CONN_ACCEPTED ? "of" : "to", (long) conn->pid, why);
}

/* send_bytes - what the handshake has to say. */
static int send_bytes(struct shm_conn *conn)
{
	uint8_t buf[MESSAGE_MAX];
	size_t len;

	while ((len = sec_shake_take(conn->proof->shake, buf, sizeof(buf))))
		if (send(conn->src.fd, buf, len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			return -errno;
	return 0;
}

static int open_shake(struct shm_conn *conn, bool server)
{
	struct sec_policy *policy = conn->link->sec;
	struct sec_shake_attr attr = {
		.server = server,
		.no_self = true,
		.keys = conn->proof->keys,
		.level = policy->level,
		.version = SHM_VERSION,
		.oldest = SHM_OLDEST,
		.other = "the peer means another process: its connection was led here, or it is in another PID "
			 "namespace, where shared memory with a key does not reach",
	};
	char why[SEC_WHY_MAX];

	sec_policy_keys(policy, conn->proof->keys, why);
	if (*why)
		CHAN_WARN_SPARSE(&conn->link->base, "the keys that were read before stay in use: %s\n", why);
	memcpy(attr.id, policy->id, sizeof(attr.id));
	set_pair(conn, &attr);
	return sec_shake_open(&attr, &conn->proof->shake);
}

int shm_proof_new(struct shm_conn *conn, bool server)
{
	int ret;

	if (!conn->link->sec)
		return 0;
	conn->proof = calloc(1, sizeof(*conn->proof));
	if (!conn->proof)
		return -FI_ENOMEM;
	conn->proof->keys = sec_secret_new(sizeof(*conn->proof->keys));
	if (!conn->proof->keys)
		return -FI_ENOMEM;
	ret = open_shake(conn, server);
	return ret ? ret : send_bytes(conn);
}

void shm_proof_free(struct shm_proof *proof)
{
	if (!proof)
		return;
	if (proof->shake)
		sec_shake_close(proof->shake);
	sec_secret_free(proof->keys, sizeof(*proof->keys));
	free(proof);
}

bool shm_proof_is_tls(const void *msg)
{
	return sec_shake_begins(*(const uint8_t *) msg);
}

static enum shm_proof_step on_bytes(struct shm_conn *conn, const uint8_t *buf, size_t len)
{
	enum sec_shake_state state = sec_shake_feed(conn->proof->shake, buf, len);
	int ret = send_bytes(conn);

	if (state == SEC_SHAKE_FAILED) {
		log_refusal(conn, sec_shake_why(conn->proof->shake));
		return SHM_PROOF_REFUSED;
	}
	if (ret)
		return SHM_PROOF_ENDED;
	conn->proof->heard = true;
	if (state == SEC_SHAKE_RUNNING)
		return SHM_PROOF_MORE;
	shm_proof_free(conn->proof);
	conn->proof = NULL;
	return SHM_PROOF_DONE;
}

/* Descriptors that a peer without a proof sends are dropped by the kernel: there is no room for them here. */
enum shm_proof_step shm_proof_event(struct shm_conn *conn)
{
	uint8_t buf[MESSAGE_MAX];
	ssize_t len = recv(conn->src.fd, buf, sizeof(buf), MSG_DONTWAIT | MSG_TRUNC);

	if (len < 0)
		return errno == EAGAIN || errno == EINTR ? SHM_PROOF_MORE : SHM_PROOF_ENDED;
	if (!len)
		return SHM_PROOF_ENDED;
	if (!shm_proof_is_tls(buf)) {
		log_refusal(conn, INSECURE);
		return SHM_PROOF_PLAIN;
	}
	if ((size_t) len <= sizeof(buf))
		return on_bytes(conn, buf, (size_t) len);
	log_refusal(conn, "it sends more than a handshake");
	return SHM_PROOF_REFUSED;
}

bool shm_proof_is_waited_for(const struct shm_conn *conn)
{
	return conn->link->sec && (!conn->proof || conn->proof->heard);
}

/* is_silent - a member sends before it is accepted, so there is something to read. */
static bool is_silent(const struct shm_conn *conn)
{
	char byte;

	return conn->state == SHM_CONN_ACCEPTED && conn->proof && !conn->proof->heard &&
	       recv(conn->src.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
}

void shm_proof_make_room(struct shm_link *link)
{
	struct shm_conn *conn, *oldest = NULL;
	unsigned cnt = 0;

	if (!link->sec || link->base.poller == NULL || shm_link_poller(link)->handshake_cnt < SILENT_MAX)
		return;
	list_for_each_entry(conn, &link->conns, node) {		/* in order of age */
		if (!is_silent(conn))
			continue;
		if (!oldest)
			oldest = conn;
		cnt++;
	}
	if (cnt >= SILENT_MAX)
		shm_conn_close(oldest, FI_ETIMEDOUT);
}
