/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * stream - processes that send to one, for as long as is asked; what arrives is
 * checked and counted, and so is what it costs.
 *
 *	stream [-p provider] [-n senders] [-s seconds] [-S size] [-W window] [-k ms] [-K ms]
 *	       [-F packets] [-A namespace] [-B namespace] [-1]
 *
 *	-p  provider (udp;ofi_rxd), or "tcp-socket": a bare stream, for comparison
 *	-k  kill a sender every so often, and start another in its place
 *	-K  the same with the receiver
 *	-F  forge so many packets a second from a raw socket
 *	-A, -B  network namespace of the receiver, of the senders
 *	-1  first one sender alone, half the time: the reference for fairness
 *
 * Wrong is: a message that arrives twice, out of order, damaged, or does not although
 * its send completed well; and memory of the receiver that grows.  Exit status: 0, 1, 77.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "base/clock.h"

#define CHECK(cond)								\
	do {									\
		if (!(cond)) {							\
			fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #cond, \
				errno);						\
			_exit(1);						\
		}								\
	} while (0)

#define SENDERS 64
#define RECVS 64
#define MESSAGES (1u << 26)		/* of a sender over all its processes */
#define SOCKET "tcp-socket"

/* What each message begins with. */
struct head {
	uint32_t id;
	uint32_t size;
	uint64_t life;		/* of the sender: order is promised within one */
	uint64_t seq;
	uint64_t sum;
};

/* State of one sender over all its processes, in shared memory. */
struct tally {
	_Atomic uint64_t next;		/* number of the next message */
	_Atomic uint64_t life;		/* number of its processes so far */
	_Atomic uint64_t last_life;	/* of the message that completed last */
	_Atomic uint64_t last;		/* that completed, + 1 */
	_Atomic uint64_t last_post;	/* the receive that it matched */
	_Atomic uint64_t bytes;
	_Atomic uint64_t failed;	/* sends that completed with an error */
	_Atomic uint8_t *arrived;	/* one bit each */
	_Atomic uint8_t *good;		/* sends that completed with success */
};

struct share {
	_Atomic bool stop, stop_rx, ready;
	_Atomic uint64_t posts;		/* receives posted, by all processes of the receiver */
	_Atomic uint64_t wrong;
	char addr[64];
	size_t addr_len;
	uint16_t port;			/* of the receiver; the same for all its processes */
	_Atomic long memory_first, memory_last;
	_Atomic uint64_t forged;
	struct tally tally[SENDERS];
};

static struct {
	const char *prov;
	unsigned senders, seconds, window, kill_ms, kill_rx_ms, forge;
	size_t size;
	const char *ns_rx, *ns_tx;
	bool single;
} conf = { "udp;ofi_rxd", 1, 2, 16, 0, 0, 0, 1 << 20, NULL, NULL, false };

static struct share *share;

/* ---- both sides --------------------------------------------------------------- */

struct side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_ep *ep;
};

