/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "show.h"

#include <inttypes.h>
#include <string.h>

#include "../json.h"
#include "since.h"

/* ---- text ---------------------------------------------------------------------------------- */

static void text_process(const struct answer *answer, const struct inspect_process *p, FILE *out)
{
	fprintf(out, "process %ld %s", (long) answer->pid, p->command);
	if (*answer->host)
		fprintf(out, " on %s", answer->host);
	if (answer->rank >= 0)
		fprintf(out, ", rank %d", answer->rank);
	if (*answer->host)
		fprintf(out, ": as it has told its peers\n");
	else
		fprintf(out, ": %" PRIu32 " endpoints, release %s\n", p->eps, p->release);
}

/* text_remote_ep - of a process on another host no more is known. */
static void text_remote_ep(const struct inspect_ep *ep, FILE *out)
{
	fprintf(out, "  endpoint %s: what it waits for\n", ep->addr);
}

static void text_ep(const struct inspect_ep *ep, FILE *out)
{
	fprintf(out, "  endpoint %s %s %s: %" PRIu64 " sends in progress, posted receives %" PRIu64 " tagged "
		"%" PRIu64 " other, unexpected messages %" PRIu64 " tagged %" PRIu64 " other (%" PRIu64
		" bytes kept)%s", ep->provider, ep->kind, ep->addr, ep->sends, ep->tagged, ep->msgs,
		ep->unexp_tagged, ep->unexp_msgs, ep->held, ep->sleepers ? ", the program sleeps in a call" : "");
	if (*ep->driver)
		fprintf(out, ", %s, driven by the %s", ep->threading, ep->driver);
	fprintf(out, "\n");
}

/* text_amount - "12 bytes", with the rate where there is one. */
static void text_amount(const char *verb, const char *unit, uint64_t cnt, uint64_t per_s, FILE *out)
{
	if (cnt)
		fprintf(out, ", %s %" PRIu64 " %s", verb, cnt, unit);
	if (cnt && per_s)
		fprintf(out, " (%" PRIu64 "/s)", per_s);
}

static void text_traffic(const struct inspect_peer *peer, FILE *out)
{
	text_amount("sent", "bytes", peer->sent_bytes, peer->per_s[0], out);
	text_amount("sent", "packets", peer->sent_packets, peer->per_s[2], out);
	text_amount("got", "bytes", peer->got_bytes, peer->per_s[1], out);
	text_amount("got", "packets", peer->got_packets, peer->per_s[3], out);
	text_amount("sent again", "bytes", peer->resent_bytes, 0, out);
	if (peer->rtt_ns)
		fprintf(out, ", round trip %" PRIu64 " us", (peer->rtt_ns + 999) / 1000);
}

static void text_peer(const struct inspect_peer *peer, FILE *out)
{
	fprintf(out, "    peer %s over %s, %s", peer->addr, peer->link, peer->state);
	if (peer->sends)
		fprintf(out, ", %" PRIu64 " sends in progress", peer->sends);
	if (peer->fenced)
		fprintf(out, " (%" PRIu64 " behind a fence)", peer->fenced);
	if (peer->queued)
		fprintf(out, ", %" PRIu64 " packets wait for %s", peer->queued,
			strcmp(peer->state, "ready") ? "a connection" : "credits, or for room in the connection");
	if (peer->msgs)
		fprintf(out, ", %" PRIu64 " unexpected messages of %" PRIu64 " bytes", peer->msgs, peer->msg_bytes);
	text_traffic(peer, out);
	if (peer->xoff)
		fprintf(out, ", flow control: %s", peer->xoff == 1 ? "it takes announcements only" :
			peer->xoff == 2 ? "we take announcements only" : "both take announcements only");
	fprintf(out, "\n");
}

static void text_send(const struct inspect_send *send, FILE *out)
{
	char age[32];

	fprintf(out, "      send: %s", send->what);
	if (!strcmp(send->what, "tagged"))
		fprintf(out, ", tag 0x%" PRIx64, send->tag);
	fprintf(out, ", %" PRIu64 " bytes%s, waits for %s\n", send->len, since_text(send->age_ns, age),
		send->waits);
}

static void text_recv(const struct inspect_recv *recv, FILE *out)
{
	char age[32];

	fprintf(out, "    receive: %s", recv->tagged ? "tagged" : recv->multi ? "multi-receive buffer" : "any message");
	if (recv->tagged)
		fprintf(out, ", tag 0x%" PRIx64, recv->tag);
	if (recv->tagged && recv->ignore)
		fprintf(out, " (ignore 0x%" PRIx64 ")", recv->ignore);
	fprintf(out, ", from %s, %" PRIu64 " bytes%s: no such message has come\n",
		*recv->from ? recv->from : "any peer", recv->room, since_text(recv->age_ns, age));
}

