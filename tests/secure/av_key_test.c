/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Keys of address vectors (FI_AV_AUTH_KEY): an endpoint proves the key of its vector, and peers with another one are
 * refused, over each provider that protects.
 */
#include "side.h"

#include <rdma/fi_rma.h>

#include "obj/av_key.h"

#define WAIT_MS 20000

static uint8_t keys[2][SIDE_KEY_SIZE];
static char memory[64];

/* An endpoint with the key of its vector. */
struct node {
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	fi_addr_t key;
	char name[128];
};

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;


static struct fi_info *hints_new(void)
{
	struct fi_info *hints = fi_allocinfo();

	CHECK(hints);
	hints->caps = FI_TAGGED | FI_RMA | FI_SOURCE | FI_DIRECTED_RECV | FI_AV_USER_ID;
	hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;	/* the result of a short write, too */
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->auth_key_size = FI_AV_AUTH_KEY;
	hints->domain_attr->max_ep_auth_key = 1;
	hints->domain_attr->mr_mode = FI_MR_PROV_KEY | FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_LOCAL;
	hints->fabric_attr->prov_name = strdup(getenv("PROV"));
	return hints;
}

static void open_domain(void)
{
	struct fi_info *hints = hints_new();
	const char *host = strcmp(getenv("PROV"), "shm") ? "127.0.0.1" : NULL;

	CALL(fi_getinfo(FI_VERSION(2, 0), host, NULL, host ? FI_SOURCE : 0, hints, &info));
	fi_freeinfo(hints);
	CHECK(info->domain_attr->auth_key_size == FI_AV_AUTH_KEY && !info->domain_attr->auth_key);
	CHECK(info->domain_attr->max_ep_auth_key == 1);
	CALL(fi_fabric(info->fabric_attr, &fabric, NULL));
	CALL(fi_domain(fabric, info, &domain, NULL));
}

static void close_domain(void)
{
	CALL(fi_close(&domain->fid));
	CALL(fi_close(&fabric->fid));
	fi_freeinfo(info);
}

/* make_node - @key: NULL: its vector has none, and it is not enabled */
static void make_node(struct node *n, const uint8_t *key, uint64_t av_flags)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_av_attr av = { .flags = av_flags };
	size_t len = sizeof(n->name);

	CALL(fi_cq_open(domain, &cq, &n->cq, NULL));
	CALL(fi_av_open(domain, &av, &n->av, NULL));
	CALL(fi_endpoint(domain, info, &n->ep, NULL));
	CALL(fi_ep_bind(n->ep, &n->cq->fid, FI_SEND | FI_RECV));
	CALL(fi_ep_bind(n->ep, &n->av->fid, 0));
	if (!key)
		return;
	CALL(fi_av_insert_auth_key(n->av, key, SIDE_KEY_SIZE, &n->key, 0));
	CALL(fi_enable(n->ep));
	CALL(fi_getname(&n->ep->fid, n->name, &len));
}

static void close_node(struct node *n)
{
	CALL(fi_close(&n->ep->fid));
	CALL(fi_close(&n->av->fid));
	CALL(fi_close(&n->cq->fid));
}

static fi_addr_t reach(struct node *from, const struct node *to)
{
	fi_addr_t addr = from->key;

	CHECK(fi_av_insert(from->av, to->name, 1, &addr, FI_AUTH_KEY, NULL) == 1);
	return addr;
}

/* look - 1: a completion; 0: none; else its error, negative.  @src_p: [out] whose */
static int look(struct node *n, fi_addr_t *src_p)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret = fi_cq_readfrom(n->cq, &entry, 1, src_p);

	if (ret == -FI_EAGAIN)
		return 0;
	if (ret == 1)
		return 1;
	CHECK(ret == -FI_EAVAIL && fi_cq_readerr(n->cq, &err, 0) == 1);
	*src_p = err.src_addr;
	return -err.err;
}

