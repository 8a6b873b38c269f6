/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * record.h - what a process answers on its inspection socket.
 *
 * The socket is a local one of type SOCK_STREAM: of the name INSPECT_NAME in the directory XDG_RUNTIME_DIR, if
 * that belongs to the user, and others cannot write to it; else with that name as an abstract one.  The side that
 * asks sends one struct inspect_ask; the answer is a sequence of records, each of which begins with struct
 * inspect_head, and ends with INSPECT_END.  Both ends are on one host: numbers are in host order.
 *
 * The name only serves to find the socket.  Abstract names can be taken by any process, so the last part is a
 * random number: what is not known before cannot be occupied.  Each side checks the user at the other end
 * (user.h): the process answers its own user and root; the side that asks takes the process from the kernel, not
 * from the name.  What it then gets is nevertheless checked as from a stranger: inspect_next().
 *
 * A record of a type that is not known is skipped; one may be longer than is known here.
 */
#ifndef OBJ_INSPECT_RECORD_H
#define OBJ_INSPECT_RECORD_H

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The process as it knows itself, and a random number; a process has several of them if loaded providers have
 * copies of this code.
 */
#define INSPECT_PREFIX "libfabric-inspect."
#define INSPECT_NAME INSPECT_PREFIX "%d.%016" PRIx64
#define INSPECT_NAME_SIZE 64

#define INSPECT_MAGIC 0x6f666970u
#define INSPECT_VERSION 1
#define INSPECT_TEXT 128	/* of addresses and other names, NUL included */
#define INSPECT_PATH 512
#define INSPECT_RECORD_MAX 1024	/* bytes of a record */

/* What is asked for beyond the endpoints and their peers. */
enum inspect_want {
	INSPECT_PATHS = 1 << 0,	/* the text of each path: system calls */
	INSPECT_TRAFFIC = 1 << 1,	/* what each connection has moved: system calls */
	INSPECT_QUERY = 1 << 2,	/* ask the peers that are waited for: the next look has their answers */
	INSPECT_FEW = 1 << 3,	/* of many peers of an endpoint not all: those first with which something is in progress */
	INSPECT_STEPS = 1 << 4,	/* what each step has cost */
};

struct inspect_ask {
	uint32_t magic;
	uint32_t version;
	uint32_t want;		/* enum inspect_want */
	uint32_t zero;
};

enum inspect_type {
	INSPECT_PROCESS = 1,	/* first, once */
	INSPECT_EP = 2,		/* what follows belongs to it */
	INSPECT_PEER = 3,
	INSPECT_PATH_TEXT = 4,	/* of the peer before it */
	INSPECT_SEND = 5,	/* a send to the peer before it that waits for an answer */
	INSPECT_RECV = 6,	/* a posted receive */
	INSPECT_MSG = 7,	/* an unexpected message */
	INSPECT_LATE = 8,	/* the endpoint's lists could not be read within the time limit */
	INSPECT_END = 9,
	INSPECT_REMOTE = 10,	/* what a peer has answered to a question of the look before */
	INSPECT_STEP = 11,	/* behind the records of the step */
};

struct inspect_head {
	uint32_t len;		/* of the record, this included */
	uint16_t type;		/* enum inspect_type */
	uint16_t zero;
};

/* INSPECT_END: what the answer has cost, in processor time. */
struct inspect_end {
	struct inspect_head head;
	uint64_t steps;		/* in which lists were read */
	uint64_t longest_ns;	/* of the longest one: so long a lock was held at most, or a thread of the program kept */
	uint64_t spent_ns;	/* by all threads of the process */
	uint64_t long_steps;	/* of @steps, those beyond 20 us */
};

struct inspect_step {
	struct inspect_head head;
	uint64_t ns;		/* of processor time */
	uint64_t items;		/* records, and what counts as one (OBJ_LOOK_ITEMS) */
};

struct inspect_process {
	struct inspect_head head;
	int32_t pid;
	uint32_t eps;
	char release[40];
	char command[64];
};

struct inspect_ep {
	struct inspect_head head;
	uint64_t id;
	char provider[32];
	char kind[16];		/* "RDM", "MSG" */
	char addr[INSPECT_TEXT];
	uint64_t peers;
	uint64_t sends;		/* operations that are not complete */
	uint64_t tagged, msgs;	/* posted receives */
	uint64_t unexp_tagged, unexp_msgs;	/* messages without a receive */
	uint64_t held;		/* bytes kept for peers */
	uint64_t polls;		/* by threads of the program */
	uint64_t sleepers;	/* threads that sleep in a blocking call */
	uint64_t group;		/* endpoints with the same number are polled together */
	char driver[16];	/* who finds work while the program does not poll: "program", "sleepers", "thread" */
	char threading[24];	/* "FI_THREAD_DOMAIN" */
	uint64_t asks;		/* answers of peers that it waits for (INSPECT_QUERY), at most */
};

