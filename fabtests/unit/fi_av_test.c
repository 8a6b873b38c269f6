/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "common/ft.h"

#define MANY	300

static struct fid_av *open_av(struct ft *ft, enum fi_av_type type, size_t count, uint64_t flags)
{
	struct fi_av_attr attr = { .type = type, .count = count, .flags = flags };
	struct fid_av *av;

	FT_TRY(fi_av_open(ft->domain, &attr, &av, ft));
	return av;
}

static struct sockaddr_in addr_of(unsigned int i)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };

	sin.sin_addr.s_addr = htonl(0x0a000001u + i);
	sin.sin_port = htons((uint16_t) (10000 + i));
	return sin;
}

static void is_addr(struct fid_av *av, fi_addr_t fi_addr, unsigned int i)
{
	struct sockaddr_in want = addr_of(i), got;
	size_t len = sizeof(got);

	FT_TRY(fi_av_lookup(av, fi_addr, &got, &len));
	FT_WANT(len == sizeof(got), "fi_av_lookup says %zu bytes", len);
	FT_WANT(got.sin_addr.s_addr == want.sin_addr.s_addr && got.sin_port == want.sin_port,
		"address %u comes back as another", i);
}

static void insert_and_look(struct ft *ft, enum fi_av_type type)
{
	struct fid_av *av = open_av(ft, type, 4, 0);
	struct sockaddr_in in[MANY];
	fi_addr_t out[MANY];

	for (unsigned int i = 0; i < MANY; i++)
		in[i] = addr_of(i);
	FT_IS(fi_av_insert(av, in, MANY, out, 0, NULL), MANY);
	for (unsigned int i = 0; i < MANY; i++) {
		FT_WANT(out[i] != FI_ADDR_NOTAVAIL, "insert %u failed silently", i);
		FT_WANT(type == FI_AV_MAP || out[i] == i, "a table must count from 0");
		is_addr(av, out[i], i);
	}
	FT_TRY(fi_close(&av->fid));
}

static void removal(struct ft *ft)
{
	struct fid_av *av = open_av(ft, FI_AV_TABLE, 8, 0);
	struct sockaddr_in a = addr_of(0), b = addr_of(1), c = addr_of(2), got;
	fi_addr_t fa, fb, fc;
	size_t len = sizeof(got);

	FT_IS(fi_av_insert(av, &a, 1, &fa, 0, NULL), 1);
	FT_IS(fi_av_insert(av, &b, 1, &fb, 0, NULL), 1);
	FT_TRY(fi_av_remove(av, &fa, 1, 0));
	is_addr(av, fb, 1);
	FT_WANT(fi_av_lookup(av, fa, &got, &len) < 0, "a removed address can still be looked up");
	FT_IS(fi_av_insert(av, &c, 1, &fc, 0, NULL), 1);
	is_addr(av, fc, 2);
	is_addr(av, fb, 1);
	FT_TRY(fi_close(&av->fid));
}

static void text_form(struct ft *ft)
{
	struct fid_av *av = open_av(ft, FI_AV_TABLE, 8, 0);
	struct sockaddr_in a = addr_of(0);
	char text[64] = "";
	size_t len = sizeof(text);

	FT_WANT(fi_av_straddr(av, &a, text, &len), "fi_av_straddr gave nothing");
	FT_WANT(strstr(text, "10.0.0.1") && strstr(text, "10000"), "an address prints as '%s'", text);
	FT_WANT(len == strlen(text) + 1, "'%s' has length %zu", text, len);
	FT_TRY(fi_close(&av->fid));
}

static void short_lookup(struct ft *ft)
{
	struct fid_av *av = open_av(ft, FI_AV_TABLE, 8, 0);
	struct sockaddr_in a = addr_of(7);
	unsigned char part[sizeof(a)];
	fi_addr_t fa;
	size_t len = 4;

	memset(part, 0xee, sizeof(part));
	FT_IS(fi_av_insert(av, &a, 1, &fa, 0, NULL), 1);
	FT_TRY(fi_av_lookup(av, fa, part, &len));
	FT_WANT(len == sizeof(a), "a short lookup must tell the full length, not %zu", len);
	FT_WANT(!memcmp(part, &a, 4) && part[4] == 0xee, "a short lookup wrote past its buffer");
	FT_TRY(fi_close(&av->fid));
}