static void *shared(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

static bool set_bit(_Atomic uint8_t *map, uint64_t n)
{
	uint8_t bit = (uint8_t) (1 << n % 8);

	return !(atomic_fetch_or(&map[n / 8], bit) & bit);
}

static bool has_bit(_Atomic uint8_t *map, uint64_t n)
{
	return map[n / 8] >> n % 8 & 1;
}

static uint64_t pattern(uint32_t id, uint64_t seq)
{
	return (seq * 64 + id + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static void enter(const char *ns)
{
	char path[200];
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!ns)
		return;
	snprintf(path, sizeof(path), "/run/netns/%s", ns);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	CHECK(!setns(fd, CLONE_NEWNET));
	close(fd);
}

/* The address of the namespace, or loopback: that of the interface that is not lo. */
static const char *own_address(const char *ns)
{
	static char text[100];
	FILE *out;

	if (!ns)
		return "127.0.0.1";
	out = popen("ip -4 -o addr show scope global | awk '{ sub(/\\/.*/, \"\", $4); print $4 }'",
		    "r");
	CHECK(out && fgets(text, sizeof(text), out));
	pclose(out);
	text[strcspn(text, "\n")] = 0;
	return text;
}

static void side_open(struct side *s, const char *ns, uint16_t port)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_UNSPEC };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fi_info *hints = fi_allocinfo();
	uint64_t end = clock_deadline(10000);
	char service[16];
	int ret;

	snprintf(service, sizeof(service), "%u", port);
	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_RDM;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->fabric_attr->prov_name = strdup(conf.prov);
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	ret = fi_getinfo(FI_VERSION(2, 0), own_address(ns), port ? service : NULL, FI_SOURCE, hints,
			 &s->info);
	fi_freeinfo(hints);
	if (ret == -FI_ENODATA)
		_exit(77);
	CHECK(!ret);
	CHECK(!fi_fabric(s->info->fabric_attr, &s->fabric, NULL));
	CHECK(!fi_domain(s->fabric, s->info, &s->domain, NULL));
	CHECK(!fi_cq_open(s->domain, &cq_attr, &s->cq, NULL));
	CHECK(!fi_av_open(s->domain, &av_attr, &s->av, NULL));
	do {
		ret = fi_endpoint(s->domain, s->info, &s->ep, NULL);
		if (!ret) {
			CHECK(!fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV));
			CHECK(!fi_ep_bind(s->ep, &s->av->fid, 0));
			ret = fi_enable(s->ep);
			if (ret)
				CHECK(!fi_close(&s->ep->fid));
		}
		/* the port of a process that was just killed */
	} while (ret == -FI_EADDRINUSE && clock_ns() < end && !usleep(10000));
	CHECK(!ret);
}

static void side_close(struct side *s)
{
	CHECK(!fi_close(&s->ep->fid));
	CHECK(!fi_close(&s->av->fid));
	CHECK(!fi_close(&s->cq->fid));
	CHECK(!fi_close(&s->domain->fid));
	CHECK(!fi_close(&s->fabric->fid));
	fi_freeinfo(s->info);
}

/* ---- receiver ------------------------------------------------------------------- */

static void wrong(const struct head *head, const char *what)
{
	fprintf(stderr, "sender %u, life %llu, message %llu: %s\n", head->id,
		(unsigned long long) head->life, (unsigned long long) head->seq, what);
	atomic_fetch_add(&share->wrong, 1);
}

/* Messages match receives in order; completions may be in another order.  What a killed sender
 * had sent may be read after the first messages of its successor, from another socket.
 */
static bool in_order(struct tally *t, const struct head *head, uint64_t post)
{
	bool ok = !t->last || head->life != t->last_life ||
		  (head->seq + 1 > t->last) == (post > t->last_post);

	if (head->life < t->last_life)
		return true;
	t->last_life = head->life;
	t->last = head->seq + 1;
	t->last_post = post;
	return ok;
}

static void judge(const uint8_t *buf, size_t len, uint64_t post)
{
	struct head head;
	struct tally *t;
	uint64_t word, at;

	memcpy(&head, buf, sizeof(head));
	if (len != conf.size || head.id >= SENDERS || head.size != len ||
	    head.sum != pattern(head.id, head.seq)) {
		wrong(&head, "damaged");
		return;
	}
	for (at = sizeof(head); at + 8 <= len; at += 997) {
		memcpy(&word, buf + at, sizeof(word));
		if (word != head.sum + at) {
			wrong(&head, "damaged within");
			return;
		}
	}
	t = &share->tally[head.id];
	if (!set_bit(t->arrived, head.seq))
		wrong(&head, "arrived twice");
	else if (!in_order(t, &head, post))
		wrong(&head, "out of order");
	t->bytes += len;
}

