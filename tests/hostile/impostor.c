/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * impostor - another process of a peer's host claims to be that peer.
 *
 * It sends the handshakes that the peer would send if it had been restarted, or had lost its
 * connection, which any user of that host can do: the source address is right, and the peer's
 * epoch is told to everybody who connects to it.  The connection of the peer stays, and each of
 * its messages arrives; the impostor is never accepted.  Over tcp and tcp;ofi_rxm: a
 * connection of the others proves who it is (shm), or its source port does (rxd).
 */
#include "peer.h"
#include "foreign/rxmf/cm.h"
#include "rxm/wire.h"
#include "tcp/hello.h"

#define ROUNDS_MS 2500		/* of which each second has a check */

static struct node node;
static struct target target;
static struct fi_context2 ctx[2];
static char word[64];

/* ---- the honest peer ------------------------------------------------------------------- */

static void run_honest(void)
{
	fi_addr_t to = peer_open(&node, &target);
	struct fi_cq_tagged_entry entry;
	struct node_name mine = node_name(&node, 0);
	int err;

	for (;;) {
		CALL(fi_trecv(node.ep, word, sizeof(word), NULL, FI_ADDR_UNSPEC, 2, 0, &ctx[0]));
		while (fi_tinject(node.ep, &mine, sizeof(mine), to, 1))
			fi_cq_read(node.cq, NULL, 0);
		CHECK(node_reap(&node, &entry, &err, 60000), "the program does not answer");
		CHECK(!err, "%s", fi_strerror(err));
	}
}

/* ---- the impostor ------------------------------------------------------------------------ */

/* ask - one handshake with the endpoint at @to.  False: no connection, or no answer. */
static bool ask(const struct node_name *to, const struct tcp_hello *hello, struct tcp_hello *answer)
{
	uint8_t buf[TCP_WIRE_HELLO_SIZE + TCP_WIRE_DATA_MAX];
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	size_t have = 0;
	ssize_t ret = 0;
	bool ok = false;

	tcp_hello_pack(hello, buf);
	if (!connect(fd, (const struct sockaddr *) &to->ip, sizeof(to->ip)))
		ret = send(fd, buf, TCP_WIRE_HELLO_SIZE, MSG_NOSIGNAL);
	while (ret > 0 && !ok) {
		ret = recv(fd, buf + have, tcp_hello_need(buf, have) - have, 0);
		if (ret > 0)
			have += (size_t) ret;
		ok = have && tcp_hello_parse(buf, have, answer) == TCP_HELLO_OK;
	}
	close(fd);
	return ok;
}

static void run_impostor(void)
{
	struct tcp_hello hello = {
		.type = TCP_WIRE_HELLO, .kind = TCP_WIRE_RDM, .max_payload = 1 << 20, .epoch = 7,
		.serial = 1,
	}, answer;
	struct node_name honest;
	uint64_t epoch = 0;
	unsigned i;

	node_read(STDIN_FILENO, &target, sizeof(target));
	node_read(STDIN_FILENO, &honest, sizeof(honest));
	/* any address will do to learn the epoch */
	hello.addr.in = honest.ip;
	hello.addr.in.sin_port = htons(1);
	if (ask(&honest, &hello, &answer))
		epoch = answer.epoch;
	CHECK(epoch, "the peer does not answer");
	hello.addr.in = honest.ip;
	for (i = 0; ; i++) {
		hello.epoch = i % 2 ? epoch : i + 10;
		hello.serial = i % 4 < 2 ? UINT64_MAX - i : i + 1;
		hello.prev = i % 3 ? UINT64_MAX : 0;
		hello.lane = i % 5 == 4;
		if (ask(&target.name, &hello, &answer))
			node_write(STDOUT_FILENO, &answer.type, sizeof(answer.type));
		usleep(1000);
	}
}

/* ---- the impostor over connected endpoints ------------------------------------------------- */

/* over_rxm - a request of the native format, or of the published one. */
static size_t over_rxm(unsigned i, const struct node_name *honest, uint8_t *data)
{
	struct rxmf_cm_request request = {
		.credits = RXMF_CM_CREDITS_OFF, .eager_limit = 16384, .rx_size = 256, .process = i + 10,
		.conn_id = 1, .port = ntohs(honest->ip.sin_port),
	};
	struct rxm_handshake hs = {
		.id = { .epoch = i + 10, .serial = i + 1, .prev = UINT32_MAX },
		.buf_size = 16384, .credits = 4, .rndvs = 4, .addr_len = sizeof(honest->ip),
	};

	memcpy(hs.addr, &honest->ip, sizeof(honest->ip));
	return i % 2 ? rxmf_cm_put_request(data, &request) : rxm_handshake_put(data, &hs);
}

/* connect_as - Returns whether the request was accepted. */
static bool connect_as(struct fi_info *info, struct fid_domain *domain, struct fid_eq *eq,
		       struct fid_cq *cq, const uint8_t *data, size_t len)
{
	struct fi_eq_err_entry err = { 0 };
	struct fi_eq_cm_entry entry;
	struct fid_ep *ep;
	uint32_t event = 0;
	ssize_t ret;

