/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * What the network carries: a packet socket sees every packet of the loopback interface while each call moves bytes
 * that stand nowhere else.  They are in it at the level auth, which shows that they would be found, and are not at
 * encrypt.  Needs CAP_NET_RAW.
 */
#include "tests/secure/side.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <rdma/fi_rma.h>
#include <sys/random.h>

#define WAIT_MS 60000
#define LONGEST 300000
#define MARK_SIZE 8		/* all of the shortest message */
#define RCVBUF (32 << 20)

struct node {
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_mr *mr;
	uint8_t buf[LONGEST];
	fi_addr_t other;
	unsigned done;
};

static struct node nodes[2];
static struct fid_domain *domain;
static struct fi_info *info;
static uint8_t key[SIDE_KEY_SIZE], mark[MARK_SIZE], source[LONGEST];
static int network;
static unsigned seen;		/* packets with the mark */

/* ---- the network ------------------------------------------------------------------------------ */

static int open_network(void)
{
	struct sockaddr_ll lo = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_ALL)), size = RCVBUF;

	lo.sll_ifindex = (int) if_nametoindex("lo");
	if (fd < 0 || bind(fd, (struct sockaddr *) &lo, sizeof(lo)))
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	return fd;
}

static void watch_network(void)
{
	static uint8_t packet[1 << 17];
	ssize_t len;

	while ((len = recv(network, packet, sizeof(packet), 0)) > 0)
		seen += memmem(packet, (size_t) len, mark, sizeof(mark)) != NULL;
}

/* ---- endpoints -------------------------------------------------------------------------------- */

static void find_info(void)
{
	struct fi_info *hints = fi_allocinfo();

	CHECK(hints);
	hints->caps = FI_MSG | FI_TAGGED | FI_RMA;
	hints->mode = FI_CONTEXT;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->data_progress = hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = strdup(getenv("PROV"));
	hints->ep_attr->auth_key = malloc(SIDE_KEY_SIZE);
	memcpy(hints->ep_attr->auth_key, key, SIDE_KEY_SIZE);
	hints->ep_attr->auth_key_size = SIDE_KEY_SIZE;
	CALL(fi_getinfo(FI_VERSION(2, 0), "127.0.0.1", "0", FI_SOURCE, hints, &info));
	fi_freeinfo(hints);
}

static void open_node(struct node *n)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_CONTEXT };
	struct fi_av_attr av = { .type = FI_AV_TABLE };

	CALL(fi_cq_open(domain, &cq, &n->cq, NULL));
	CALL(fi_av_open(domain, &av, &n->av, NULL));
	CALL(fi_endpoint(domain, info, &n->ep, NULL));
	CALL(fi_ep_bind(n->ep, &n->cq->fid, FI_TRANSMIT | FI_RECV));
	CALL(fi_ep_bind(n->ep, &n->av->fid, 0));
	CALL(fi_enable(n->ep));
	CALL(fi_mr_reg(domain, n->buf, LONGEST, FI_REMOTE_WRITE | FI_REMOTE_READ, 0, n == nodes, 0, &n->mr, NULL));
}

static void introduce(struct node *n, struct node *other)
{
	uint8_t name[128];
	size_t len = sizeof(name);

	CALL(fi_getname(&other->ep->fid, name, &len));
	CHECK(fi_av_insert(n->av, name, 1, &n->other, 0, NULL) == 1);
}

static void close_node(struct node *n)
{
	CALL(fi_close(&n->ep->fid));
	CALL(fi_close(&n->mr->fid));
	CALL(fi_close(&n->av->fid));
	CALL(fi_close(&n->cq->fid));
}

static void poll_nodes(void)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_entry entry;
	ssize_t ret;
	int i;

	for (i = 0; i < 2; i++) {
		ret = fi_cq_read(nodes[i].cq, &entry, 1);
		if (ret == -FI_EAVAIL) {
			CHECK(fi_cq_readerr(nodes[i].cq, &err, 0) == 1);
			fail_msg("%s", fi_strerror(err.err));
		}
		nodes[i].done += ret == 1;
	}
	watch_network();
}

static void wait_for(unsigned here, unsigned there)
{
	uint64_t until = now_ms() + WAIT_MS;

	while (nodes[0].done < here || nodes[1].done < there) {
		poll_nodes();
		CHECK(now_ms() < until);
	}
	nodes[0].done = nodes[1].done = 0;
}

/* ---- calls ------------------------------------------------------------------------------------ */

enum call { SEND, INJECT, TSEND, TINJECT, WRITE, INJECT_WRITE, READ, CALLS };

