/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Every attribute of fi_info, with every documented value, asked of every software provider: what
 * fi_getinfo(3) lets a program put there is accepted or refused as the page says, and what is
 * accepted is in the answer.
 */
#include "../runtimes/rt.h"

#include <dirent.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static const struct link {
	const char *prov;
	enum fi_ep_type type;
} links[] = {
	{ "tcp", FI_EP_RDM }, { "tcp", FI_EP_MSG }, { "sockets", FI_EP_RDM }, { "udp", FI_EP_DGRAM },
	{ "shm", FI_EP_RDM }, { "udp;ofi_rxd", FI_EP_RDM }, { "udp;ofi_rxd", FI_EP_MSG },
	{ "tcp;ofi_rxm", FI_EP_RDM }, { "loop", FI_EP_RDM }, { "verbs", FI_EP_MSG },
};
#define LINKS (sizeof(links) / sizeof(*links))

/* How a value that a program asks for relates to what is offered. */
enum rule {
	LIMIT,		/* at most what is offered; 0: any */
	RAISED,		/* up to a limit, perhaps more than what is offered unasked; 0: any */
	WISH,		/* any value */
	SAME,		/* what is offered; 0: any */
	BITS,		/* each bit that is offered, no other; those in @top perhaps, unasked never */
	ANY_BITS,	/* a program may name whatever it can do */
	VALUES,		/* every enumerator up to @top, nothing beyond */
	TYPE,		/* what the link has; another value asks for another endpoint */
	CLASS,		/* a traffic class, as a wish */
	CONTEXTS,	/* up to the domain's limit, or FI_SHARED_CONTEXT where there are shared ones */
	MODES,		/* every bit that is offered, and more */
	PART,		/* each bit that is offered */
};

enum place { INFO, TX, RX, EP, DOMAIN, FABRIC };

struct attr {
	const char *name;
	enum place place;
	size_t at, size;
	enum rule rule;
	uint64_t top;
};

#define ATTR(place, type, field, rule, top) \
	{ #place "." #field, place, offsetof(struct type, field), \
	  sizeof(((struct type *) 0)->field), rule, top }

/* The operation flags that may be a default; a provider does some of them. */
#define TX_FLAGS (FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
		  FI_DELIVERY_COMPLETE | FI_COMMIT_COMPLETE | FI_MATCH_COMPLETE | FI_MULTICAST)
#define RX_FLAGS (FI_COMPLETION | FI_MULTI_RECV)