static long memory_kib(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[200];
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

struct recv {
	uint8_t *buf;
	uint64_t post;
};

static void post_recv(struct side *s, struct recv *recv)
{
	recv->post = ++share->posts;
	CHECK(!fi_recv(s->ep, recv->buf, conf.size, NULL, FI_ADDR_UNSPEC, recv));
}

static void receiver(uint64_t end)
{
	struct recv recvs[RECVS], *recv;
	uint8_t *bufs = malloc(RECVS * conf.size);
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_msg_entry entry[16];
	uint64_t warm = clock_ns() + (end - clock_ns()) / 4;
	struct side s;
	ssize_t got = 0, i;

	enter(conf.ns_rx);
	memset(bufs, 1, RECVS * conf.size);
	side_open(&s, conf.ns_rx, share->port);
	for (i = 0; i < RECVS; i++) {
		recvs[i].buf = bufs + (size_t) i * conf.size;
		post_recv(&s, &recvs[i]);
	}
	share->addr_len = sizeof(share->addr);
	CHECK(!fi_getname(&s.ep->fid, share->addr, &share->addr_len));
	share->port = ntohs(((struct sockaddr_in *) share->addr)->sin_port);
	share->ready = true;
	while (!share->stop_rx || got > 0) {
		got = conf.senders > 1 ? fi_cq_sread(s.cq, entry, 16, NULL, 50) :
					 fi_cq_read(s.cq, entry, 16);
		if (got == -FI_EAVAIL) {	/* a sender was killed in the middle of a message */
			CHECK(fi_cq_readerr(s.cq, &err, 0) == 1);
			post_recv(&s, err.op_context);
		}
		for (i = 0; i < got; i++) {
			recv = entry[i].op_context;
			judge(recv->buf, entry[i].len, recv->post);
			post_recv(&s, recv);
		}
		if (!share->memory_first && clock_ns() > warm)
			share->memory_first = memory_kib();
	}
	share->memory_last = memory_kib();
	side_close(&s);
	free(bufs);
}

/* ---- senders --------------------------------------------------------------------- */

static void fill(uint8_t *buf, uint32_t id, uint64_t life, uint64_t seq)
{
	struct head head = { id, (uint32_t) conf.size, life, seq, pattern(id, seq) };
	uint64_t word, at;

	memcpy(buf, &head, sizeof(head));
	for (at = sizeof(head); at + 8 <= conf.size; at += 997) {
		word = head.sum + at;
		memcpy(buf + at, &word, sizeof(word));
	}
}

struct slot {
	uint64_t seq;
	uint8_t *buf;
	bool busy;
};

static int post(struct side *s, fi_addr_t to, struct slot *slot, struct tally *t, uint32_t id)
{
	struct iovec iov = { slot->buf, conf.size };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = to, .context = slot };
	uint64_t flags = FI_COMPLETION;
	ssize_t ret;

	if (conf.kill_ms || conf.kill_rx_ms)
		flags |= FI_DELIVERY_COMPLETE;
	/* a process killed within the call does not send the same number again */
	slot->seq = t->next++;
	CHECK(slot->seq < MESSAGES);
	fill(slot->buf, id, t->life, slot->seq);
	ret = fi_sendmsg(s->ep, &msg, flags);
	if (ret == -FI_EAGAIN) {
		t->next--;
		return 0;
	}
	slot->busy = !ret;
	if (ret)
		t->failed++;
	return !ret;
}

/* @full: there is nothing else to do.  Many processes cannot all poll. */
static unsigned complete(struct side *s, struct tally *t, bool full)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_msg_entry entry[16];
	struct slot *slot;
	ssize_t got, i;

	got = full && conf.senders > 1 ? fi_cq_sread(s->cq, entry, 16, NULL, 20) :
					 fi_cq_read(s->cq, entry, 16);
	if (got == -FI_EAVAIL) {
		CHECK(fi_cq_readerr(s->cq, &err, 0) == 1);
		slot = err.op_context;
		slot->busy = false;
		if (!share->stop)	/* the receiver need not wait for the last ones */
			t->failed++;
		return 1;
	}
	for (i = 0; i < got; i++) {
		slot = entry[i].op_context;
		slot->busy = false;
		set_bit(t->good, slot->seq);
	}
	return got > 0 ? (unsigned) got : 0;
}