/* tell - one message.  Returns what the receiver got, or, where the send failed, that; *@src_p is the source. */
static int tell(struct node *from, struct node *to, fi_addr_t addr, fi_addr_t *src_p)
{
	uint64_t until = now_ms() + WAIT_MS;
	fi_addr_t none;
	int sent = 0, got = 0;
	ssize_t ret;

	while ((ret = fi_tsend(from->ep, memory, 8, NULL, addr, 1, NULL)) == -FI_EAGAIN) {
		look(from, &none);
		look(to, src_p);
	}
	CALL(ret);
	while (!got && sent >= 0) {
		CHECK(now_ms() < until);
		if (!sent)
			sent = look(from, &none);
		got = look(to, src_p);
	}
	while (sent == 0)
		sent = look(from, &none);
	return got ? got : sent;
}

static void post(struct node *n, fi_addr_t from, uint64_t flags)
{
	static char in[64];
	struct iovec iov = { in, sizeof(in) };
	struct fi_msg_tagged msg = { .msg_iov = &iov, .iov_count = 1, .addr = from, .tag = 1 };

	CALL(fi_trecvmsg(n->ep, &msg, flags));
}

/* Holders of one key talk, and the key's fi_addr_t stands for all of them. */
static void one_key_talks(void **state)
{
	fi_addr_t to, back, src = 0;
	struct node a, b;

	open_domain();
	make_node(&a, keys[0], 0);
	make_node(&b, keys[0], 0);
	to = reach(&a, &b);
	post(&b, b.key, FI_AUTH_KEY);
	assert_int_equal(tell(&a, &b, to, &src), 1);
	assert_int_equal(src, FI_ADDR_NOTAVAIL);
	assert_int_equal(obj_av_key_source(obj_av_of(b.av)), b.key);
	back = reach(&b, &a);
	post(&b, FI_ADDR_UNSPEC, 0);
	assert_int_equal(tell(&a, &b, to, &src), 1);
	assert_int_equal(src, back);
	close_node(&a);
	close_node(&b);
	close_domain();
}

/* Of another key nothing arrives. */
static void another_key_is_refused(void **state)
{
	fi_addr_t src = 0;
	struct node a, b, c;

	open_domain();
	make_node(&a, keys[0], 0);
	make_node(&b, keys[0], 0);
	make_node(&c, keys[1], 0);
	post(&b, FI_ADDR_UNSPEC, 0);
	assert_int_equal(tell(&c, &b, reach(&c, &b), &src), -FI_EACCES);
	assert_int_equal(tell(&a, &b, reach(&a, &b), &src), 1);
	close_node(&a);
	close_node(&b);
	close_node(&c);
	close_domain();
}

/* A vector of user ids names senders, and the key, once they have one. */
static void user_ids_name_senders(void **state)
{
	fi_addr_t to, back, src = 0;
	struct node a, b;

	open_domain();
	make_node(&a, keys[0], 0);
	make_node(&b, keys[0], FI_AV_USER_ID);
	to = reach(&a, &b);
	post(&b, FI_ADDR_UNSPEC, 0);
	assert_int_equal(tell(&a, &b, to, &src), 1);
	assert_int_equal(src, FI_ADDR_NOTAVAIL);
	assert_int_equal(obj_av_key_source(obj_av_of(b.av)), FI_ADDR_NOTAVAIL);
	CALL(fi_av_set_user_id(b.av, b.key, 77, FI_AUTH_KEY));
	assert_int_equal(obj_av_key_source(obj_av_of(b.av)), 77);
	back = reach(&b, &a);
	post(&b, FI_ADDR_UNSPEC, 0);
	assert_int_equal(tell(&a, &b, to, &src), 1);
	assert_int_equal(src, FI_ADDR_NOTAVAIL);
	CALL(fi_av_set_user_id(b.av, back, 78, 0));
	post(&b, FI_ADDR_UNSPEC, 0);
	assert_int_equal(tell(&a, &b, to, &src), 1);
	assert_int_equal(src, 78);
	CALL(fi_av_set_user_id(b.av, back, 79, 0));
	post(&b, FI_ADDR_UNSPEC, 0);
	assert_int_equal(tell(&a, &b, to, &src), 1);
	assert_int_equal(src, 79);
	close_node(&a);
	close_node(&b);
	close_domain();
}