static ssize_t post(enum call call, struct fi_context *context, size_t len)
{
	struct node *n = &nodes[0];
	uint64_t at = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t) (uintptr_t) nodes[1].buf : 0;
	uint64_t rkey = fi_mr_key(nodes[1].mr);

	switch (call) {
	case SEND:
		return fi_send(n->ep, source, len, NULL, n->other, context);
	case INJECT:
		return fi_inject(n->ep, source, len, n->other);
	case TSEND:
		return fi_tsend(n->ep, source, len, NULL, n->other, 1, context);
	case TINJECT:
		return fi_tinject(n->ep, source, len, n->other, 1);
	case WRITE:
		return fi_write(n->ep, source, len, NULL, n->other, at, rkey, context);
	case INJECT_WRITE:
		return fi_inject_write(n->ep, source, len, n->other, at, rkey);
	default:
		return fi_read(n->ep, n->buf, len, NULL, n->other, at, rkey, context);
	}
}

static bool is_tagged(enum call call)
{
	return call == TSEND || call == TINJECT;
}

static bool is_inject(enum call call)
{
	return call == INJECT || call == TINJECT || call == INJECT_WRITE;
}

static void move_bytes(enum call call, size_t len)
{
	static struct fi_context contexts[2];
	bool receives = call < WRITE;
	uint64_t until = now_ms() + WAIT_MS;
	ssize_t ret;

	memcpy(nodes[1].buf, source, call == READ ? LONGEST : 0);
	if (call != READ)
		memset(nodes[1].buf, 0, LONGEST);
	if (receives && is_tagged(call))
		CALL(fi_trecv(nodes[1].ep, nodes[1].buf, LONGEST, NULL, FI_ADDR_UNSPEC, 1, 0, &contexts[1]));
	else if (receives)
		CALL(fi_recv(nodes[1].ep, nodes[1].buf, LONGEST, NULL, FI_ADDR_UNSPEC, &contexts[1]));
	while ((ret = post(call, &contexts[0], len)) == -FI_EAGAIN) {
		poll_nodes();
		CHECK(now_ms() < until);
	}
	CALL(ret);
	wait_for(!is_inject(call), receives);
	while (memcmp(call == READ ? nodes[0].buf : nodes[1].buf, source, len)) {	/* writes complete before they arrive */
		poll_nodes();
		CHECK(now_ms() < until);
	}
}

static void each_call(bool visible)
{
	static const size_t lens[] = { MARK_SIZE, 1000, 30000, LONGEST };
	enum call call;
	size_t i;

	for (call = SEND; call < CALLS; call++)
		for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
			if (is_inject(call) && lens[i] > info->tx_attr->inject_size)
				continue;
			seen = 0;
			move_bytes(call, lens[i]);
			watch_network();
			if (!seen != !visible)
				fail_msg("call %d, %zu bytes: %u packets with the bytes of the program", call, lens[i], seen);
		}
}

static void network_sees(const char *prov, const char *level, bool visible)
{
	struct fid_fabric *fabric;
	size_t i;

	printf("# %s, %s\n", prov, level);
	setenv("PROV", prov, 1);
	setenv("FI_SECURITY", level, 1);
	CALL(fi_import_log(FI_VERSION(2, 0), 0, &log_fid));
	CHECK(getrandom(key, sizeof(key), 0) == sizeof(key) && getrandom(mark, sizeof(mark), 0) == sizeof(mark));
	for (i = 0; i + MARK_SIZE <= LONGEST; i += MARK_SIZE)
		memcpy(source + i, mark, MARK_SIZE);
	find_info();
	CALL(fi_fabric(info->fabric_attr, &fabric, NULL));
	CALL(fi_domain(fabric, info, &domain, NULL));
	memset(nodes, 0, sizeof(nodes));
	for (i = 0; i < 2; i++)
		open_node(&nodes[i]);
	introduce(&nodes[0], &nodes[1]);
	introduce(&nodes[1], &nodes[0]);
	each_call(visible);
	for (i = 0; i < 2; i++)
		close_node(&nodes[i]);
	CALL(fi_close(&domain->fid));
	CALL(fi_close(&fabric->fid));
	fi_freeinfo(info);
}

static const char *const provs[] = {
	"tcp",
#if HAVE_RXM
	"tcp;ofi_rxm",
#endif
#if HAVE_UDP && HAVE_RXD
	"udp;ofi_rxd",
#endif
};

/* The level is read once in a process. */
static void in_child(const char *level, bool visible)
{
	int status = 0;
	pid_t pid;
	size_t i;

	for (i = 0; i < sizeof(provs) / sizeof(provs[0]); i++) {
		pid = fork();
		CHECK(pid >= 0);
		if (!pid) {
			network_sees(provs[i], level, visible);
			exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		assert_int_equal(status, 0);
	}
}

static void auth_shows_the_bytes(void **state)
{
	in_child("auth", true);
}

static void encrypt_hides_the_bytes(void **state)
{
	in_child("encrypt", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(auth_shows_the_bytes),
		cmocka_unit_test(encrypt_hides_the_bytes),
	};

	network = open_network();
	if (network < 0) {
		fprintf(stderr, "SKIP no packet socket: %s\n", strerror(errno));
		return 77;
	}
	setenv("FI_TCP_LOCAL", "0", 1);
	setenv("FI_OFI_RXM_LOCAL", "0", 1);
	setenv("FI_OFI_RXD_LOCAL", "0", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