static void sender(uint32_t id)
{
	struct tally *t = &share->tally[id];
	struct slot *slots = calloc(conf.window, sizeof(*slots));
	unsigned out = 0, i;
	uint64_t end;
	struct side s;
	fi_addr_t to;

	t->life++;
	enter(conf.ns_tx);
	side_open(&s, conf.ns_tx, 0);
	CHECK(fi_av_insert(s.av, share->addr, 1, &to, 0, NULL) == 1);
	for (i = 0; i < conf.window; i++)
		slots[i].buf = calloc(1, conf.size);
	end = UINT64_MAX;
	while (!share->stop || (out && clock_ns() < end)) {
		if (share->stop && end == UINT64_MAX)
			end = clock_ns() + 5 * CLOCK_NS_PER_S;
		for (i = 0; i < conf.window && !share->stop; i++)
			if (!slots[i].busy)
				out += (unsigned) post(&s, to, &slots[i], t, id);
		out -= complete(&s, t, out == conf.window || share->stop);
	}
	side_close(&s);
	for (i = 0; i < conf.window; i++)
		free(slots[i].buf);
	free(slots);
}

/* ---- a bare stream ------------------------------------------------------------------- */

static void socket_receiver(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t len = sizeof(in);
	char *buf = malloc(RECVS * conf.size);
	unsigned turn = 0;
	int fd, one;
	ssize_t got;

	enter(conf.ns_rx);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	inet_pton(AF_INET, own_address(conf.ns_rx), &in.sin_addr);
	CHECK(!bind(fd, (struct sockaddr *) &in, sizeof(in)) && !listen(fd, 8));
	CHECK(!getsockname(fd, (struct sockaddr *) &in, &len));
	memcpy(share->addr, &in, sizeof(in));
	share->ready = true;
	one = accept(fd, NULL, NULL);
	CHECK(one >= 0);
	while (!share->stop && (got = recv(one, buf + turn++ % RECVS * conf.size, conf.size,
					     MSG_WAITALL)) > 0)
		share->tally[0].bytes += (uint64_t) got;
	_exit(0);
}

static void socket_sender(void)
{
	char *buf = calloc(conf.window, conf.size);
	unsigned turn = 0;
	int fd;

	enter(conf.ns_tx);
	signal(SIGPIPE, SIG_IGN);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(!connect(fd, (struct sockaddr *) share->addr, sizeof(struct sockaddr_in)));
	while (!share->stop && send(fd, buf + turn++ % conf.window * conf.size, conf.size, 0) > 0)
		;
	_exit(0);
}

/* ---- forged packets ------------------------------------------------------------------- */

static uint64_t rnd(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/* Begins like one of the protocol's datagrams, from any port of this host, and continues with
 * random bytes: 16 bytes of the udp provider, then 24 of the reliable one.
 */
static void forge_one(int fd, const struct sockaddr_in *to)
{
	uint8_t pkt[28 + 1400];
	struct iphdr *ip = (struct iphdr *) pkt;
	struct udphdr *udp = (struct udphdr *) (pkt + 20);
	uint8_t *lower = pkt + 28, *data = pkt + 44;
	size_t len = 24 + rnd() % 1200, i;

	memset(pkt, 0, 44);
	for (i = 0; i < len; i++)
		data[i] = (uint8_t) rnd();
	data[0] = 0xd7;
	data[1] = 1;
	data[2] = (uint8_t) (1 + rnd() % 7);
	lower[0] = 0x0f, lower[1] = 0x1d, lower[2] = 0x67, lower[3] = 0x72;
	lower[4] = 1;
	lower[6] = (uint8_t) (len >> 8);
	lower[7] = (uint8_t) len;
	ip->version = 4;
	ip->ihl = 5;
	ip->ttl = 64;
	ip->protocol = IPPROTO_UDP;
	ip->saddr = ip->daddr = to->sin_addr.s_addr;
	udp->source = (uint16_t) rnd();
	udp->dest = to->sin_port;
	udp->len = htons((uint16_t) (8 + 16 + len));
	if (sendto(fd, pkt, 44 + len, 0, (const struct sockaddr *) to, sizeof(*to)) > 0)
		share->forged++;
}

static void forger(void)
{
	struct sockaddr_in to;
	unsigned i;
	int fd;

	enter(conf.ns_rx);
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	if (fd < 0)
		_exit(77);
	memcpy(&to, share->addr, sizeof(to));
	while (!share->stop) {
		for (i = 0; i < conf.forge / 100; i++)
			forge_one(fd, &to);
		usleep(10000);
	}
	_exit(0);
}

/* ---- all together ------------------------------------------------------------------------ */

static pid_t spawn(unsigned id, uint64_t end)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid)
		return pid;
	if (!strcmp(conf.prov, SOCKET)) {
		if (id == SENDERS)
			socket_receiver();
		socket_sender();
	}
	if (id == SENDERS)
		receiver(end);
	else if (id > SENDERS)
		forger();
	else
		sender(id);
	_exit(0);
}