static const struct attr attrs[] = {
	ATTR(INFO, fi_info, caps, BITS, FI_SOURCE_ERR | FI_AV_USER_ID | FI_PEER | FI_XPU),
	ATTR(INFO, fi_info, mode, ANY_BITS, 0),
	ATTR(INFO, fi_info, addr_format, SAME, 0),
	ATTR(TX, fi_tx_attr, caps, PART, 0),
	ATTR(TX, fi_tx_attr, mode, ANY_BITS, 0),
	ATTR(TX, fi_tx_attr, op_flags, BITS, TX_FLAGS),
	ATTR(TX, fi_tx_attr, msg_order, BITS, 0),
	ATTR(TX, fi_tx_attr, comp_order, ANY_BITS, 0),
	ATTR(TX, fi_tx_attr, tclass, CLASS, 0),
	ATTR(TX, fi_tx_attr, inject_size, RAISED, 0),
	ATTR(TX, fi_tx_attr, size, RAISED, 0),
	ATTR(TX, fi_tx_attr, iov_limit, LIMIT, 0),
	ATTR(TX, fi_tx_attr, rma_iov_limit, LIMIT, 0),
	ATTR(RX, fi_rx_attr, caps, PART, 0),
	ATTR(RX, fi_rx_attr, mode, ANY_BITS, 0),
	ATTR(RX, fi_rx_attr, op_flags, BITS, RX_FLAGS),
	ATTR(RX, fi_rx_attr, msg_order, BITS, 0),
	ATTR(RX, fi_rx_attr, comp_order, ANY_BITS, 0),
	ATTR(RX, fi_rx_attr, total_buffered_recv, WISH, 0),
	ATTR(RX, fi_rx_attr, size, RAISED, 0),
	ATTR(RX, fi_rx_attr, iov_limit, LIMIT, 0),
	ATTR(EP, fi_ep_attr, type, TYPE, 0),
	ATTR(EP, fi_ep_attr, protocol, SAME, 0),
	ATTR(EP, fi_ep_attr, protocol_version, LIMIT, 0),
	ATTR(EP, fi_ep_attr, msg_prefix_size, WISH, 0),
	ATTR(EP, fi_ep_attr, mem_tag_format, ANY_BITS, 0),
	ATTR(EP, fi_ep_attr, tx_ctx_cnt, CONTEXTS, 0),
	ATTR(EP, fi_ep_attr, rx_ctx_cnt, CONTEXTS, 0),
	ATTR(EP, fi_ep_attr, auth_key_size, LIMIT, FI_AV_AUTH_KEY),	/* the keys are those of the vector */
	ATTR(EP, fi_ep_attr, max_msg_size, LIMIT, 0),
	ATTR(EP, fi_ep_attr, max_order_raw_size, LIMIT, 0),
	ATTR(EP, fi_ep_attr, max_order_war_size, LIMIT, 0),
	ATTR(EP, fi_ep_attr, max_order_waw_size, LIMIT, 0),
	ATTR(DOMAIN, fi_domain_attr, threading, VALUES, FI_THREAD_ENDPOINT),
	ATTR(DOMAIN, fi_domain_attr, control_progress, VALUES, FI_PROGRESS_CONTROL_UNIFIED),
	ATTR(DOMAIN, fi_domain_attr, data_progress, VALUES, FI_PROGRESS_CONTROL_UNIFIED),
	ATTR(DOMAIN, fi_domain_attr, resource_mgmt, VALUES, FI_RM_ENABLED),
	ATTR(DOMAIN, fi_domain_attr, av_type, VALUES, FI_AV_TABLE),
	ATTR(DOMAIN, fi_domain_attr, mr_mode, MODES, 0),
	ATTR(DOMAIN, fi_domain_attr, tclass, CLASS, 0),
	ATTR(DOMAIN, fi_domain_attr, auth_key_size, LIMIT, FI_AV_AUTH_KEY),	/* the keys are those of the vector */
	ATTR(DOMAIN, fi_domain_attr, max_ep_auth_key, LIMIT, 0),
	ATTR(DOMAIN, fi_domain_attr, max_group_id, LIMIT, 0),
	ATTR(DOMAIN, fi_domain_attr, mr_key_size, LIMIT, 0),
	ATTR(DOMAIN, fi_domain_attr, cq_data_size, LIMIT, 0),
	ATTR(DOMAIN, fi_domain_attr, cq_cnt, WISH, 0),
	ATTR(DOMAIN, fi_domain_attr, ep_cnt, WISH, 0),
	ATTR(DOMAIN, fi_domain_attr, tx_ctx_cnt, WISH, 0),
	ATTR(DOMAIN, fi_domain_attr, rx_ctx_cnt, WISH, 0),
	ATTR(DOMAIN, fi_domain_attr, max_ep_tx_ctx, LIMIT, 0),
	ATTR(DOMAIN, fi_domain_attr, max_ep_rx_ctx, LIMIT, 0),
	ATTR(DOMAIN, fi_domain_attr, max_ep_stx_ctx, LIMIT, 0),
	ATTR(DOMAIN, fi_domain_attr, max_ep_srx_ctx, LIMIT, 0),
	ATTR(DOMAIN, fi_domain_attr, cntr_cnt, WISH, 0),
	ATTR(DOMAIN, fi_domain_attr, mr_iov_limit, LIMIT, 0),
	ATTR(DOMAIN, fi_domain_attr, caps, BITS, 0),
	ATTR(DOMAIN, fi_domain_attr, mode, ANY_BITS, 0),
	ATTR(DOMAIN, fi_domain_attr, max_err_data, LIMIT, 0),
	ATTR(DOMAIN, fi_domain_attr, mr_cnt, WISH, 0),
	ATTR(DOMAIN, fi_domain_attr, max_cntr_value, LIMIT, 0),
	ATTR(DOMAIN, fi_domain_attr, max_err_cntr_value, LIMIT, 0),
	ATTR(DOMAIN, fi_domain_attr, max_xpu_ctx_cnt, LIMIT, 0),
	ATTR(FABRIC, fi_fabric_attr, prov_version, WISH, 0),
	ATTR(FABRIC, fi_fabric_attr, api_version, WISH, 0),
};
#define ATTRS (sizeof(attrs) / sizeof(*attrs))

