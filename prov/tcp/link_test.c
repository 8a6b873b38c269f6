/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The link over real loopback sockets, under an engine that checks every packet.
 */
#include "obj/test/slow.h"
#include "tcp/test/script.h"

#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "progress/fdset.h"
#include "tcp/test/stream_check.h"

/* ---- RDM ---------------------------------------------------------------------------- */

static void packets_of_every_size_arrive_in_order(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	size_t i, size;

	for (i = 0; i < 1500; i++) {
		size = fake_draw() % 10 ? fake_draw() % 300 : fake_draw() % (TCP_PAYLOAD_MAX + 1);
		if (i % 97 == 0)
			size = i % 2 ? 0 : TCP_PAYLOAD_MAX;
		fake_send(ab, size, fake_draw() % 4 ? 0 : ENG_PKT_MORE);
		if (i % 3 == 0)
			fake_send(ba, fake_draw() % 20000, 0);
		if (fake_draw() % 4 == 0) {
			fake_poll();
			pull_both(a, b);
		}
		if (i % 500 == 0)
			a->later = b->later = (unsigned) (fake_draw() % 30);
	}
	a->later = b->later = 0;
	FAKE_UNTIL(20000, (pull_both(a, b), ba->rx_cnt == ab->tx_seq && ab->rx_cnt == ba->tx_seq &&
			   ab->done_cnt == ab->tx_seq && ba->done_cnt == ba->tx_seq));
	assert_int_equal(ab->down + ba->down, 0);
	assert_int_equal(ab->up, 1);
	assert_int_equal(ba->up, 1);
	fake_close(a, 100);
	fake_close(b, 100);
}

static void an_endpoint_talks_to_itself(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	struct eng_peer *aa = peer_at(a, a);
	size_t i;

	for (i = 0; i < 100; i++)
		fake_send(aa, i * 300, 0);
	FAKE_UNTIL(5000, (fake_pull_some(a), aa->rx_cnt == 100 && aa->done_cnt == 100));
	assert_int_equal(aa->down, 0);
	fake_close(a, 100);
}

static void a_slow_receiver_holds_the_sender_back(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	size_t i;

	fake_send(ab, 0, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), ba->rx_cnt == 1));
	b->later = 100;
	for (i = 0; i < 40000; i++) {
		fake_send(ab, i % 7 ? 500 : 9000, i % 2 ? ENG_PKT_MORE : 0);
		if (i % 64 == 0)
			fake_poll();
	}
	assert_true(ab->done_cnt < ab->tx_seq);		/* some wait in user space */
	b->later = 50;
	FAKE_UNTIL(20000, (fake_pull_some(b), ba->rx_cnt == 40001 && ab->done_cnt == 40001));
	assert_int_equal(ab->down + ba->down, 0);
	fake_close(a, 100);
	fake_close(b, 100);
}

static void send_short(struct eng_peer *peer, size_t cnt)
{
	while (cnt--)
		fake_send(peer, 100, 0);
}

static void send_longer(struct eng_peer *peer, size_t cnt)
{
	while (cnt--)
		fake_send(peer, 100000, 0);
}

static void what_was_sent_before_close_arrives(void **state)
{
	size_t i, cnt;

	/* close right after the first send of all, and of much */
	for (i = 0; i < 10; i++) {
		cnt = i % 2 ? 1 : 200;
		assert_int_equal(sent_before_close(i < 4 ? send_short : send_longer, cnt), cnt);
	}
}

static void sixty_four_endpoints_all_to_all(void **state)
{
	enum { N = 64 };
	struct eng_ep *ep[N];
	uint64_t got;
	int i, k;

	for (i = 0; i < N; i++)
		ep[i] = fake_ep(FI_EP_RDM, 0);
	for (i = 0; i < N; i++)
		for (k = 0; k < N; k++)
			fake_send(peer_at(ep[i], ep[k]), 64, 0);
	do {
		fake_poll();
		got = 0;
		for (i = 0; i < N; i++) {
			struct eng_peer *peer;

			fake_pull_some(ep[i]);
			list_for_each_entry(peer, &ep[i]->peers, node) {
				assert_int_equal(peer->down, 0);
				got += peer->rx_cnt;
			}
		}
	} while (got < N * N);
	for (i = 0; i < N; i++)
		fake_close(ep[i], 100);
}