static void wait_ready(pid_t pid)
{
	int status;

	while (!share->ready && !usleep(1000))
		if (waitpid(pid, &status, WNOHANG) == pid)
			exit(WIFEXITED(status) && WEXITSTATUS(status) == 77 ? 77 : 1);
}

static int reap(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

struct result {
	double rate, least, mean;	/* bytes per second */
	double cpu;			/* seconds */
	unsigned killed, killed_rx;
	int bad;
};

static pid_t restart(pid_t pid, unsigned id, uint64_t end)
{
	CHECK(!kill(pid, SIGKILL));
	CHECK(waitpid(pid, NULL, 0) == pid);
	return spawn(id, end);
}

static void killing(pid_t *pids, pid_t *rx, struct result *r, uint64_t end)
{
	uint64_t next = clock_ns() + conf.kill_ms * CLOCK_NS_PER_MS;
	uint64_t next_rx = clock_ns() + conf.kill_rx_ms * CLOCK_NS_PER_MS;
	/* the last processes have time to send something */
	uint64_t last = end - (end - clock_ns()) / 4;
	unsigned victim;

	while (clock_ns() < end && !usleep(2000)) {
		if (conf.kill_ms && clock_ns() > next && clock_ns() < last) {
			victim = r->killed++ % conf.senders;
			pids[victim] = restart(pids[victim], victim, end);
			next += conf.kill_ms * CLOCK_NS_PER_MS;
		}
		if (conf.kill_rx_ms && clock_ns() > next_rx && clock_ns() < last) {
			share->ready = false;
			*rx = restart(*rx, SENDERS, end);
			wait_ready(*rx);
			r->killed_rx++;
			next_rx += conf.kill_rx_ms * CLOCK_NS_PER_MS;
		}
	}
}

static double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (double) (u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double) (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static struct result run(unsigned senders, double seconds)
{
	uint64_t began = clock_ns(), end = began + (uint64_t) (seconds * 1e9), sum = 0;
	struct result r = { .least = 1e18, .cpu = -cpu_seconds() };
	pid_t pids[SENDERS], rx, liar = 0;
	double value, took;
	unsigned i;

	share->stop = share->stop_rx = share->ready = false;
	rx = spawn(SENDERS, end);
	wait_ready(rx);
	for (i = 0; i < senders; i++)
		pids[i] = spawn(i, end);
	if (conf.forge)
		liar = spawn(SENDERS + 1, end);
	usleep(200000);		/* until all have begun */
	for (i = 0; i < senders; i++)
		share->tally[i].bytes = 0;
	began = clock_ns();
	killing(pids, &rx, &r, end);
	took = (double) (clock_ns() - began) / 1e9;
	for (i = 0; i < senders; i++) {
		value = (double) share->tally[i].bytes / took;
		sum += share->tally[i].bytes;
		r.least = value < r.least ? value : r.least;
	}
	share->stop = true;
	for (i = 0; i < senders; i++)
		r.bad |= reap(pids[i]);
	share->stop_rx = true;
	r.bad |= reap(rx);
	if (liar && reap(liar) == 77)
		r.bad = 77;
	r.cpu += cpu_seconds();
	r.rate = (double) sum / took;
	r.mean = r.rate / senders;
	return r;
}

/* Sends that completed with success and never arrived: more than a killed receiver could have
 * had?
 */
static uint64_t missing(unsigned senders, const struct result *r)
{
	uint64_t seq, cnt = 0;
	unsigned i;

	for (i = 0; i < senders; i++)
		for (seq = 0; seq < share->tally[i].next; seq++)
			cnt += has_bit(share->tally[i].good, seq) &&
			       !has_bit(share->tally[i].arrived, seq);
	return cnt > (uint64_t) (r->killed_rx + 1) * RECVS ? cnt : 0;
}

static void options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "p:n:s:S:W:k:K:F:A:B:1")) != -1) {
		unsigned n = optarg ? (unsigned) strtoul(optarg, NULL, 0) : 0;

		switch (c) {
		case 'p': conf.prov = optarg; break;
		case 'n': conf.senders = n; break;
		case 's': conf.seconds = n; break;
		case 'S': conf.size = n; break;
		case 'W': conf.window = n; break;
		case 'k': conf.kill_ms = n; break;
		case 'K': conf.kill_rx_ms = n; break;
		case 'F': conf.forge = n; break;
		case 'A': conf.ns_rx = optarg; break;
		case 'B': conf.ns_tx = optarg; break;
		case '1': conf.single = true; break;
		default: exit(2);
		}
	}
	if (!conf.senders || conf.senders > SENDERS || conf.size < sizeof(struct head))
		exit(2);
}

