/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * fuzz_inspect - libFuzzer target: what a process of the same user may send to the inspection socket.
 *
 * The first byte says how: as it is, or with a beginning that is valid, so that the flags behind it are reached; in one
 * piece or two; by how many connections at once that are closed without an answer; and whether the program polls
 * meanwhile.  Whatever comes, what is answered is a sequence of records, and a well-formed request is answered after it.
 */
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_prov.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "obj/inspect/record.h"
#include "obj/test/calls.h"

#define CONNECTIONS_MAX 15
#define PEERS 40
#define ANSWER_MS 20000

enum how {
	HOW_VALID = 0x01,	/* the beginning of the request is */
	HOW_PIECES = 0x02,
	HOW_POLLS = 0x04,
	HOW_SHUT = 0x08,	/* nothing more comes, and it is said */
};

struct fi_provider *fi_tcp_ini(void);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct fid_ep *ep;
static struct fid_cq *cq;
static struct sockaddr_un name = { .sun_family = AF_UNIX };
static socklen_t name_len;
static char dir[] = "/tmp/fuzz_inspect.XXXXXX", room[64];

/* have_state - peers that do not answer, receives, and sends that wait. */
static void have_state(struct fid_av *av)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	fi_addr_t peer = FI_ADDR_UNSPEC;
	uint64_t i;

	for (i = 0; i < PEERS; i++) {
		sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK + (uint32_t) i);
		CHECK(fi_av_insert(av, &sin, 1, &peer, 0, NULL) == 1);
		CALL(fi_trecv(ep, room, sizeof(room), NULL, peer, i, 0, NULL));
		CALL(fi_recv(ep, room, sizeof(room), NULL, FI_ADDR_UNSPEC, NULL));
	}
	fi_tsend(ep, room, sizeof(room), NULL, peer, 1, NULL);
}

/* find_socket - the one that the process has just opened, in the directory that is its own. */
static void find_socket(void)
{
	struct dirent *entry;
	DIR *all = opendir(dir);

	CHECK(all);
	while ((entry = readdir(all)))
		if (!strncmp(entry->d_name, INSPECT_PREFIX, strlen(INSPECT_PREFIX)))
			snprintf(name.sun_path, sizeof(name.sun_path), "%s/%.60s", dir, entry->d_name);
	closedir(all);
	CHECK(*name.sun_path);
	name_len = sizeof(name);
}

static void remove_dir(void)
{
	unlink(name.sun_path);
	rmdir(dir);
}

static void open_all(void)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_av_attr table = { .type = FI_AV_TABLE };
	struct fi_info *hints = fi_allocinfo(), *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fi_provider *prov;
	struct fid_av *av;

	CHECK(mkdtemp(dir));
	setenv("XDG_RUNTIME_DIR", dir, 1);
	setenv("FI_LOG_LEVEL", "error", 0);
	prov = fi_tcp_ini();
	hints->caps = FI_MSG | FI_TAGGED | FI_DIRECTED_RECV;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->control_progress = hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	CALL(prov->getinfo(FI_VERSION(1, 20), "127.0.0.1", "0", FI_SOURCE, hints, &info));
	fi_freeinfo(hints);
	CALL(prov->fabric(info->fabric_attr, &fabric, NULL));
	CALL(fi_domain(fabric, info, &domain, NULL));
	CALL(fi_cq_open(domain, &attr, &cq, NULL));
	CALL(fi_av_open(domain, &table, &av, NULL));
	CALL(fi_endpoint(domain, info, &ep, NULL));
	CALL(fi_ep_bind(ep, &cq->fid, FI_SEND | FI_RECV));
	CALL(fi_ep_bind(ep, &av->fid, 0));
	CALL(fi_enable(ep));
	fi_freeinfo(info);
	have_state(av);
	find_socket();
	atexit(remove_dir);
}

static void poll_once(void)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };

	if (fi_cq_read(cq, &entry, 1) == -FI_EAVAIL)
		fi_cq_readerr(cq, &err, 0);
}

static int connect_once(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0 && !connect(fd, (struct sockaddr *) &name, name_len));
	return fd;
}

/* hear - until the other side ends.  Returns whether the last record is INSPECT_END. */
static bool hear(int fd, bool polls)
{
	static _Alignas(8) uint8_t buf[1 << 20];
	struct inspect_head head = { .type = 0 };
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	size_t have = 0, at = 0;
	ssize_t got = 1;
	int len;

	while (got > 0) {
		while (polls && !poll(&pfd, 1, 0))
			poll_once();
		CHECK(poll(&pfd, 1, ANSWER_MS) == 1 && have < sizeof(buf));
		got = recv(fd, buf + have, sizeof(buf) - have, 0);
		have += got > 0 ? (size_t) got : 0;
		for (; (len = inspect_next(buf + at, have - at)) > 0; at += (size_t) len)
			memcpy(&head, buf + at, sizeof(head));
		CHECK(len == 0);
	}
	CHECK(at == have);
	return head.type == INSPECT_END;
}

static void say(int fd, const uint8_t *buf, size_t len, unsigned how)
{
	size_t piece = how & HOW_PIECES ? len / 2 : 0;

	send(fd, buf, piece, MSG_NOSIGNAL);
	send(fd, buf + piece, len - piece, MSG_NOSIGNAL);
	if (how & HOW_SHUT || len < sizeof(struct inspect_ask))
		shutdown(fd, SHUT_WR);	/* the answer is not waited for, for a second */
}

/* begin_valid - magic and version, as few inputs would have them by chance. */
static void begin_valid(uint8_t *buf, size_t len)
{
	const uint32_t valid[] = { INSPECT_MAGIC, INSPECT_VERSION };

	memcpy(buf, valid, len < sizeof(valid) ? len : sizeof(valid));
}

static void ask_well(bool polls)
{
	struct inspect_ask ask = { INSPECT_MAGIC, INSPECT_VERSION, INSPECT_PATHS | INSPECT_TRAFFIC, 0 };
	int fd = connect_once();

	say(fd, (const uint8_t *) &ask, sizeof(ask), 0);
	CHECK(hear(fd, polls));
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fds[CONNECTIONS_MAX + 1];
	unsigned how, cnt, i;
	uint8_t *buf;

	if (!size)
		return 0;
	if (!ep)
		open_all();
	how = *data++;
	cnt = 1 + (how >> 4);
	size--;
	buf = malloc(size ? size : 1);
	memcpy(buf, data, size);
	if (how & HOW_VALID)
		begin_valid(buf, size);
	for (i = 0; i < cnt; i++) {
		fds[i] = connect_once();
		say(fds[i], buf, size, how);
	}
	for (i = 1; i < cnt; i++)
		close(fds[i]);
	hear(fds[0], how & HOW_POLLS);
	close(fds[0]);
	ask_well(how & HOW_POLLS);
	free(buf);
	return 0;
}