static void a_forgotten_peer_costs_nothing(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0);
	struct eng_peer *ab = peer_at(a, b);

	fake_send(ab, 100, 0);
	fake_send(ab, 1000000, 0);	/* waits for the connection */
	a->link->ops->peer_put(a->link, ab);
	assert_int_equal(ab->lost_cnt, 2);
	assert_int_equal(fake_done_status, -FI_ECANCELED);
	memset(ab->chan, 0, sizeof(ab->chan));
	ab->wanted = false;
	ab->tx_seq = 0;
	fake_send(ab, 100, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt == 1));
	/* what was sent arrives although it is forgotten at once */
	fake_send(ab, 200, 0);
	a->link->ops->peer_put(a->link, ab);
	FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt == 2 && peer_at(b, a)->down));
	fake_close(a, 100);
	fake_close(b, 100);
}

/* ---- half-open ------------------------------------------------------------------------ */

static int open_socket(const union net_sa *to)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, &to->sa, sizeof(to->in)), 0);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

/* say - send some bytes, poll until the other side has answered and closed. */
static size_t say(const union net_sa *to, const void *bytes, size_t len, char *answer,
		  size_t room)
{
	uint64_t deadline = clock_deadline(3000);
	int fd = open_socket(to);
	size_t have = 0;
	ssize_t ret;

	assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), len);
	for (;;) {
		fake_poll();
		ret = recv(fd, answer + have, room - have, 0);
		if (!ret)
			break;
		if (ret > 0)
			have += (size_t) ret;
		else
			assert_int_equal(errno, EAGAIN);	/* no reset */
		assert_true(clock_ns() < deadline);
	}
	close(fd);
	return have;
}

static void assert_refusal(const char *answer, size_t len, uint32_t reason)
{
	struct tcp_hello hello;

	assert_int_equal(tcp_hello_parse((const uint8_t *) answer, len, &hello), TCP_HELLO_OK);
	assert_int_equal(hello.type, TCP_WIRE_REFUSE);
	assert_int_equal(hello.reason, reason);
	assert_true(hello.data_len > 10);
}

static void other_protocols_are_refused(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	union net_sa to = fake_name(a->link);
	struct tcp_hello hello = {
		.type = TCP_WIRE_HELLO,
		.kind = TCP_WIRE_RDM,
		.max_payload = 1,
		.addr = fake_loopback(5),
	};
	char answer[2048];
	uint8_t handshake[TCP_WIRE_HELLO_SIZE];
	size_t len;

	len = say(&to, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 27, answer, sizeof(answer));
	assert_true(len > 12);
	assert_memory_equal(answer, "HTTP/1.1 400", 12);

	/* others are closed without a byte of ours: TLS, and a fabric library's sockets, which crashed */
	len = say(&to, "\x16\x03\x01\x02\x00\x01", 6, answer, sizeof(answer));
	assert_int_equal(len, 0);
	len = say(&to, "\x02\x0c\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 32, answer,
		  sizeof(answer));
	assert_int_equal(len, 0);

	tcp_hello_pack(&hello, handshake);
	handshake[offsetof(struct tcp_wire_hello, version)] = 77;
	handshake[offsetof(struct tcp_wire_hello, oldest)] = 77;
	len = say(&to, handshake, sizeof(handshake), answer, sizeof(answer));
	assert_refusal(answer, len, CHAN_VERSION_BAD);

	/* the same link version, but another version of the engine's packets */
	tcp_hello_pack(&hello, handshake);
	handshake[offsetof(struct tcp_wire_hello, engine_oldest)] = ++handshake[offsetof(struct tcp_wire_hello, engine)];
	len = say(&to, handshake, sizeof(handshake), answer, sizeof(answer));
	assert_refusal(answer, len, CHAN_VERSION_BAD);

	hello.kind = TCP_WIRE_MSG;
	tcp_hello_pack(&hello, handshake);
	len = say(&to, handshake, sizeof(handshake), answer, sizeof(answer));
	assert_refusal(answer, len, CHAN_KIND_BAD);

	hello.kind = TCP_WIRE_RDM;
	hello.addr.in.sin_addr.s_addr = htonl(0x7f000002);	/* not where it connects from */
	tcp_hello_pack(&hello, handshake);
	len = say(&to, handshake, sizeof(handshake), answer, sizeof(answer));
	assert_refusal(answer, len, CHAN_ADDR_BAD);

	assert_true(list_empty(&a->peers));
	fake_close(a, 100);
}