/* write_to - Returns 0, or the error of the completion. */
static int write_to(struct node *from, struct node *to, struct fid_mr *mr)
{
	bool virt = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
	uint64_t at = virt ? (uintptr_t) memory + 8 : 8, until = now_ms() + WAIT_MS;
	fi_addr_t addr = reach(from, to), none;
	ssize_t ret;
	int got;

	do {
		ret = fi_write(from->ep, memory, 8, NULL, addr, at, fi_mr_key(mr), NULL);
		look(to, &none);
	} while (ret == -FI_EAGAIN && !look(from, &none));
	CALL(ret);
	while (!(got = look(from, &none))) {
		CHECK(now_ms() < until);
		look(to, &none);
	}
	return got < 0 ? -got : 0;
}

/* A region is for the peers of the key that it names, also where another endpoint of the domain has another one. */
static void regions_have_a_key(void **state)
{
	struct fi_mr_auth_key named;
	struct iovec iov = { memory, sizeof(memory) };
	struct fi_mr_attr attr = {
		.mr_iov = &iov, .iov_count = 1, .access = FI_REMOTE_WRITE, .auth_key = (uint8_t *) &named,
		.auth_key_size = sizeof(named), .requested_key = 5,
	};
	struct node target[2], peer[2];
	struct fid_mr *mr;
	int i;

	open_domain();
	for (i = 0; i < 2; i++) {
		make_node(&target[i], keys[i], 0);
		make_node(&peer[i], keys[i], 0);
	}
	named = (struct fi_mr_auth_key) { target[0].av, 3 };
	assert_int_equal(fi_mr_regattr(domain, &attr, 0, &mr), -FI_EOPNOTSUPP);
	assert_int_equal(fi_mr_regattr(domain, &attr, FI_AUTH_KEY, &mr), -FI_EOPNOTSUPP);
	attr.auth_key_size = SIDE_KEY_SIZE;
	assert_int_equal(fi_mr_regattr(domain, &attr, 0, &mr), -FI_EINVAL);
	attr.auth_key_size = sizeof(named);
	for (i = 0; i < 2; i++) {
		named.src_addr = i ? target[0].key : FI_ADDR_UNSPEC;
		CALL(fi_mr_regattr(domain, &attr, i ? FI_AUTH_KEY : 0, &mr));
		assert_int_equal(write_to(&peer[0], &target[0], mr), 0);
		assert_int_equal(write_to(&peer[1], &target[1], mr), FI_EACCES);
		CALL(fi_close(&mr->fid));
	}
	for (i = 0; i < 2; i++) {
		close_node(&target[i]);
		close_node(&peer[i]);
	}
	close_domain();
}

