/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * side.h - an endpoint with a key, or without, and what the library logs; for tests of protected connections.
 * Includes cmocka.
 */
#ifndef TESTS_SECURE_SIDE_H
#define TESTS_SECURE_SIDE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_ext.h>
#include <rdma/fi_tagged.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "obj/test/calls.h"
#include "secure/channel.h"

#define SIZE 64			/* of a message */
#define SIDE_KEY_SIZE 32

/* ---- the log ------------------------------------------------------------------ */

static char logged[1 << 18];
static size_t logged_len;
static bool log_all;		/* also what is for debugging */

static inline int log_enabled(const struct fi_provider *prov, enum fi_log_level level, enum fi_log_subsys subsys,
		       uint64_t flags)
{
	return log_all || level <= FI_LOG_INFO;
}

static inline int log_ready(const struct fi_provider *prov, enum fi_log_level level, enum fi_log_subsys subsys,
		     uint64_t flags, uint64_t *showtime)
{
	return log_all || level <= FI_LOG_INFO;
}

static inline void log_line(const struct fi_provider *prov, enum fi_log_level level, enum fi_log_subsys subsys,
		     const char *func, int line, const char *msg)
{
	size_t len = strlen(msg);

	if (logged_len + len < sizeof(logged)) {
		memcpy(logged + logged_len, msg, len + 1);
		logged_len += len;
	}
}

static inline int log_close(struct fid *fid)
{
	return 0;
}

static struct fi_ops log_fi_ops = { .size = sizeof(struct fi_ops), .close = log_close };
static struct fi_ops_log log_ops = {
	.size = sizeof(struct fi_ops_log), .enabled = log_enabled, .ready = log_ready, .log = log_line,
};
static struct fid_logging log_fid = {
	.fid = { .fclass = FI_CLASS_LOG, .ops = &log_fi_ops }, .ops = &log_ops,
};

static inline void assert_logged(const char *text)
{
	if (!strstr(logged, text))
		fail_msg("no line has \"%s\", but:\n%s", text, logged);
}

/* ---- endpoints ------------------------------------------------------------------- */

struct side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	struct sockaddr_in name;
	uint8_t buf[SIZE];
	int err;		/* of the last operation that failed */
};

static uint8_t message[SIZE];

static inline struct fi_info *get_info(const uint8_t *key)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	CHECK(hints);
	hints->caps = FI_TAGGED;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->data_progress = hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	hints->fabric_attr->prov_name = strdup(getenv("PROV"));
	if (key) {
		hints->ep_attr->auth_key = malloc(SIDE_KEY_SIZE);
		memcpy(hints->ep_attr->auth_key, key, SIDE_KEY_SIZE);
		hints->ep_attr->auth_key_size = SIDE_KEY_SIZE;
	}
	CALL(fi_getinfo(FI_VERSION(2, 0), "127.0.0.1", "0", FI_SOURCE, hints, &info));
	fi_freeinfo(hints);
	return info;
}

/* @key: NULL: it has none */
static inline void open_side(struct side *s, const char *level, const uint8_t *key)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	size_t len = sizeof(s->name);

	memset(s, 0, sizeof(*s));
	setenv("FI_SECURITY", level, 1);
	s->info = get_info(key);
	CALL(fi_fabric(s->info->fabric_attr, &s->fabric, NULL));
	CALL(fi_domain(s->fabric, s->info, &s->domain, NULL));
	CALL(fi_cq_open(s->domain, &cq, &s->cq, NULL));
	CALL(fi_av_open(s->domain, &av, &s->av, NULL));
	CALL(fi_endpoint(s->domain, s->info, &s->ep, NULL));
	CALL(fi_ep_bind(s->ep, &s->cq->fid, FI_SEND | FI_RECV));
	CALL(fi_ep_bind(s->ep, &s->av->fid, 0));
	CALL(fi_enable(s->ep));
	CALL(fi_getname(&s->ep->fid, &s->name, &len));
}

static inline void close_side(struct side *s)
{
	CALL(fi_close(&s->ep->fid));
	CALL(fi_close(&s->av->fid));
	CALL(fi_close(&s->cq->fid));
	CALL(fi_close(&s->domain->fid));
	CALL(fi_close(&s->fabric->fid));
	fi_freeinfo(s->info);
}

static inline fi_addr_t knows(struct side *s, const struct sockaddr_in *addr)
{
	fi_addr_t to;

	CHECK(fi_av_insert(s->av, addr, 1, &to, 0, NULL) == 1);
	return to;
}

/* poll_side - 1: a completion; -1: an error, in s->err. */
static inline int poll_side(struct side *s)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry entry;
	ssize_t ret = fi_cq_read(s->cq, &entry, 1);

	if (ret != -FI_EAVAIL)
		return ret == 1;
	CHECK(fi_cq_readerr(s->cq, &err, 0) == 1);
	s->err = err.err;
	return -1;
}

static inline void post_recv(struct side *s)
{
	memset(s->buf, 0, sizeof(s->buf));
	CALL(fi_trecv(s->ep, s->buf, sizeof(s->buf), NULL, FI_ADDR_UNSPEC, 1, 0, NULL));
}

static inline void post_send(struct side *s, fi_addr_t to)
{
	ssize_t ret;

	while ((ret = fi_tsend(s->ep, message, sizeof(message), NULL, to, 1, NULL)) == -FI_EAGAIN)
		poll_side(s);
	CALL(ret);
}

#endif