static void a_peer_that_sends_garbage_hurts_itself_only(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0);
	union net_sa to = fake_name(a->link);
	struct eng_peer *ab = peer_at(a, b);
	struct tcp_hello hello = {
		.type = TCP_WIRE_HELLO,
		.kind = TCP_WIRE_RDM,
		.max_payload = 1 << 20,
		.addr = fake_loopback(5),
	};
	uint8_t bytes[TCP_WIRE_HELLO_SIZE + 4096];
	int round, fd;
	size_t i;

	fake_send(ab, 10, 0);
	for (round = 0; round < 60; round++) {
		struct eng_peer *peer = fake_peer(a, &hello.addr);
		int down = peer->down;

		hello.epoch = fake_draw();
		tcp_hello_pack(&hello, bytes);
		for (i = TCP_WIRE_HELLO_SIZE; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t) fake_draw();
		if (round % 2)	/* plausible lengths, nonsense in the header */
			tcp_frame_put(bytes + TCP_WIRE_HELLO_SIZE, 1 + fake_draw() % ENG_HDR_MAX,
				      fake_draw() % 4000);
		fd = open_socket(&to);
		send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL);
		FAKE_UNTIL(2000, peer->down > down);
		close(fd);
	}
	fake_send(ab, 10, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt == 2));
	assert_int_equal(ab->down, 0);
	fake_close(a, 100);
	fake_close(b, 100);
}

static void no_stream_does_harm(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	uint8_t bytes[600];
	uint64_t dice = 5;
	size_t i, k;

	for (i = 0; i < 500; i++) {
		fake_seed = dice;
		for (k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t) (fake_draw() >> (k % 3 ? 1 : 2));
		dice = fake_seed;
		if (i % 3)	/* mostly well formed */
			for (k = 0; k < sizeof(bytes); k++)
				bytes[k] &= 0x7f;
		check_stream(a, bytes, 20 + (size_t) (dice % 580));
	}
	fake_close(a, 0);
}