static void text_msg(const struct inspect_msg *msg, FILE *out)
{
	char age[32];

	fprintf(out, "    unexpected: %s", msg->tagged ? "tagged" : "message");
	if (msg->tagged)
		fprintf(out, ", tag 0x%" PRIx64, msg->tag);
	fprintf(out, ", from %s, %" PRIu64 " bytes%s%s\n", msg->from, msg->len, since_text(msg->age_ns, age),
		msg->announced ? ", which are still with the sender" : "");
}

void show_record(const union record *r, FILE *out)
{
	switch (r->head.type) {
	case INSPECT_EP:
		text_ep(&r->ep, out);
		break;
	case INSPECT_PEER:
		text_peer(&r->peer, out);
		break;
	case INSPECT_PATH_TEXT:
		fprintf(out, "      path: %s\n", r->path.text);
		break;
	case INSPECT_SEND:
		text_send(&r->send, out);
		break;
	case INSPECT_RECV:
		text_recv(&r->recv, out);
		break;
	case INSPECT_MSG:
		text_msg(&r->msg, out);
		break;
	case INSPECT_LATE:
		fprintf(out, "    the program makes no progress, and its endpoint has no lock: no more is known\n");
		break;
	default:
		break;
	}
}

static void text_answer(const struct answer *answer, FILE *out)
{
	union record r;
	size_t off = 0;

	while (record_at(answer, off, &r, &off)) {
		if (r.head.type == INSPECT_PROCESS)
			text_process(answer, &r.process, out);
		else if (r.head.type == INSPECT_EP && *answer->host)
			text_remote_ep(&r.ep, out);
		else
			show_record(&r, out);
	}
	if (answer->silent)
		fprintf(out, "process %ld %s: %s\n", (long) answer->pid, answer->command, answer->silent);
	else if (!answer->complete)
		fprintf(out, "  the answer is incomplete\n");
}

void show_text(const struct answers *answers, FILE *out)
{
	size_t i;

	for (i = 0; i < answers->cnt; i++)
		text_answer(&answers->of[i], out);
	if (!answers->cnt)
		fprintf(out, "no process to look at: none of this user, in this network namespace, has an endpoint "
			"and permits it (FI_INSPECT)\n");
}

/* ---- JSON ------------------------------------------------------------------------------------- */

static const struct {
	unsigned type;
	const char *name;
} lists[] = {
	{ INSPECT_PEER, "peer" }, { INSPECT_SEND, "send" }, { INSPECT_RECV, "receive" },
	{ INSPECT_MSG, "unexpected" }, { INSPECT_PATH_TEXT, "path" }, { INSPECT_LATE, "late" },
};

static void json_ep(struct json *j, const struct inspect_ep *ep)
{
	char group[20];

	snprintf(group, sizeof(group), "%" PRIx64, ep->group);
	json_str(j, "provider", ep->provider);
	json_str(j, "type", ep->kind);
	json_str(j, "addr", ep->addr);
	json_u64(j, "peers", ep->peers);
	json_u64(j, "sends", ep->sends);
	json_u64(j, "tagged_receives", ep->tagged);
	json_u64(j, "other_receives", ep->msgs);
	json_u64(j, "unexpected_tagged", ep->unexp_tagged);
	json_u64(j, "unexpected_other", ep->unexp_msgs);
	json_u64(j, "held_bytes", ep->held);
	json_u64(j, "polls", ep->polls);
	json_u64(j, "sleepers", ep->sleepers);
	json_str(j, "group", group);
	json_str(j, "driver", ep->driver);
	json_str(j, "threading", ep->threading);
}

static void json_peer(struct json *j, const struct inspect_peer *peer)
{
	json_str(j, "addr", peer->addr);
	json_str(j, "link", peer->link);
	json_str(j, "state", peer->state);
	json_u64(j, "sends", peer->sends);
	json_u64(j, "fenced", peer->fenced);
	json_u64(j, "queued_packets", peer->queued);
	json_u64(j, "unexpected", peer->msgs);
	json_u64(j, "unexpected_bytes", peer->msg_bytes);
	json_bool(j, "takes_announcements_only", peer->xoff & 1);
	json_bool(j, "told_announcements_only", peer->xoff & 2);
	json_u64(j, "sent_bytes", peer->sent_bytes);
	json_u64(j, "received_bytes", peer->got_bytes);
	json_u64(j, "sent_packets", peer->sent_packets);
	json_u64(j, "received_packets", peer->got_packets);
	json_u64(j, "retransmitted_bytes", peer->resent_bytes);
	json_real(j, "rtt_us", (double) peer->rtt_ns / 1000, 1);
}

