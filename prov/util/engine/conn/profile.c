/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fi_profile(3) of an endpoint and of one of its peers: what inspection sees, as numbers. */
#include <rdma/fi_errno.h>
#include <rdma/fi_ext.h>
#include <rdma/fi_profile.h>
#include <stdlib.h>
#include <string.h>

#include "engine/recv.h"
#include "engine/seen.h"

struct profile {
	struct fid_profile fid;
	struct eng_ep *ep;
	fi_addr_t addr;		/* of the peer; FI_ADDR_UNSPEC: of the endpoint */
	bool kept;		/* between start_reads and end_reads: @vals are of the first of these */
	struct inspect_peer vals;	/* of the peer, or the sums of all */
	uint64_t recvs, connections;
};

/* Those without a number of their own; they follow FI_VAR_OFI_MEM. */
enum {
	VAR_SENDS = FI_VAR_OFI_MEM + 1,
	VAR_QUEUED,
	VAR_UNEXP_BYTES,
	VAR_SENT_BYTES,
	VAR_GOT_BYTES,
	VAR_SENT_PACKETS,
	VAR_GOT_PACKETS,
	VAR_RESENT_BYTES,
	VAR_RTT,
};

#define IN_PROFILE(field) offsetof(struct profile, field)

static const struct var {
	uint32_t id;
	bool of_peer;		/* a peer has it, too */
	size_t at;		/* in struct profile */
	const char *name, *desc;
} vars[] = {
	{ FI_VAR_UNEXP_MSG_CNT, true, IN_PROFILE(vals.msgs), "unexp_msg_cnt", "messages without a receive" },
	{ FI_VAR_MSG_QUEUE_CNT, false, IN_PROFILE(recvs), "msg_queue_cnt", "posted receives" },
	{ FI_VAR_CONNECTION_CNT, false, IN_PROFILE(connections), "connection_cnt", "peers with a connection" },
	{ FI_VAR_OFI_MEM, true, IN_PROFILE(vals.held), "ofi_mem", "bytes kept of messages without a receive" },
	{ VAR_SENDS, true, IN_PROFILE(vals.sends), "sends", "operations that are not complete" },
	{ VAR_QUEUED, true, IN_PROFILE(vals.queued), "queued_packets", "packets that wait for a connection" },
	{ VAR_UNEXP_BYTES, true, IN_PROFILE(vals.msg_bytes), "unexp_bytes", "payload of them that counts for flow control" },
	{ VAR_SENT_BYTES, true, IN_PROFILE(vals.sent_bytes), "sent_bytes", "bytes sent by the connections" },
	{ VAR_GOT_BYTES, true, IN_PROFILE(vals.got_bytes), "received_bytes", "bytes received by them" },
	{ VAR_SENT_PACKETS, true, IN_PROFILE(vals.sent_packets), "sent_packets", "packets sent, where counted" },
	{ VAR_GOT_PACKETS, true, IN_PROFILE(vals.got_packets), "received_packets", "packets received, where counted" },
	{ VAR_RESENT_BYTES, true, IN_PROFILE(vals.resent_bytes), "retransmitted_bytes", "bytes sent again" },
	{ VAR_RTT, true, IN_PROFILE(vals.rtt_ns), "rtt_ns", "round trip in ns; of an endpoint, the longest" },
};

#define VARS (sizeof(vars) / sizeof(vars[0]))

static struct profile *profile_of(struct fid_profile *fid)
{
	return container_of(fid, struct profile, fid);
}

/* ---- values ------------------------------------------------------------------------------ */

static void add_peer(struct profile *profile, struct eng_peer *peer)
{
	struct inspect_peer one = { .sends = 0 };

	eng_seen_peer(peer, &one, INSPECT_TRAFFIC, NULL);
	profile->connections += !strcmp(one.state, "ready");
	profile->vals.msgs += one.msgs;
	profile->vals.msg_bytes += one.msg_bytes;
	profile->vals.held += one.held;
	profile->vals.sends += one.sends;
	profile->vals.queued += one.queued;
	profile->vals.sent_bytes += one.sent_bytes;
	profile->vals.got_bytes += one.got_bytes;
	profile->vals.sent_packets += one.sent_packets;
	profile->vals.got_packets += one.got_packets;
	profile->vals.resent_bytes += one.resent_bytes;
	if (one.rtt_ns > profile->vals.rtt_ns)
		profile->vals.rtt_ns = one.rtt_ns;
}