	CALL(fi_endpoint(domain, info, &ep, NULL));
	CALL(fi_ep_bind(ep, &eq->fid, 0));
	CALL(fi_ep_bind(ep, &cq->fid, FI_SEND | FI_RECV));
	CALL(fi_enable(ep));
	CALL(fi_connect(ep, info->dest_addr, data, len));
	ret = fi_eq_sread(eq, &event, &entry, sizeof(entry), 10000, 0);
	if (ret == -FI_EAVAIL)
		fi_eq_readerr(eq, &err, 0);
	CALL(fi_close(&ep->fid));
	return ret > 0 && event == FI_CONNECTED;
}

static void run_impostor_over_msg(void)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_info *hints = fi_allocinfo(), *info;
	uint8_t data[RXM_HANDSHAKE_MAX + RXMF_CM_REQUEST];
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct node_name honest;
	enum tcp_wire_type type;
	struct fid_eq *eq;
	struct fid_cq *cq;
	unsigned i;

	node_read(STDIN_FILENO, &target, sizeof(target));
	node_read(STDIN_FILENO, &honest, sizeof(honest));
	hints->ep_attr->type = FI_EP_MSG;
	hints->caps = FI_MSG;
	hints->fabric_attr->prov_name = strdup("tcp");
	hints->addr_format = FI_SOCKADDR_IN;
	hints->dest_addr = malloc(sizeof(target.name.ip));
	memcpy(hints->dest_addr, &target.name.ip, sizeof(target.name.ip));
	hints->dest_addrlen = sizeof(target.name.ip);
	CALL(fi_getinfo(FI_VERSION(1, 20), NULL, NULL, 0, hints, &info));
	CALL(fi_fabric(info->fabric_attr, &fabric, NULL));
	CALL(fi_domain(fabric, info, &domain, NULL));
	CALL(fi_eq_open(fabric, &eq_attr, &eq, NULL));
	CALL(fi_cq_open(domain, &cq_attr, &cq, NULL));
	for (i = 0; ; i++) {
		type = connect_as(info, domain, eq, cq, data, over_rxm(i, &honest, data)) ?
		       TCP_WIRE_WELCOME : TCP_WIRE_REFUSE;
		node_write(STDOUT_FILENO, &type, sizeof(type));
		usleep(1000);
	}
}

/* ---- the program -------------------------------------------------------------------------- */

/* exchange - answer one message of the honest peer.  Returns its address in @name. */
static void exchange(struct node_name *name)
{
	static fi_addr_t to = FI_ADDR_NOTAVAIL;
	struct fi_cq_tagged_entry entry;
	int err;

	CALL(fi_trecv(node.ep, name, sizeof(*name), NULL, FI_ADDR_UNSPEC, 1, 0, &ctx[1]));
	CHECK(node_reap(&node, &entry, &err, 60000), "nothing comes from the honest peer");
	CHECK(!err && entry.op_context == &ctx[1], "%s", fi_strerror(err));
	if (to == FI_ADDR_NOTAVAIL)
		to = node_insert(&node, name);
	while (fi_tinject(node.ep, "", 1, to, 2))
		fi_cq_read(node.cq, NULL, 0);
}

/* refusals - read what the impostor was answered since. */
static unsigned refusals(struct peer *impostor)
{
	enum tcp_wire_type type;
	unsigned cnt = 0;

	for (; peer_speaks(impostor->in); cnt++) {
		node_read(impostor->in, &type, sizeof(type));
		CHECK(type == TCP_WIRE_REFUSE, "the impostor was accepted");
	}
	return cnt;
}

int main(int argc, char **argv)
{
	const char *prov = getenv("TEST_PROVIDER");
	struct peer honest, impostor;
	unsigned refused = 0, cnt = 0;
	struct node_name name;
	uint64_t end;

	if (prov && strcmp(prov, "tcp") && strcmp(prov, "tcp;ofi_rxm")) {
		printf("only connections over TCP are identified by what a handshake says\n");
		return SKIPPED;
	}
	node_stay_far(1);
	setenv("FI_LOG_LEVEL", "none", 0);
	if (argc > 1 && !strcmp(argv[1], "honest"))
		run_honest();
	else if (argc > 1 && prov && strcmp(prov, "tcp"))
		run_impostor_over_msg();
	else if (argc > 1)
		run_impostor();
	node_open(&node, "127.0.0.1", 0, 1, CAPS, FI_PROGRESS_MANUAL);
	target.name = node_name(&node, 0);
	honest = peer_start("honest", &target);
	exchange(&name);
	impostor = peer_start("impostor", &target);
	node_write(impostor.out, &name, sizeof(name));
	for (end = node_now_ms() + ROUNDS_MS; node_now_ms() < end; cnt++) {
		exchange(&name);
		refused += refusals(&impostor);
	}
	printf("%u messages of the peer; the impostor was refused %u times\n", cnt, refused);
	CHECK(refused > 10 && cnt > 10);
	peer_end(&impostor);
	/* the end of the peer is known: another process may have its address now */
	peer_end(&honest);
	honest = peer_start("honest", &target);
	exchange(&name);
	peer_end(&honest);
	node_close(&node);
	return 0;
}