static void half_open_connections_make_room(void **state)
{
	struct rlimit limit;
	int status;
	pid_t pid = fork();

	if (!pid) {
		enum { N = 1500 };
		struct eng_ep *a, *b;
		union net_sa to;
		int i;

		limit.rlim_cur = limit.rlim_max = 4096;
		setrlimit(RLIMIT_NOFILE, &limit);
		fake_start();
		a = fake_ep(FI_EP_RDM, 0);
		b = fake_ep(FI_EP_RDM, 0);
		to = fake_name(a->link);
		for (i = 0; i < N; i++) {
			open_socket(&to);
			fake_poll();
		}
		fake_send(peer_at(b, a), 10, 0);
		FAKE_UNTIL(5000, (fake_pull_some(a), peer_at(a, b)->rx_cnt == 1));
		_exit(0);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* Those that were refused and keep their connections open are no more than those that may be half open. */
static void refused_connections_make_room(void **state)
{
	enum { N = 500, MOST = 256, AT_ONCE = 64 };
	struct rlimit was, limit;
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	struct tcp_link *link = container_of(a->link, struct tcp_link, base.base);
	union net_sa to = fake_name(a->link);
	int fd[N], i, answered = 0;
	char byte;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	limit = was;
	limit.rlim_cur = 4 * MOST;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (i = 0; i < N; i++) {
		fd[i] = open_socket(&to);
		assert_int_equal(send(fd[i], "SSH-2.0-test", 12, MSG_NOSIGNAL), 12);
	}
	while (answered < N) {			/* by the end of the stream */
		fake_poll();
		assert_true(link->listener.refused_cnt <= MOST + AT_ONCE);
		for (; answered < N && (recv(fd[answered], &byte, 1, MSG_DONTWAIT) >= 0 || errno != EAGAIN); answered++)
			;
	}
	for (i = 0; i < N; i++)
		close(fd[i]);
	FAKE_UNTIL(2000, !link->listener.refused_cnt);
	assert_int_equal(link->listener.half_open, 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	fake_close(a, 0);
}

static void running_out_of_descriptors_is_survived(void **state)
{
	struct rlimit limit;
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct eng_ep *a, *b;
		struct eng_peer *ab;
		uint64_t began;
		unsigned polls = 0;
		int fd[3], used;

		fake_start();
		tcp_conf.conn_retry_ms = 60000;
		a = fake_ep(FI_EP_RDM, 0);
		b = fake_ep(FI_EP_RDM, 0);
		ab = peer_at(a, b);
		do	/* behind whatever this program was started with */
			used = open("/dev/null", O_RDONLY);
		while (used < 64);
		limit.rlim_cur = limit.rlim_max = (rlim_t) used + 2;
		setrlimit(RLIMIT_NOFILE, &limit);
		fd[0] = open("/dev/null", O_RDONLY);	/* one is left for the call, none to accept it */
		close(used);
		fake_send(ab, 10, 0);
		for (began = clock_ns(); clock_ns() - began < 30 * CLOCK_NS_PER_MS; polls++)
			fake_poll();
		CHECK((!peer_at(b, a)->rx_cnt || under_valgrind()) && !ab->down);
		close(fd[0]);		/* now there is room: the call is repeated */
		FAKE_UNTIL(15000, (fake_pull_some(b), peer_at(b, a)->rx_cnt == 1));
		CHECK(!ab->down);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* ---- MSG ------------------------------------------------------------------------------ */

static struct eng_pep *open_pep(void)
{
	struct eng_pep *pep = calloc(1, sizeof(*pep));
	static struct obj_fabric fabric = { .prov = &fake_prov };
	union net_sa addr = fake_loopback(0);

	pep->info.src_addr = malloc(sizeof(addr));
	memcpy(pep->info.src_addr, &addr, sizeof(addr));
	pep->info.src_addrlen = 16;
	pep->base.info = &pep->info;
	pep->base.prog = &fake_prog;
	pep->base.fabric = &fabric;
	assert_int_equal(tcp_link_ops.open(NULL, pep, &pep->link), 0);
	assert_int_equal(tcp_link_ops.cm->listen(pep->link, 0), 0);
	return pep;
}

static void close_pep(struct eng_pep *pep)
{
	tcp_link_ops.close(pep->link, 0);
	free(pep->info.src_addr);
	free(pep);
}

static void connect_accept_talk_shutdown(void **state)
{
	struct eng_pep *pep = open_pep();
	union net_sa to = fake_name(pep->link);
	struct eng_ep *a = fake_ep(FI_EP_MSG, 0), *b = fake_ep(FI_EP_MSG, 0);
	struct eng_peer *pa = fake_peer(a, NULL), *pb = fake_peer(b, NULL);
	union net_sa name;
	size_t len = sizeof(name), i;

	assert_int_equal(tcp_link_ops.cm->connect(a->link, pa, &to, 16, "ping", 4), 0);
	FAKE_UNTIL(2000, pep->req);
	assert_int_equal(pep->data_len, 4);
	assert_memory_equal(pep->data, "ping", 4);
	assert_int_equal(tcp_link_ops.cm->answer(b->link, pb, pep->req, "pong!", 5), 0);
	pep->req = NULL;
	FAKE_UNTIL(2000, pa->connected && pb->connected);
	assert_int_equal(pa->data_len, 5);
	assert_memory_equal(pa->data, "pong!", 5);
	assert_int_equal(tcp_link_ops.getname(a->link, pa, &name, &len), 0);
	assert_int_equal(net_addr_cmp(&name.sa, &to.sa), 0);
	close_pep(pep);

	pa->wanted = pb->wanted = true;
	for (i = 0; i < 200; i++) {
		fake_send(pa, fake_draw() % 5000, 0);
		fake_send(pb, fake_draw() % 50000, 0);
	}
	assert_int_equal(tcp_link_ops.cm->shutdown(a->link, pa), 0);
	FAKE_UNTIL(5000, (pull_both(a, b), pb->rx_cnt == 200 && pb->shut));
	assert_int_equal(pb->down, 0);
	fake_close(b, 100);
	fake_close(a, 100);
}

static void a_rejection_carries_private_data(void **state)
{
	struct eng_pep *pep = open_pep();
	union net_sa to = fake_name(pep->link);
	struct eng_ep *a = fake_ep(FI_EP_MSG, 0);
	struct eng_peer *pa = fake_peer(a, NULL);
	int i;

	tcp_link_ops.cm->connect(a->link, pa, &to, 16, NULL, 0);
	FAKE_UNTIL(2000, pep->req);
	tcp_link_ops.cm->answer(pep->link, NULL, pep->req, "no room", 7);
	pep->req = NULL;
	FAKE_UNTIL(2000, pa->refused);
	assert_int_equal(pa->err, FI_ECONNREFUSED);
	assert_int_equal(pa->data_len, 7);
	assert_memory_equal(pa->data, "no room", 7);

	/* the endpoint may try again; a dropped request looks like a lost connection */
	tcp_link_ops.cm->connect(a->link, pa, &to, 16, NULL, 0);
	FAKE_UNTIL(2000, pep->req);
	tcp_link_ops.cm->answer(NULL, NULL, pep->req, NULL, 0);
	pep->req = NULL;
	FAKE_UNTIL(2000, pa->refused == 2);
	assert_int_equal(pa->err, FI_ECONNRESET);
	assert_int_equal(pa->data_len, 0);

	/* no endpoint listens any more: refused at once, once */
	close_pep(pep);
	tcp_link_ops.cm->connect(a->link, pa, &to, 16, NULL, 0);
	FAKE_UNTIL(2000, pa->refused == 3);
	assert_int_equal(pa->err, FI_ECONNREFUSED);
	for (i = 0; i < 50; i++)
		fake_poll();
	assert_int_equal(pa->refused, 3);
	assert_int_equal(pa->connected, 0);
	fake_close(a, 100);
}

/* A program may take its time with a request: the connecting one waits as long as it likes. */
static void a_listener_that_does_not_answer_is_waited_for(void **state)
{
	struct eng_pep *pep = open_pep();
	union net_sa to = fake_name(pep->link);
	struct eng_ep *a = fake_ep(FI_EP_MSG, 0);
	struct eng_peer *pa = fake_peer(a, NULL);
	uint64_t end = clock_ns() + 1000 * CLOCK_NS_PER_MS;

	tcp_conf.conn_timeout_ms = 100;
	tcp_link_ops.cm->connect(a->link, pa, &to, 16, NULL, 0);
	FAKE_UNTIL(2000, pep->req);
	while (clock_ns() < end)
		fake_poll();
	assert_int_equal(pa->refused, 0);
	tcp_conf.conn_timeout_ms = 2000;
	/* the request outlives the connecting peer and the listener */
	fake_close(a, 100);
	tcp_link_ops.close(pep->link, 0);
	{
		struct eng_ep *b = fake_ep(FI_EP_MSG, 0);

		assert_int_equal(tcp_link_ops.cm->answer(b->link, fake_peer(b, NULL), pep->req, NULL, 0),
				 -FI_ECONNABORTED);
		fake_close(b, 0);
	}
	free(pep->info.src_addr);
	free(pep);
}

static void a_busy_connecting_endpoint_connects(void **state)
{
	struct eng_pep *pep = open_pep();
	union net_sa to = fake_name(pep->link);
	struct eng_ep *a = fake_ep(FI_EP_MSG, 0), *b = fake_ep(FI_EP_MSG, 0);
	struct eng_peer *pa = fake_peer(a, NULL), *pb = fake_peer(b, NULL);

	tcp_conf.conn_timeout_ms = 1000;
	assert_int_equal(tcp_link_ops.cm->connect(a->link, pa, &to, 16, NULL, 0), 0);
	usleep(1100000);	/* it computes, and the system connects */
	FAKE_UNTIL(15000, pep->req);
	assert_int_equal(tcp_link_ops.cm->answer(b->link, pb, pep->req, NULL, 0), 0);
	pep->req = NULL;
	FAKE_UNTIL(15000, pa->connected && pb->connected);
	assert_int_equal(pa->refused, 0);
	close_pep(pep);
	fake_close(b, 0);
	fake_close(a, 0);
}

/* ---- the poller ------------------------------------------------------------------------- */

static void an_idle_group_sleeps(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0);
	struct obj_poller *poller = container_of(fake_prog.pollers.next, struct obj_poller, node);
	struct pollfd pfd = { .fd = poller->fd, .events = POLLIN };
	struct eng_peer *ab = peer_at(a, b);
	uint64_t deadline = UINT64_MAX;
	int i;

	fake_send(ab, 10, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt == 1));
	for (i = 0; i < 100; i++)
		fake_poll();
	assert_int_equal(poller->ops->arm(poller, &deadline), 0);
	/* in some seconds: is all acknowledged? */
	assert_true(deadline > clock_ns() + CLOCK_NS_PER_S);
	fdset_settle(pfd.fd);
	assert_int_equal(poll(&pfd, 1, 0), 0);
	/* a burst: what is held back is work, and a single message wakes the other side */
	fake_send(ab, 10, 0);
	fake_send(ab, 10, 0);
	assert_int_equal(poller->ops->arm(poller, &deadline), -FI_EAGAIN);
	tcp_poller_flush(container_of(poller, struct tcp_poller, base.base));
	assert_int_equal(poller->ops->arm(poller, &deadline), 0);
	assert_int_equal(poll(&pfd, 1, 1000), 1);
	FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt == 3));
	/* a receiver without memory does not keep the sleeper awake */
	b->later = 100;
	fake_send(ab, 10, 0);
	for (i = 0; i < 100; i++)
		fake_poll();
	deadline = UINT64_MAX;
	assert_int_equal(poller->ops->arm(poller, &deadline), 0);
	assert_int_equal(poll(&pfd, 1, 0), 0);
	assert_true(deadline != UINT64_MAX);
	b->later = 0;
	FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt == 4));
	fake_close(a, 100);
	fake_close(b, 100);
}