/* What cannot be is refused, and an endpoint without a key is not enabled. */
static void misuse_is_refused(void **state)
{
	char text[SIDE_KEY_SIZE];
	uint8_t found[SIDE_KEY_SIZE + 8];
	size_t len = sizeof(found);
	struct node n, later;
	fi_addr_t addr, key;

	memset(text, 'p', sizeof(text));	/* a password */
	open_domain();
	make_node(&later, NULL, 0);
	assert_int_equal(fi_enable(later.ep), -FI_EACCES);
	assert_logged("before fi_av_insert_auth_key()");
	CALL(fi_av_insert_auth_key(later.av, keys[0], SIDE_KEY_SIZE, &later.key, 0));
	CALL(fi_av_remove(later.av, &later.key, 1, FI_AUTH_KEY));
	assert_int_equal(fi_av_lookup_auth_key(later.av, later.key, found, &len), -FI_EINVAL);
	close_node(&later);

	make_node(&n, keys[0], 0);
	CALL(fi_av_insert_auth_key(n.av, keys[0], SIDE_KEY_SIZE, &key, 0));
	assert_int_equal(key, n.key);
	assert_int_equal(fi_av_insert_auth_key(n.av, keys[1], SIDE_KEY_SIZE, &key, 0), -FI_ENOSPC);
	assert_int_equal(fi_av_insert_auth_key(n.av, keys[1], SIDE_KEY_SIZE, &key, FI_MORE), -FI_EINVAL);
	assert_int_equal(fi_av_insert_auth_key(n.av, keys[1], 3, &key, 0), -FI_EINVAL);
	assert_int_equal(fi_av_insert_auth_key(n.av, text, sizeof(text), &key, 0), -FI_EINVAL);
	assert_int_equal(fi_av_remove(n.av, &n.key, 1, FI_AUTH_KEY), -FI_EBUSY);
	addr = n.key;
	assert_int_equal(fi_av_insert(n.av, n.name, 1, &addr, 0, NULL), -FI_EINVAL);
	assert_int_equal(fi_av_insert(n.av, n.name, 1, &addr, FI_AUTH_KEY | FI_AV_USER_ID, NULL), -FI_EINVAL);
	addr = 3;
	assert_int_equal(fi_av_insert(n.av, n.name, 1, &addr, FI_AUTH_KEY, NULL), 0);
	assert_int_equal(addr, FI_ADDR_NOTAVAIL);
	addr = reach(&n, &n);
	len = 4;
	CALL(fi_av_lookup_auth_key(n.av, addr, found, &len));
	assert_true(len == SIDE_KEY_SIZE && !memcmp(found, keys[0], 4));
	len = sizeof(found);
	CALL(fi_av_lookup_auth_key(n.av, n.key, found, &len));
	assert_true(len == SIDE_KEY_SIZE && !memcmp(found, keys[0], len));
	len = sizeof(n.name);
	assert_int_equal(fi_av_lookup(n.av, n.key, n.name, &len), -FI_EINVAL);
	close_node(&n);
	close_domain();
}

static int run_in_child(const char *prov, const char *level)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_key_talks),
		cmocka_unit_test(another_key_is_refused),
		cmocka_unit_test(user_ids_name_senders),
		cmocka_unit_test(regions_have_a_key),
		cmocka_unit_test(misuse_is_refused),
	};
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		printf("# %s, %s\n", prov, level);
		setenv("PROV", prov, 1);
		setenv("FI_SECURITY", level, 1);
		CALL(fi_import_log(FI_VERSION(2, 0), 0, &log_fid));
		exit(cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

/* What has no address vector, or no keys, is not offered. */
static int not_offered(const char *prov, enum fi_ep_type type)
{
	struct fi_info *hints, *found;
	int ret;

	setenv("PROV", prov, 1);
	hints = hints_new();
	hints->caps = 0;
	hints->ep_attr->type = type;
	ret = fi_getinfo(FI_VERSION(2, 0), NULL, NULL, 0, hints, &found);
	fi_freeinfo(hints);
	if (ret != -FI_ENODATA)
		printf("%s: FI_AV_AUTH_KEY: %d\n", prov, ret);
	return ret != -FI_ENODATA;
}

int main(void)
{
	static const char *const provs[] = {
		"tcp",
#if HAVE_SHM
		"shm",
#endif
#if HAVE_RXM
		"tcp;ofi_rxm",
#endif
#if HAVE_RXD
		"udp;ofi_rxd",
#endif
	};
	int failed = 0, local_on;
	size_t i;

	setvbuf(stdout, NULL, _IONBF, 0);
	unsetenv("FI_AUTH_KEY_FILE");
	memset(keys[0], 0xa1, SIDE_KEY_SIZE);
	memset(keys[1], 0xb2, SIDE_KEY_SIZE);
	failed += not_offered("tcp", FI_EP_MSG) + not_offered("udp", FI_EP_DGRAM) + not_offered("loop", FI_EP_RDM);
	for (local_on = 0; local_on < 2; local_on++) {
		setenv("FI_TCP_LOCAL", local_on ? "1" : "0", 1);
		setenv("FI_OFI_RXM_LOCAL", local_on ? "1" : "0", 1);
		setenv("FI_OFI_RXD_LOCAL", local_on ? "1" : "0", 1);
		for (i = 0; i < sizeof(provs) / sizeof(provs[0]); i++)
			failed += run_in_child(provs[i], "encrypt") + run_in_child(provs[i], "auth");
	}
	return failed ? 1 : 0;
}