static void by_name(struct ft *ft)
{
	struct fid_av *av = open_av(ft, FI_AV_TABLE, 8, 0);
	struct sockaddr_in got;
	fi_addr_t fa[4];
	size_t len = sizeof(got);

	FT_IS(fi_av_insertsvc(av, "127.0.0.1", "4711", &fa[0], 0, NULL), 1);
	FT_TRY(fi_av_lookup(av, fa[0], &got, &len));
	FT_WANT(ntohl(got.sin_addr.s_addr) == INADDR_LOOPBACK && ntohs(got.sin_port) == 4711,
		"fi_av_insertsvc inserted another address");
	FT_IS(fi_av_insertsym(av, "10.1.0.1", 2, "5000", 2, fa, 0, NULL), 4);
	for (int i = 0; i < 4; i++) {
		len = sizeof(got);
		FT_TRY(fi_av_lookup(av, fa[i], &got, &len));
		FT_WANT(ntohl(got.sin_addr.s_addr) == 0x0a010001u + (unsigned int) (i / 2) &&
			ntohs(got.sin_port) == 5000 + i % 2,
			"fi_av_insertsym: entry %d is another address", i);
	}
	FT_TRY(fi_close(&av->fid));
}

static void bad_ones(struct ft *ft)
{
	struct fid_av *av = open_av(ft, FI_AV_TABLE, 8, 0);
	struct fi_av_attr attr = { .type = FI_AV_TABLE, .count = 8, .flags = FI_READ };
	struct fid_av *other;
	fi_addr_t fa[1];

	FT_WANT(fi_av_insertsvc(av, "300.300.300.300", "1", fa, 0, NULL) <= 0,
		"a name that is none was inserted");
	FT_WANT(fi_av_open(ft->domain, &attr, &other, NULL) < 0,
		"a read-only table without a name was opened");
	FT_TRY(fi_close(&av->fid));
}

/* With FI_EVENT the insert ends in the event queue. */
static void by_event(struct ft *ft)
{
	struct fi_av_attr attr = { .type = FI_AV_TABLE, .count = 8, .flags = FI_EVENT };
	struct fi_eq_entry entry;
	struct sockaddr_in in[2] = { addr_of(0), addr_of(1) };
	struct fid_av *av;
	fi_addr_t out[2];
	uint32_t event;
	int ret = fi_av_open(ft->domain, &attr, &av, NULL), ctx;

	if (ret == -FI_ENOSYS || ret == -FI_EINVAL || ret == -FI_EOPNOTSUPP || ret == -FI_EBADFLAGS) {
		printf("# this provider inserts at once, without FI_EVENT\n");
		return;
	}
	FT_TRY(ret);
	FT_TRY(fi_av_bind(av, &ft->eq->fid, 0));
	FT_TRY(fi_av_insert(av, in, 2, out, 0, &ctx));
	FT_IS(fi_eq_sread(ft->eq, &event, &entry, sizeof(entry), 5000, 0), sizeof(entry));
	FT_WANT(event == FI_AV_COMPLETE && entry.context == &ctx && entry.data == 2 &&
		entry.fid == &av->fid, "the insert's event does not say what was inserted");
	FT_TRY(fi_close(&av->fid));
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: address vectors: insert, look up, remove, print, by name.",
		.local = true,
	};
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	if (ft.info->ep_attr->type == FI_EP_MSG)
		ft_skip("connected endpoints use no address vector");
	if (ft.info->addr_format != FI_SOCKADDR_IN && ft.info->addr_format != FI_SOCKADDR)
		ft_skip("this provider's addresses are not IPv4");
	insert_and_look(&ft, FI_AV_TABLE);
	insert_and_look(&ft, FI_AV_MAP);
	removal(&ft);
	text_form(&ft);
	short_lookup(&ft);
	by_name(&ft);
	bad_ones(&ft);
	by_event(&ft);
	return ft_end(&ft);
}