static unsigned wrong;

static void *place_of(const struct fi_info *info, enum place place)
{
	void *const at[] = { (void *) info, info->tx_attr, info->rx_attr, info->ep_attr,
			     info->domain_attr, info->fabric_attr };

	return at[place];
}

static uint64_t get(const struct fi_info *info, const struct attr *a)
{
	const char *at = (char *) place_of(info, a->place) + a->at;

	return a->size == 8 ? *(uint64_t *) at : *(uint32_t *) at;
}

static void set(struct fi_info *info, const struct attr *a, uint64_t value)
{
	char *at = (char *) place_of(info, a->place) + a->at;

	if (a->size == 8)
		*(uint64_t *) at = value;
	else
		*(uint32_t *) at = (uint32_t) value;
}

static struct fi_info *link_hints(const struct link *link)
{
	struct fi_info *hints = rt_hints();

	hints->mode = ~UINT64_C(0);
	hints->domain_attr->mode = ~UINT64_C(0);
	hints->domain_attr->mr_mode = ~(FI_MR_BASIC | FI_MR_SCALABLE);
	hints->ep_attr->type = link->type;
	hints->fabric_attr->prov_name = strdup(link->prov);
	return hints;
}

/* ask - is @value of @a granted?  *@info_p: the answer, or NULL. */
static bool ask(const struct link *link, const struct attr *a, uint64_t value,
		struct fi_info **info_p)
{
	struct fi_info *hints = link_hints(link);
	int ret;

	set(hints, a, value);
	*info_p = NULL;
	ret = fi_getinfo(FI_VERSION(1, 20), NULL, NULL, 0, hints, info_p);
	fi_freeinfo(hints);
	if (ret && ret != -FI_ENODATA) {
		print_message("%s: %s = %#llx: %s\n", link->prov, a->name, (unsigned long long) value,
			      fi_strerror(-ret));
		wrong++;
	}
	return !ret;
}

enum outcome { REFUSED, GRANTED, EITHER };

/* expect - @value is granted, and what the answer has instead is at least as good; or refused. */
static void expect(const struct link *link, const struct attr *a, uint64_t value, int want)
{
	struct fi_info *info;
	uint64_t got;
	bool granted = ask(link, a, value, &info), ok = want == EITHER || granted == want;

	if (ok && granted) {
		got = get(info, a);
		if (a->rule == LIMIT || a->rule == RAISED)
			ok = got >= value;
		else if (a->rule == BITS || a->rule == PART)
			ok = (got & value) == value;
		else if (a->rule == MODES)
			ok = !(got & ~value);
		else if (a->rule == CLASS || a->rule == CONTEXTS)
			ok = got == value || !value;
		else if (a->rule == SAME || a->rule == VALUES)
			ok = got == value || !value || a->place == DOMAIN;
	}
	if (!ok) {
		print_message("%s, %s: %s = %#llx should be %s%s\n", link->prov,
			      fi_tostr(&link->type, FI_TYPE_EP_TYPE), a->name,
			      (unsigned long long) value, want ? "granted" : "refused",
			      granted && want ? ", and be in the answer" : "");
		wrong++;
	}
	fi_freeinfo(info);
}

static void each_bit(const struct link *link, const struct attr *a, uint64_t offered)
{
	int bit;

	for (bit = 0; bit < 64; bit++) {
		uint64_t value = UINT64_C(1) << bit;

		if (a->size == 4 && bit >= 32)
			break;
		if (a->rule == PART && !(offered & value))
			continue;
		expect(link, a, value, a->rule == ANY_BITS || (offered & value) ? GRANTED :
		       a->top & value ? EITHER : REFUSED);
	}
	expect(link, a, offered, true);
}

