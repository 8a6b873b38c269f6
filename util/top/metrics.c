/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Answers in the text format of OpenMetrics 1.0: all samples of a metric stand together. */
#include <inttypes.h>
#include <string.h>

#include "show.h"

static const struct metric {
	const char *name, *unit, *help;
	bool counter;		/* else a gauge */
	unsigned type;		/* of the record */
	size_t field;
} metrics[] = {
	{ "libfabric_sends", "", "Operations of an endpoint that are not complete.", false,
	  INSPECT_EP, offsetof(struct inspect_ep, sends) },
	{ "libfabric_tagged_receives", "", "Posted tagged receives of an endpoint.", false,
	  INSPECT_EP, offsetof(struct inspect_ep, tagged) },
	{ "libfabric_other_receives", "", "Other posted receives of an endpoint.", false,
	  INSPECT_EP, offsetof(struct inspect_ep, msgs) },
	{ "libfabric_unexpected_tagged", "", "Tagged messages without a receive.", false,
	  INSPECT_EP, offsetof(struct inspect_ep, unexp_tagged) },
	{ "libfabric_unexpected_other", "", "Other messages without a receive.", false,
	  INSPECT_EP, offsetof(struct inspect_ep, unexp_msgs) },
	{ "libfabric_held_bytes", "bytes", "Payload that an endpoint keeps for messages without a receive.", false,
	  INSPECT_EP, offsetof(struct inspect_ep, held) },
	{ "libfabric_polls", "", "Polls by threads of the program.", true,
	  INSPECT_EP, offsetof(struct inspect_ep, polls) },
	{ "libfabric_peer_sends", "", "Operations towards a peer that are not complete.", false,
	  INSPECT_PEER, offsetof(struct inspect_peer, sends) },
	{ "libfabric_peer_unexpected", "", "Messages of a peer without a receive.", false,
	  INSPECT_PEER, offsetof(struct inspect_peer, msgs) },
	{ "libfabric_peer_sent_bytes", "bytes", "What the connection to a peer has sent.", true,
	  INSPECT_PEER, offsetof(struct inspect_peer, sent_bytes) },
	{ "libfabric_peer_received_bytes", "bytes", "What it has received.", true,
	  INSPECT_PEER, offsetof(struct inspect_peer, got_bytes) },
	{ "libfabric_peer_sent_packets", "", "The packets among it, where they are counted.", true,
	  INSPECT_PEER, offsetof(struct inspect_peer, sent_packets) },
	{ "libfabric_peer_received_packets", "", "The packets among it, where they are counted.", true,
	  INSPECT_PEER, offsetof(struct inspect_peer, got_packets) },
	{ "libfabric_peer_retransmitted_bytes", "bytes", "What was sent again.", true,
	  INSPECT_PEER, offsetof(struct inspect_peer, resent_bytes) },
};

/* put_label - @val has printable characters alone (record_at()); quotes and backslashes are escaped. */
static void put_label(const char *name, const char *val, FILE *out)
{
	fprintf(out, "%s=\"", name);
	for (; *val; val++)
		fprintf(out, *val == '"' || *val == '\\' ? "\\%c" : "%c", *val);
	fputc('"', out);
}

/* put_labels - of an endpoint, or of a peer of it. */
static void put_labels(const struct answer *answer, const char *command, const struct inspect_ep *ep,
		       const struct inspect_peer *peer, FILE *out)
{
	fprintf(out, "{pid=\"%ld\",", (long) answer->pid);
	if (answer->rank >= 0)
		fprintf(out, "rank=\"%d\",", answer->rank);
	put_label("command", command, out);
	fputc(',', out);
	put_label("provider", ep->provider, out);
	fputc(',', out);
	fprintf(out, "endpoint=\"%" PRIx64 "\",", ep->id);
	put_label("addr", ep->addr, out);
	if (peer) {
		fputc(',', out);
		put_label("peer", peer->addr, out);
		fputc(',', out);
		put_label("link", peer->link, out);
	}
	fputc('}', out);
}

static void show_samples(const struct metric *metric, const struct answer *answer, FILE *out)
{
	char command[sizeof(((struct inspect_process *) NULL)->command)] = "";
	struct inspect_ep ep = { .id = 0 };
	union record r;
	size_t off = 0;
	uint64_t val;

	while (!*answer->host && record_at(answer, off, &r, &off)) {
		if (r.head.type == INSPECT_PROCESS)
			memcpy(command, r.process.command, sizeof(command));
		if (r.head.type == INSPECT_EP)
			ep = r.ep;
		if (r.head.type != metric->type)
			continue;
		memcpy(&val, (const uint8_t *) &r + metric->field, sizeof(val));
		fprintf(out, "%s%s", metric->name, metric->counter ? "_total" : "");
		put_labels(answer, command, &ep, metric->type == INSPECT_PEER ? &r.peer : NULL, out);
		fprintf(out, " %" PRIu64 "\n", val);
	}
}

void show_metrics(const struct answers *answers, FILE *out)
{
	size_t m, i;

	for (m = 0; m < sizeof(metrics) / sizeof(metrics[0]); m++) {
		fprintf(out, "# TYPE %s %s\n", metrics[m].name, metrics[m].counter ? "counter" : "gauge");
		if (*metrics[m].unit)
			fprintf(out, "# UNIT %s %s\n", metrics[m].name, metrics[m].unit);
		fprintf(out, "# HELP %s %s\n", metrics[m].name, metrics[m].help);
		for (i = 0; i < answers->cnt; i++)
			show_samples(&metrics[m], &answers->of[i], out);
	}
	fprintf(out, "# EOF\n");
}