/* polls_until - how many polls it takes until @ep has @cnt packets of @peer. */
static unsigned polls_until(struct eng_ep *ep, struct eng_peer *peer, uint64_t cnt, unsigned pause_us)
{
	uint64_t end = clock_ns() + 10 * CLOCK_NS_PER_S;
	unsigned polls = 0;

	for (; peer->rx_cnt < cnt && clock_ns() < end; polls++) {
		if (pause_us)
			usleep(pause_us);
		fake_poll();
		fake_pull_some(ep);
	}
	assert_true(peer->rx_cnt == cnt);
	return polls;
}

/* A poll finds what has arrived from any peer, at once: where many peers take turns, and where the
 * program computes between polls.
 */
static void a_poll_finds_any_of_many_peers(void **state)
{
	enum { PEERS = 12, TURNS = 20 };
	struct eng_ep *hub = fake_ep(FI_EP_RDM, 0), *ep[PEERS];
	struct eng_peer *to[PEERS], *from[PEERS];
	unsigned i, k, polls = 0;

	for (i = 0; i < PEERS; i++) {
		ep[i] = fake_ep(FI_EP_RDM, 0);
		to[i] = peer_at(ep[i], hub);
		from[i] = peer_at(hub, ep[i]);
		fake_send(to[i], 8, 0);
		polls_until(hub, from[i], 1, 0);
	}
	for (k = 0; k < TURNS; k++) {
		for (i = 0; i < PEERS; i++) {
			fake_send(to[i], 8, 0);
			polls += polls_until(hub, from[i], 2 + k, 0);
		}
	}
	assert_true(polls <= 3 * PEERS * TURNS);
	for (k = 0; k < 300; k++)	/* two are active now, and nothing has come for long */
		fake_poll();
	for (k = polls = 0; k < TURNS; k++) {
		fake_send(to[k % PEERS], 8, 0);
		polls += polls_until(hub, from[k % PEERS], to[k % PEERS]->tx_seq, 300);
	}
	assert_true(polls <= 3 * TURNS);
	/* also where some polls find nothing between the turns, fewer than make a connection idle */
	for (k = polls = 0; k < 3 * PEERS; k++) {
		for (i = 0; i < 80; i++)
			fake_poll();
		fake_send(to[k % PEERS], 8, 0);
		polls += polls_until(hub, from[k % PEERS], to[k % PEERS]->tx_seq, 0);
	}
	assert_true(polls <= 3 * 3 * PEERS);
	for (i = 0; i < PEERS; i++)
		fake_close(ep[i], 100);
	fake_close(hub, 100);
}