static void each_class(const struct link *link, const struct attr *a)
{
	uint32_t i;

	for (i = FI_TC_LABEL; i <= FI_TC_NETWORK_CTRL; i++)
		expect(link, a, i, true);
	for (i = 0; i < 64; i++)
		expect(link, a, fi_tc_dscp_set((uint8_t) i), true);
	expect(link, a, 1, false);
	expect(link, a, fi_tc_dscp_set(64), false);
	expect(link, a, FI_TC_NETWORK_CTRL + 1, false);
}

static void each_context(const struct link *link, const struct attr *a, const struct fi_info *offer)
{
	bool tx = a->at == offsetof(struct fi_ep_attr, tx_ctx_cnt);
	const struct fi_domain_attr *domain = offer->domain_attr;
	size_t most = tx ? domain->max_ep_tx_ctx : domain->max_ep_rx_ctx;

	expect(link, a, 1, most >= 1);
	expect(link, a, most, true);
	expect(link, a, most + 1, false);
	expect(link, a, FI_SHARED_CONTEXT, (tx ? domain->max_ep_stx_ctx : domain->max_ep_srx_ctx) > 0);
}

/* What is offered if a program asks for nothing, and the values around it. */
static void probe(const struct link *link, const struct attr *a, const struct fi_info *offer)
{
	uint64_t have = get(offer, a), most = a->size == 8 ? UINT64_MAX : UINT32_MAX, i;

	if (a->rule != BITS && a->rule != ANY_BITS && a->rule != PART &&
	    a->rule != MODES)
		expect(link, a, 0, true);
	switch (a->rule) {
	case LIMIT:
	case RAISED:
		expect(link, a, 1, have >= 1);
		expect(link, a, have, true);
		if (have < most) {
			expect(link, a, have + 1, a->rule == RAISED ? EITHER : REFUSED);
			if (a->top != most)
				expect(link, a, most, false);
		}
		break;
	case WISH:
		expect(link, a, 1, true);
		expect(link, a, have + 1, true);
		expect(link, a, 1 << 20, true);
		break;
	case SAME:
		expect(link, a, have, true);
		expect(link, a, 0x7fffffff, false);
		break;
	case BITS:
	case ANY_BITS:
	case PART:
		each_bit(link, a, have);
		break;
	case TYPE:
		expect(link, a, have, true);
		expect(link, a, FI_EP_RDM + 1, false);
		break;
	case CLASS:
		each_class(link, a);
		break;
	case CONTEXTS:
		each_context(link, a, offer);
		break;
	case MODES:
		expect(link, a, have, true);
		expect(link, a, ~(uint64_t) (FI_MR_BASIC | FI_MR_SCALABLE) & most, true);
		break;
	case VALUES:
		for (i = 1; i <= a->top; i++)
			expect(link, a, i, true);
		expect(link, a, a->top + 1, false);
		expect(link, a, 99, false);
		break;
	}
}

/* udp has a second format, with a header, for those who ask for more than plain datagrams carry
 * (fi_udp(7)); it is not among what is offered unasked.
 */
static bool by_another_format(const struct link *link, const struct attr *a)
{
	return link->type == FI_EP_DGRAM &&
	       (!strcmp(a->name, "EP.max_msg_size") || !strcmp(a->name, "DOMAIN.cq_data_size"));
}

static void test_each_attribute(void **state)
{
	struct fi_info *hints, *offer;
	size_t i, j;

	wrong = 0;
	for (i = 0; i < LINKS; i++) {
		hints = link_hints(&links[i]);
		if (fi_getinfo(FI_VERSION(1, 20), NULL, NULL, 0, hints, &offer)) {
			print_message("no %s here\n", links[i].prov);
		} else {
			for (j = 0; j < ATTRS; j++)
				if (!by_another_format(&links[i], &attrs[j]))
					probe(&links[i], &attrs[j], offer);
			fi_freeinfo(offer);
		}
		fi_freeinfo(hints);
	}
	assert_int_equal(wrong, 0);
}

/* ---- names, addresses, keys ------------------------------------------------------------------ */

