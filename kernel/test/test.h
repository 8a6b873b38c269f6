/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * test.h - what the files of kofi_test.ko share: cases, and two sides that talk.
 */
#ifndef KOFI_TEST_H
#define KOFI_TEST_H

#include <linux/seq_file.h>

#include <kofi/fi_atomic.h>
#include <kofi/fi_cm.h>
#include <kofi/fi_rma.h>
#include <kofi/fi_tagged.h>
#include <kofi/provider.h>

#define WAIT_MS		20000	/* the longest wait for anything that must happen */
#define VERSION		FI_VERSION(2, 6)

/* What is tested, from the module's parameters. */
struct test_args {
	const char	*prov;		/* provider */
	const char	*server;	/* address of the side that listens, or NULL */
	const char	*client;	/* address of the other one, or NULL */
	const char	*only;		/* part of the names of the cases to run, or NULL: all */
};

/* A run. */
struct test {
	struct seq_file		*out;
	struct test_args	args;
	unsigned int		cnt;
	unsigned int		failed;
	int			line;	/* where the current case failed, or 0 */
	long			value;	/* what was found there */
};

extern unsigned int test_cycles;	/* how often what opens and closes does so */

typedef void (*test_fn)(struct test *t);

void test_case(struct test *t, const char *name, test_fn fn);
void test_skip(struct test *t, const char *name, const char *why);

/* Ends the case when @cond does not hold; @got is shown. Needs a label "out". */
#define NEED(t, cond, got)						\
	do {								\
		if (!(cond)) {						\
			if (!(t)->line) {				\
				(t)->line = __LINE__;			\
				(t)->value = (long)(got);		\
			}						\
			goto out;					\
		}							\
	} while (0)
#define IS(t, expr, want)						\
	do {								\
		long got_ = (long)(expr);				\
		NEED(t, got_ == (long)(want), got_);			\
	} while (0)

/* What the other counters of an endpoint count. */
enum access {
	ACCESS_READ,
	ACCESS_WRITE,
	ACCESS_REMOTE_READ,
	ACCESS_REMOTE_WRITE,
	ACCESS_CNT
};

/* One end: all that it opened. */
struct side {
	struct fi_info		*info;
	struct fid_fabric	*fabric;
	struct fid_domain	*domain;
	struct fid_eq		*eq;
	struct fid_cq		*tx;
	struct fid_cq		*rx;
	struct fid_av		*av;
	struct fid_cntr		*cntr;		/* sends and receives */
	struct fid_cntr		*access[ACCESS_CNT];
	struct fid_ep		*srx;		/* or NULL */
	struct fid_ep		*ep;
	fi_addr_t		peer;		/* RDM: the other side */
};

/* Two sides that are connected, or that have each other's address. */
struct pair {
	struct side		a;	/* client */
	struct side		b;	/* server */
	struct fid_pep		*pep;
	enum fi_ep_type		type;
};

/* pair_open - for NEED: 0, or an error after which pair_close() is still due.
 *
 * @caps: of the endpoints
 */
extern bool pair_srx;	/* the server takes receives of a shared context */
int pair_open(struct test *t, struct pair *p, enum fi_ep_type type, uint64_t caps);
void pair_close(struct pair *p);

int info_get(struct test *t, enum fi_ep_type type, uint64_t caps, bool server,
	     struct fi_info **info_p);
int side_open(struct side *s, struct fi_info *info);
int side_ep(struct side *s, struct fi_info *info, uint64_t cq_flags);
void side_close(struct side *s);

int pep_open(struct side *s, struct fid_pep **pep_p);
int connect_to(struct side *s, struct fid_pep *pep, const void *param, size_t len);

/* wait_event_of - the next event; its number, or an error. @entry has room for data. */
int wait_event_of(struct fid_eq *eq, struct fi_eq_cm_entry *entry, size_t size);

/* wait_comp - the next completion; 0, or the error that it reports, or -FI_ETIMEDOUT. */
int wait_comp(struct fid_cq *cq, struct fi_cq_tagged_entry *entry);

/* A region of @s for its peer. */
struct region {
	struct fid_mr	*mr;
	uint64_t	addr;		/* for the peer */
};

int region_open(struct side *s, void *buf, size_t len, uint64_t access, struct region *r);

/* is_iwarp - the devices are of iWARP, which has less: no receiver that is not ready, reads of
 * one piece. */
static inline bool is_iwarp(const struct fi_info *info)
{
	return info->ep_attr->protocol == FI_PROTO_IWARP;
}

void fill(void *buf, size_t len, u32 seed);
bool check_fill(const void *buf, size_t len, u32 seed);

void test_registry(struct test *t);
void test_info(struct test *t);
void test_objects(struct test *t);
void test_connect(struct test *t);
void test_transfer(struct test *t, enum fi_ep_type type);
void test_rdm(struct test *t);
void test_multi(struct test *t, enum fi_ep_type type);
void test_atomic(struct test *t, enum fi_ep_type type);

/* test_cost - writes the instructions of transfer calls to @seq; 0 or an error. */
int test_cost(struct test *t, struct seq_file *seq);

#endif /* KOFI_TEST_H */