static void add_receives(struct profile *profile)
{
	const struct eng_ep *ep = profile->ep;
	unsigned i;

	for (i = 0; ep->rxc && i < ep->rxc_cnt; i++)
		profile->recvs += ep->rxc[i].tagged.cnt + ep->rxc[i].msgs.cnt;
}

static int read_all(struct profile *profile)
{
	struct eng_ep *ep = profile->ep;
	struct eng_peer *peer;
	int ret = 0;

	memset(&profile->vals, 0, sizeof(profile->vals));
	profile->recvs = profile->connections = 0;
	lock_get(&ep->base.prog->lock);
	if (profile->addr == FI_ADDR_UNSPEC) {
		add_receives(profile);
		list_for_each_entry(peer, &ep->peers, node)
			add_peer(profile, peer);
	} else {
		peer = eng_peer_get(ep->hub, profile->addr, &ret);
		if (peer)
			add_peer(profile, peer);
	}
	lock_put(&ep->base.prog->lock);
	return ret;
}

static void profile_start_reads(struct fid_profile *fid, uint64_t flags)
{
	profile_of(fid)->kept = !read_all(profile_of(fid));
}

static void profile_end_reads(struct fid_profile *fid, uint64_t flags)
{
	profile_of(fid)->kept = false;
}

static const struct var *var_find(const struct profile *profile, uint32_t id)
{
	size_t i;

	for (i = 0; i < VARS; i++)
		if (vars[i].id == id && (vars[i].of_peer || profile->addr == FI_ADDR_UNSPEC))
			return &vars[i];
	return NULL;
}

static ssize_t profile_read_var(struct fid_profile *fid, uint32_t id, void *data, size_t *size)
{
	struct profile *profile = profile_of(fid);
	const struct var *var = var_find(profile, id);
	int ret = 0;

	if (!var)
		return -FI_EINVAL;
	if (*size < sizeof(uint64_t))
		return -FI_ETOOSMALL;
	if (!profile->kept)
		ret = read_all(profile);
	if (ret)
		return ret;
	memcpy(data, (const uint8_t *) profile + var->at, sizeof(uint64_t));
	*size = sizeof(uint64_t);
	return 0;
}

/* ---- what there is ------------------------------------------------------------------------- */

static ssize_t profile_query_vars(struct fid_profile *fid, struct fi_profile_desc *list, size_t *cnt)
{
	size_t i, found = 0;

	for (i = 0; i < VARS; i++) {
		if (!var_find(profile_of(fid), vars[i].id))
			continue;
		if (list && found < *cnt)
			list[found] = (struct fi_profile_desc) {
				.id = vars[i].id, .datatype_sel = fi_primitive_type, .datatype.primitive = FI_UINT64,
				.size = sizeof(uint64_t), .name = vars[i].name, .desc = vars[i].desc,
			};
		found++;
	}
	*cnt = found;
	return 0;
}

static ssize_t profile_query_events(struct fid_profile *fid, struct fi_profile_desc *list, size_t *cnt)
{
	*cnt = 0;
	return 0;
}

static int profile_close(struct fid *fid)
{
	free(container_of(fid, struct profile, fid.fid));
	return 0;
}

static struct fi_ops profile_fid_ops = { .size = sizeof(struct fi_ops), .close = profile_close };

static struct fi_profile_ops profile_ops = {
	.size = sizeof(struct fi_profile_ops),
	.query_vars = profile_query_vars,
	.query_events = profile_query_events,
	.read_var = profile_read_var,
	.start_reads = profile_start_reads,
	.end_reads = profile_end_reads,
};

int eng_profile_open(struct fid *fid, const char *name, uint64_t flags, void **ops, void *context)
{
	struct eng_ep *ep = (struct eng_ep *) obj_ep_handle_of(container_of(fid, struct fid_ep, fid))->ep;
	struct profile *profile;
	int ret;

	if (strcmp(name, "fi_profile_ops"))
		return -FI_ENOSYS;
	if (flags & ~FI_PROFILE_PEER)
		return -FI_EBADFLAGS;
	if (!eng_ep_enabled(ep))
		return -FI_EOPBADSTATE;
	profile = calloc(1, sizeof(*profile));
	if (!profile)
		return -FI_ENOMEM;
	*profile = (struct profile) {
		.fid = { { FI_CLASS_PROFILE, context, &profile_fid_ops }, &profile_ops }, .ep = ep,
		.addr = flags & FI_PROFILE_PEER ? *(const fi_addr_t *) context : FI_ADDR_UNSPEC,
	};
	ret = read_all(profile);
	if (ret)
		free(profile);
	else
		*ops = &profile->fid;
	return ret;
}