/* named - is an offer made whose domain (0), fabric (1) or provider (2) has the name @text? */
static bool named(const struct link *link, size_t which, const char *text)
{
	struct fi_info *hints = link_hints(link), *info;
	char **names[] = { &hints->domain_attr->name, &hints->fabric_attr->name,
			   &hints->fabric_attr->prov_name };
	int ret;

	free(*names[which]);
	*names[which] = strdup(text);
	ret = fi_getinfo(FI_VERSION(1, 20), NULL, NULL, 0, hints, &info);
	fi_freeinfo(hints);
	if (ret)
		return false;
	assert_string_equal(which == 0 ? info->domain_attr->name : which == 1 ?
			    info->fabric_attr->name : info->fabric_attr->prov_name, text);
	fi_freeinfo(info);
	return true;
}

/* addressed - is an offer made to hints with the address of @offer as their source, or as their
 * destination?  Not @known: with one that this host does not have.
 */
static bool addressed(const struct link *link, const struct fi_info *offer, bool src, bool known)
{
	struct fi_info *hints = link_hints(link), *info;
	const void *addr = offer->src_addr;
	size_t len = offer->src_addrlen, got;
	void *copy = malloc(len);
	int ret;

	memcpy(copy, addr, len);
	if (!known)
		((struct sockaddr_in *) copy)->sin_addr.s_addr = htonl(0xcb007101);	/* 203.0.113.1 */
	hints->addr_format = offer->addr_format;
	*(src ? &hints->src_addr : &hints->dest_addr) = copy;
	*(src ? &hints->src_addrlen : &hints->dest_addrlen) = len;
	ret = fi_getinfo(FI_VERSION(1, 20), NULL, NULL, 0, hints, &info);
	if (!ret) {
		got = src ? info->src_addrlen : info->dest_addrlen;
		assert_int_equal(got, len);
		assert_memory_equal(src ? info->src_addr : info->dest_addr, copy, len);
		fi_freeinfo(info);
	}
	fi_freeinfo(hints);
	return !ret;
}

/* What stands in an answer can be asked for; what is not here is refused. */
static void test_names_and_addresses(void **state)
{
	struct fi_info *hints, *offer;
	size_t i;

	for (i = 0; i < LINKS; i++) {
		hints = link_hints(&links[i]);
		if (fi_getinfo(FI_VERSION(1, 20), NULL, NULL, 0, hints, &offer)) {
			fi_freeinfo(hints);
			continue;
		}
		assert_true(named(&links[i], 0, offer->domain_attr->name));
		assert_false(named(&links[i], 0, "nosuch"));
		assert_true(named(&links[i], 1, offer->fabric_attr->name));
		assert_false(named(&links[i], 1, "nosuch"));
		assert_true(named(&links[i], 2, offer->fabric_attr->prov_name));
		assert_false(named(&links[i], 2, "nosuch"));
		if (offer->src_addr)
			assert_true(addressed(&links[i], offer, true, true));
		if (offer->src_addr && offer->addr_format == FI_SOCKADDR_IN) {
			assert_false(addressed(&links[i], offer, true, false));
			assert_true(addressed(&links[i], offer, false, true));
		}
		fi_freeinfo(offer);
		fi_freeinfo(hints);
	}
}

/* ---- traffic classes: on the sockets of the endpoints -------------------------------------- */

/* sockets_with - TCP connections of this process, or UDP sockets, that send with @tos. */
static unsigned sockets_with(int kind, int tos)
{
	DIR *dir = opendir("/proc/self/fd");
	struct sockaddr_in peer;
	struct dirent *entry;
	unsigned found = 0;
	socklen_t len;
	int fd, type, val;

	while ((entry = readdir(dir))) {
		fd = atoi(entry->d_name);
		len = sizeof(type);
		if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) || type != kind)
			continue;
		len = sizeof(peer);
		if (kind == SOCK_STREAM && getpeername(fd, (struct sockaddr *) &peer, &len))
			continue;
		len = sizeof(val);
		found += !getsockopt(fd, IPPROTO_IP, IP_TOS, &val, &len) && val == tos;
	}
	closedir(dir);
	return found;
}