struct inspect_peer {
	struct inspect_head head;
	uint64_t fi_addr;	/* UINT64_MAX: none is known */
	char addr[INSPECT_TEXT];
	char link[16];		/* "tcp", "shm" */
	char state[16];		/* of its channel */
	uint64_t sends;		/* that are not complete, */
	uint64_t fenced;	/* .. of these, behind a fence, */
	uint64_t queued;	/* .. and packets that wait for a connection, or for its credits */
	uint64_t msgs;		/* unexpected messages of it, */
	uint64_t msg_bytes;	/* .. and their payload */
	uint64_t held;
	uint32_t xoff;		/* 1: it takes announcements only, 2: we told it so, 3: both */
	uint32_t zero;
	/* What the connection has moved since it stands, headers included; 0: not counted by its link */
	uint64_t sent_bytes, got_bytes;
	uint64_t sent_packets, got_packets;
	uint64_t resent_bytes;
	uint64_t rtt_ns;	/* smoothed round trip */
	uint64_t per_s[4];	/* 0; the side that asks writes here what of the first four came in a second */
};

struct inspect_path {
	struct inspect_head head;
	char text[INSPECT_PATH];
};

struct inspect_send {
	struct inspect_head head;
	char what[16];		/* "message", "tagged", "read", "write", "atomic" */
	char waits[32];		/* for what */
	uint64_t tag;
	uint64_t len;
	uint64_t id;		/* of the operation; a later one may have the same */
	uint64_t age_ns;	/* as of a receive */
};

struct inspect_recv {
	struct inspect_head head;
	uint32_t tagged;
	uint32_t multi;		/* a multi-receive buffer */
	uint64_t tag, ignore;
	uint64_t room;		/* bytes */
	uint64_t seq;		/* order of posting in its endpoint */
	uint64_t age_ns;	/* 0; the side that asks writes here since when it has seen it */
	char from[INSPECT_TEXT];	/* the only source; "": any */
};

struct inspect_msg {
	struct inspect_head head;
	uint32_t tagged;
	uint32_t announced;	/* 1: its payload is with its sender */
	uint64_t tag;
	uint64_t len;
	char from[INSPECT_TEXT];
	uint64_t id;		/* of the message; a later one may have the same */
	uint64_t age_ns;	/* as of a receive */
};

#define INSPECT_WAITS 4

/* A process, on this host or another, as it has answered a peer; so it is a stranger's word.  A later look may show
 * the same one again.
 */
struct inspect_remote {
	struct inspect_head head;
	uint64_t age_ns;	/* since when it is known */
	int32_t pid;		/* there */
	int32_t rank;		/* -1: none */
	uint32_t cnt;		/* of @wait */
	uint32_t more;		/* waits that are not in it */
	char host[64];
	char command[32];
	char addr[INSPECT_TEXT];
	struct inspect_wait {
		uint64_t tag, len, id;
		uint8_t kind;	/* 1: a receive, 2: a send; with 4: tagged */
		uint8_t zero[7];
		char addr[INSPECT_TEXT];	/* whom it waits for; "": any */
	} wait[INSPECT_WAITS];
};
_Static_assert(sizeof(struct inspect_remote) <= INSPECT_RECORD_MAX, "a record");

/* inspect_text - a field of @size bytes; a longer text is cut. */
static inline void inspect_text(char *field, size_t size, const char *text)
{
	size_t len = strlen(text);

	if (len >= size)
		len = size - 1;
	memcpy(field, text, len);
	field[len] = '\0';
}

/* inspect_next - the record at @at of @len bytes that have arrived.
 *
 * Returns its length, at most INSPECT_RECORD_MAX; 0: it is not complete; -1: malformed.
 */
static inline int inspect_next(const uint8_t *at, size_t len)
{
	struct inspect_head head;

	if (len < sizeof(head))
		return 0;
	memcpy(&head, at, sizeof(head));
	if (head.len < sizeof(head) || head.len > INSPECT_RECORD_MAX || head.len % 8)
		return -1;
	return head.len <= len ? (int) head.len : 0;
}

#endif
