/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* is_known - has an endpoint with this address answered? */
static bool is_known(const struct answers *answers, const char *addr)
{
	union record r;
	size_t i, off;

	for (i = 0; i < answers->cnt; i++)
		for (off = 0; record_at(&answers->of[i], off, &r, &off); )
			if (r.head.type == INSPECT_EP && !strcmp(r.ep.addr, addr))
				return true;
	return false;
}

static void put_record(struct answer *answer, enum inspect_type type, void *rec, size_t size)
{
	struct inspect_head head = { .len = (uint32_t) size, .type = (uint16_t) type };

	memcpy(rec, &head, sizeof(head));
	memcpy(answer->buf + answer->len, rec, size);
	answer->len += size;
}

static void put_wait(struct answer *answer, const struct inspect_wait *wait)
{
	struct inspect_recv recv = {
		.tagged = (wait->kind & 4) != 0, .tag = wait->tag, .room = wait->len, .seq = wait->id,
	};
	struct inspect_send send = { .tag = wait->tag, .len = wait->len, .id = wait->id };
	struct inspect_peer peer = { .fi_addr = UINT64_MAX, .sends = 1 };

	if (wait->kind & 1) {
		memcpy(recv.from, wait->addr, sizeof(recv.from));
		put_record(answer, INSPECT_RECV, &recv, sizeof(recv));
		return;
	}
	memcpy(peer.addr, wait->addr, sizeof(peer.addr));
	snprintf(send.what, sizeof(send.what), "%s", wait->kind & 4 ? "tagged" : "message");
	snprintf(send.waits, sizeof(send.waits), "a matching receive");
	put_record(answer, INSPECT_PEER, &peer, sizeof(peer));
	put_record(answer, INSPECT_SEND, &send, sizeof(send));
}

/* as_answer - as if the process had been asked. */
static void as_answer(const struct inspect_remote *remote, struct answer *answer)
{
	struct inspect_process process = { .pid = remote->pid, .eps = 1 };
	struct inspect_ep ep = { .id = 1 };
	struct inspect_end end = { .steps = 0 };
	uint32_t i;

	*answer = (struct answer) { .pid = remote->pid, .rank = remote->rank, .complete = true };
	answer->buf = malloc((4 + 2 * INSPECT_WAITS) * (size_t) INSPECT_RECORD_MAX);
	if (!answer->buf)
		return;
	snprintf(answer->host, sizeof(answer->host), "%s", *remote->host ? remote->host : "?");
	memcpy(process.command, remote->command, sizeof(remote->command));
	memcpy(ep.addr, remote->addr, sizeof(ep.addr));
	put_record(answer, INSPECT_PROCESS, &process, sizeof(process));
	put_record(answer, INSPECT_EP, &ep, sizeof(ep));
	for (i = 0; i < remote->cnt && i < INSPECT_WAITS; i++)
		put_wait(answer, &remote->wait[i]);
	put_record(answer, INSPECT_END, &end, sizeof(end));
}

void remote_add(struct answers *answers)
{
	size_t cnt = answers->cnt, i, off;
	struct answer answer;
	union record r;

	for (i = 0; i < cnt; i++)
		for (off = 0; record_at(&answers->of[i], off, &r, &off); ) {
			if (r.head.type != INSPECT_REMOTE || !*r.remote.addr || is_known(answers, r.remote.addr))
				continue;
			as_answer(&r.remote, &answer);
			if (answer.buf)
				answers_add(answers, &answer);
		}
}

bool remote_asked(const struct answers *answers)
{
	union record r;
	size_t i, off;

	for (i = 0; i < answers->cnt; i++)
		for (off = 0; record_at(&answers->of[i], off, &r, &off); )
			if (r.head.type == INSPECT_EP && r.ep.asks)
				return true;
	return false;
}