static void with_class(const struct link *link, uint32_t tclass, int tos)
{
	static const struct rt_setup setup = { .av_type = FI_AV_TABLE,
					       .cq_format = FI_CQ_FORMAT_TAGGED };
	struct sockaddr_in lo = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct fi_info *hints = rt_hints(), *info;
	struct rt_world w;
	int kind = strncmp(link->prov, "udp", 3) ? SOCK_STREAM : SOCK_DGRAM;

	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->caps = FI_MSG;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->src_addr = malloc(sizeof(lo));
	memcpy(hints->src_addr, &lo, sizeof(lo));
	hints->src_addrlen = sizeof(lo);
	hints->ep_attr->type = link->type;
	hints->tx_attr->tclass = tclass;
	hints->fabric_attr->prov_name = strdup(link->prov);
	assert_int_equal(fi_getinfo(FI_VERSION(1, 20), NULL, NULL, 0, hints, &info), 0);
	assert_int_equal(info->tx_attr->tclass, tclass);
	fi_freeinfo(hints);
	rt_open(&w, info, &setup);
	rt_carry(&w, 100);
	/* both ends of a connection, or both datagram sockets */
	if (sockets_with(kind, tos) < 2)
		fail_msg("%s, class %#x: %u sockets with TOS %#x", link->prov, tclass,
			 sockets_with(kind, tos), tos);
	rt_close(&w);
}

static void test_traffic_classes(void **state)
{
	static const struct link with[] = {
		{ "tcp", FI_EP_RDM }, { "tcp", FI_EP_MSG }, { "udp;ofi_rxd", FI_EP_RDM },
		{ "tcp;ofi_rxm", FI_EP_RDM },
	};
	size_t i;

	setenv("FI_TCP_LOCAL", "0", 1);
	setenv("FI_OFI_RXD_LOCAL", "0", 1);
	setenv("FI_OFI_RXM_LOCAL", "0", 1);
	for (i = 0; i < sizeof(with) / sizeof(*with); i++) {
		with_class(&with[i], FI_TC_BULK_DATA, 10 << 2);
		with_class(&with[i], fi_tc_dscp_set(46), 46 << 2);
	}
}

/* Where we have another implementation's number and version of a protocol, we have its format; where
 * the format is ours, the version is none of theirs.
 */
static void test_protocols(void **state)
{
	static const struct {
		struct link link;
		uint32_t protocol, version;	/* @version: 0 of rxd and shm: any that is ours */
		uint32_t theirs;		/* the highest version of others, where it is not ours */
	} spoken[] = {
		{ { "udp", FI_EP_DGRAM }, FI_PROTO_UDP, 0, 0 },
		{ { "tcp", FI_EP_MSG }, FI_PROTO_SOCK_TCP, 0, 0 },
		{ { "tcp", FI_EP_RDM }, FI_PROTO_XNET, 1, 0 },
		{ { "tcp;ofi_rxm", FI_EP_RDM }, FI_PROTO_RXM, 1, 0 },
		{ { "udp;ofi_rxd", FI_EP_RDM }, FI_PROTO_RXD, 0, 2 },
		{ { "shm", FI_EP_RDM }, FI_PROTO_SHM, 0, 1 },
	};
	struct fi_info *hints, *info, *one;
	size_t i;

	for (i = 0; i < sizeof(spoken) / sizeof(*spoken); i++) {
		hints = link_hints(&spoken[i].link);
		assert_int_equal(fi_getinfo(FI_VERSION(2, 6), NULL, NULL, 0, hints, &info), 0);
		for (one = info; one; one = one->next) {
			if (strcmp(one->fabric_attr->prov_name, spoken[i].link.prov))
				continue;	/* of a layer over it */
			assert_int_equal(one->ep_attr->protocol, spoken[i].protocol);
			if (spoken[i].theirs)
				assert_true(one->ep_attr->protocol_version > spoken[i].theirs);
			else
				assert_int_equal(one->ep_attr->protocol_version, spoken[i].version);
		}
		fi_freeinfo(info);
		fi_freeinfo(hints);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traffic_classes),
		cmocka_unit_test(test_each_attribute),
		cmocka_unit_test(test_names_and_addresses),
		cmocka_unit_test(test_protocols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