static void json_recv(struct json *j, const struct inspect_recv *recv)
{
	json_bool(j, "tagged", recv->tagged);
	json_bool(j, "multi", recv->multi);
	json_u64(j, "tag", recv->tag);
	json_u64(j, "ignore", recv->ignore);
	json_u64(j, "bytes", recv->room);
	json_u64(j, "order", recv->seq);
	json_real(j, "age_s", (double) recv->age_ns / 1e9, 3);
	json_str(j, "from", *recv->from ? recv->from : NULL);
}

static void json_fields(struct json *j, const union record *r)
{
	switch (r->head.type) {
	case INSPECT_PEER:
		json_peer(j, &r->peer);
		break;
	case INSPECT_PATH_TEXT:
		json_str(j, "text", r->path.text);
		break;
	case INSPECT_SEND:
		json_str(j, "what", r->send.what);
		json_str(j, "waits_for", r->send.waits);
		json_u64(j, "tag", r->send.tag);
		json_u64(j, "bytes", r->send.len);
		json_real(j, "age_s", (double) r->send.age_ns / 1e9, 3);
		break;
	case INSPECT_RECV:
		json_recv(j, &r->recv);
		break;
	case INSPECT_MSG:
		json_bool(j, "tagged", r->msg.tagged);
		json_bool(j, "announced", r->msg.announced);
		json_u64(j, "tag", r->msg.tag);
		json_u64(j, "bytes", r->msg.len);
		json_real(j, "age_s", (double) r->msg.age_ns / 1e9, 3);
		json_str(j, "from", r->msg.from);
		break;
	default:
		break;
	}
}

/* json_item - an element of the list "items" of an endpoint, which says what it is. */
static void json_item(struct json *j, const union record *r)
{
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (lists[i].type != r->head.type)
			continue;
		json_object(j, NULL);
		json_str(j, "kind", lists[i].name);
		json_fields(j, r);
		json_end(j);
	}
}

static void json_cost(struct json *j, const struct inspect_end *end)
{
	json_object(j, "cost");
	json_real(j, "spent_us", (double) end->spent_ns / 1000, 1);
	json_real(j, "longest_step_us", (double) end->longest_ns / 1000, 1);
	json_u64(j, "steps", end->steps);
	json_u64(j, "steps_beyond_20_us", end->long_steps);
	json_end(j);
}

static void json_answer(struct json *j, const struct answer *answer)
{
	bool open = false;
	union record r;
	size_t off = 0;

	json_object(j, NULL);
	json_i64(j, "pid", answer->pid);
	if (answer->rank >= 0)
		json_i64(j, "rank", answer->rank);
	if (*answer->host)
		json_str(j, "host", answer->host);
	json_bool(j, "complete", answer->complete);
	if (record_at(answer, 0, &r, &off) == INSPECT_PROCESS) {
		json_str(j, "command", r.process.command);
		json_str(j, "release", r.process.release);
	}
	if (answer->silent) {
		json_str(j, "command", answer->command);
		json_str(j, "silent", answer->silent);
	}
	json_array(j, "endpoints");
	while (record_at(answer, off, &r, &off) && r.head.type != INSPECT_END) {
		if (r.head.type == INSPECT_EP) {
			if (open) {
				json_end(j);
				json_end(j);
			}
			json_object(j, NULL);
			json_ep(j, &r.ep);
			json_array(j, "items");
			open = true;
		} else if (open) {
			json_item(j, &r);
		}
	}
	if (open) {
		json_end(j);
		json_end(j);
	}
	json_end(j);
	if (answer->complete && !*answer->host && r.head.type == INSPECT_END)
		json_cost(j, &r.end);
	json_end(j);
}

void show_json(const struct answers *answers, FILE *out)
{
	struct json j;
	size_t i;

	json_start(&j, out);
	json_object(&j, NULL);
	json_array(&j, "processes");
	for (i = 0; i < answers->cnt; i++)
		json_answer(&j, &answers->of[i]);
	json_end(&j);
	json_end(&j);
}