/* The one that was heard last is read without asking the set, until another one is heard, or it is idle for long. */
static void the_last_that_was_heard_is_read_directly(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0), *c = fake_ep(FI_EP_RDM, 0);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a), *ca = peer_at(c, a), *ac = peer_at(a, c);
	struct tcp_poller *poller = container_of(a->link, struct tcp_link, base.base)->poller;
	struct tcp_conn *last;
	unsigned i;

	for (i = 1; i <= 30; i++) {
		fake_send(ab, 8, 0);
		polls_until(b, ba, i, 0);
		fake_send(ba, 8, 0);
		polls_until(a, ab, i, 0);
	}
	last = poller->active;
	assert_non_null(last);
	fake_send(ca, 8, 0);
	polls_until(a, ac, 1, 0);
	assert_non_null(poller->active);
	assert_ptr_not_equal(poller->active, last);
	assert_false(last->active);
	for (i = 0; i < 1000; i++)
		fake_poll();
	assert_null(poller->active);
	fake_send(ab, 8, 0);
	polls_until(b, ba, 31, 0);
	assert_non_null(poller->active);
	fake_close(a, 100);
	fake_close(b, 100);
	fake_close(c, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(packets_of_every_size_arrive_in_order),
		TEST(a_slow_receiver_holds_the_sender_back),
		TEST(an_endpoint_talks_to_itself),
		TEST(what_was_sent_before_close_arrives),
		TEST(sixty_four_endpoints_all_to_all),
		TEST(a_forgotten_peer_costs_nothing),
		TEST(other_protocols_are_refused),
		TEST(a_peer_that_sends_garbage_hurts_itself_only),
		TEST(no_stream_does_harm),
		TEST(half_open_connections_make_room),
		TEST(refused_connections_make_room),
		TEST(running_out_of_descriptors_is_survived),
		TEST(connect_accept_talk_shutdown),
		TEST(a_rejection_carries_private_data),
		TEST(a_listener_that_does_not_answer_is_waited_for),
		TEST(a_busy_connecting_endpoint_connects),
		TEST(an_idle_group_sleeps),
		TEST(a_poll_finds_any_of_many_peers),
		TEST(the_last_that_was_heard_is_read_directly),
	};

	return cmocka_run_group_tests_name("tcp_link", tests, NULL, NULL);
}