int main(int argc, char **argv)
{
	uint64_t lost, failed = 0;
	struct result alone = { 0 }, r;
	long grown;
	unsigned i;

	setenv("FI_LOG_LEVEL", "none", 0);
	setenv("FI_OFI_RXD_PEER_TIMEOUT", "5000", 0);
	/* over the network, also on this host */
	setenv("FI_OFI_RXD_LOCAL", "0", 0);
	setenv("FI_TCP_LOCAL", "0", 0);
	options(argc, argv);
	share = shared(sizeof(*share));
	for (i = 0; i < conf.senders; i++) {
		share->tally[i].arrived = shared(MESSAGES / 8);
		share->tally[i].good = shared(MESSAGES / 8);
	}
	if (conf.single)
		alone = run(1, (double) conf.seconds / 2);
	share->port = 0;
	share->memory_first = 0;
	r = run(conf.senders, conf.seconds);
	if (r.bad == 77) {
		printf("skip: no raw socket, or no such provider\n");
		return 77;
	}
	lost = strcmp(conf.prov, SOCKET) ? missing(conf.senders, &r) : 0;
	grown = share->memory_last - share->memory_first;
	for (i = 0; i < conf.senders; i++)
		failed += share->tally[i].failed;
	printf("%s: %u senders, %zu bytes: %.1f MB/s, %.3f CPU seconds per GB", conf.prov,
	       conf.senders, conf.size, r.rate / 1e6, r.cpu / (r.rate * conf.seconds / 1e9));
	if (conf.senders > 1)
		printf(", slowest %.2f of the mean", r.least / r.mean);
	if (conf.single)
		printf(", all %.2f of one alone", r.rate / alone.rate);
	if (conf.forge)
		printf(", %llu forged", (unsigned long long) share->forged);
	printf("; killed %u and %u, %llu sends failed, %llu wrong, %llu lost, receiver %+ld KiB\n",
	       r.killed, r.killed_rx, (unsigned long long) failed,
	       (unsigned long long) share->wrong, (unsigned long long) lost, grown);
	/* unexpected messages are kept, up to a limit; a leak is visible in a long run */
	if (share->memory_first && grown > (conf.seconds < 60 ? 98304 : 8192))
		r.bad = 1;
	if (failed && !conf.kill_ms && !conf.kill_rx_ms)
		r.bad = 1;
	return r.bad || share->wrong || lost ? 1 : 0;
}
