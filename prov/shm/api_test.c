/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The shm provider through the public API, between processes that start at once, sleep,
 * may not read each other's memory, or die.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "shm/test/calls.h"

/* ---- many ---------------------------------------------------------------------------- */

#define PROCS 32
#define LEN 20000

static void all_to_all(pid_t test, int me)
{
	static uint8_t in[PROCS][LEN], small[PROCS][8], out[LEN];
	char name[NAME_MAX_LEN];
	struct node n;
	fi_addr_t to[PROCS];
	int i;

	name_of(name, test, me);
	open_node(&n, name);
	fill(out, LEN, (unsigned) me);
	for (i = 0; i < PROCS; i++) {
		name_of(name, test, i);
		to[i] = add(&n, name);
		POST(&n, fi_trecv(n.ep, small[i], 8, NULL, FI_ADDR_UNSPEC, (uint64_t) i, 0, NULL));
		POST(&n, fi_trecv(n.ep, in[i], LEN, NULL, FI_ADDR_UNSPEC, 1000u + (uint64_t) i, 0, NULL));
	}
	for (i = 0; i < PROCS; i++) {
		POST(&n, fi_tsend(n.ep, out, 8, NULL, to[(me + i) % PROCS], (uint64_t) me, NULL));
		POST(&n, fi_tsend(n.ep, out, LEN, NULL, to[(me + i) % PROCS], 1000u + (uint64_t) me,
				  NULL));
	}
	CALL(await(&n, 4 * PROCS));
	for (i = 0; i < PROCS; i++) {
		verify(small[i], 8, (unsigned) i);
		verify(in[i], LEN, (unsigned) i);
	}
	close_node(&n);
}

static void many_start_at_once_and_talk_to_all(void **state)
{
	pid_t pid[PROCS], test = getpid();
	int i;

	for (i = 0; i < PROCS; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			all_to_all(test, i);
			_exit(0);
		}
	}
	for (i = 0; i < PROCS; i++)
		reap(pid[i]);
}

/* ---- two ------------------------------------------------------------------------------- */

/* forbid_reading - system calls that read other processes fail from now on. */
static void forbid_reading(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog));
}

/* An emulator may have no filters of system calls. */
static void need_filters(void)
{
	if (prctl(PR_GET_SECCOMP) < 0)
		skip();
}

static void echo(pid_t test, int me, int rounds)
{
	static const size_t sizes[] = { 0, 1, 40, 41, 3000, 8192, 65536, 65537, BIG };
	uint8_t *in = malloc(BIG), *out = malloc(BIG);
	char name[NAME_MAX_LEN];
	struct node n;
	fi_addr_t to;
	size_t len;
	int i;

	name_of(name, test, me);
	open_node(&n, name);
	name_of(name, test, !me);
	to = add(&n, name);
	for (i = 0; i < rounds; i++) {
		len = sizes[(size_t) i % (sizeof(sizes) / sizeof(sizes[0]))];
		fill(out, len, (unsigned) (i + me));
		memset(in, 0, len);
		if (i % 2)	/* else it comes unexpected, as often as not */
			POST(&n, fi_recv(n.ep, in, len, NULL, to, NULL));
		POST(&n, fi_send(n.ep, out, len, NULL, to, NULL));
		if (i % 2 == 0)
			POST(&n, fi_recv(n.ep, in, len, NULL, to, NULL));
		CALL(await(&n, 2));
		verify(in, len, (unsigned) (i + !me));
	}
	close_node(&n);
	free(in);
	free(out);
}

static void echo_with(void (*both)(void), void (*one)(void))
{
	pid_t pid[2], test = getpid();
	int i;

	for (i = 0; i < 2; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			if (both)
				both();
			if (one && !i)
				one();
			echo(test, i, 90);
			_exit(0);
		}
	}
	reap(pid[0]);
	reap(pid[1]);
}

static void messages_of_all_sizes(void **state)
{
	echo_with(NULL, NULL);
}

static void with_reading_forbidden(void **state)
{
	need_filters();
	echo_with(forbid_reading, NULL);
}

static void messages_with_reading_forbidden_on_one_side(void **state)
{
	need_filters();
	echo_with(NULL, forbid_reading);
}

/* ---- sleeping ---------------------------------------------------------------------------- */

static long cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* The receiver blocks while the sender waits before each message. */
static void sleep_and_wake(pid_t test, int me)
{
	struct fi_cq_tagged_entry entry;
	char name[NAME_MAX_LEN];
	struct node n;
	fi_addr_t to;
	uint64_t byte = 0;
	int i;

	name_of(name, test, me);
	open_node(&n, name);
	name_of(name, test, !me);
	to = add(&n, name);
	for (i = 0; i < 20; i++) {
		POST(&n, fi_recv(n.ep, &byte, sizeof(byte), NULL, to, NULL));
		if (me == i % 2) {
			usleep(20000);
			POST(&n, fi_inject(n.ep, &byte, sizeof(byte), to));
		}
		if (me != i % 2) {
			CHECK(fi_cq_sread(n.cq, &entry, 1, NULL, PATIENCE_MS) == 1);
			POST(&n, fi_inject(n.ep, &byte, sizeof(byte), to));
		} else {
			CHECK(fi_cq_sread(n.cq, &entry, 1, NULL, PATIENCE_MS) == 1);
		}
	}
	close_node(&n);
	CHECK(cpu_ms() < 250);
}

static void a_blocking_receiver_sleeps_and_is_woken(void **state)
{
	pid_t pid[2], test = getpid();
	int i;

	for (i = 0; i < 2; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			sleep_and_wake(test, i);
			_exit(0);
		}
	}
	reap(pid[0]);
	reap(pid[1]);
}

/* The receiving program makes no call; the progress thread does the work. */
static void automatic_progress_needs_no_calls(void **state)
{
	struct fi_msg msg = { 0 };
	pid_t pid, test = getpid();
	char name[NAME_MAX_LEN];
	struct iovec iov;
	struct node n;
	int go[2];
	char byte;

	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid) {
		uint8_t *in = malloc(BIG);

		open_objects(&n, FI_PROGRESS_AUTO);
		name_of(name, test, 1);
		CALL(open_ep(&n, name));
		POST(&n, fi_recv(n.ep, in, BIG, NULL, FI_ADDR_UNSPEC, NULL));
		CHECK(write(go[1], "x", 1) == 1);
		sleep(20);
		_exit(1);
	}
	assert_int_equal(read(go[0], &byte, 1), 1);
	name_of(name, test, 0);
	open_node(&n, name);
	name_of(name, test, 1);
	iov.iov_base = calloc(1, BIG);
	iov.iov_len = BIG;
	msg.msg_iov = &iov;
	msg.iov_count = 1;
	msg.addr = add(&n, name);
	POST(&n, fi_sendmsg(n.ep, &msg, FI_DELIVERY_COMPLETE | FI_COMPLETION));
	CALL(await(&n, 1));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close_node(&n);
	free(iov.iov_base);
	close(go[0]);
	close(go[1]);
}

/* ---- a target that does nothing ------------------------------------------------------------ */

#define REGION 300000
#define KEY 0x7e57

static uint8_t region[REGION], image[REGION];

static void receive_one(struct node *n)
{
	char word;

	POST(n, fi_recv(n->ep, &word, 1, NULL, FI_ADDR_UNSPEC, NULL));
	CHECK(!await(n, 1));
}

static struct fid_mr *open_region(struct node *n, pid_t test, int to)
{
	char name[NAME_MAX_LEN];
	struct fid_mr *mr;

	name_of(name, test, 1);
	open_node(n, name);
	CALL(fi_mr_reg(n->domain, region, REGION, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, KEY, 0,
		       &mr, NULL));
	say(to);
	return mr;
}

/* own_region - makes progress until the first message, and again once its region is closed. */
static void own_region(pid_t test, int from, int to)
{
	struct node n;
	struct fid_mr *mr = open_region(&n, test, to);

	receive_one(&n);
	say(to);
	drain_wakeups(from);
	verify(region, REGION, 5);
	CALL(fi_close(&mr->fid));
	fill(region, REGION, 9);
	say(to);
	receive_one(&n);
	verify(region, REGION, 9);
	say(to);
	close_node(&n);
}

static void write_and_read(struct node *n, fi_addr_t peer)
{
	fill(image, REGION, 5);
	POST(n, fi_write(n->ep, image, REGION, NULL, peer, 0, KEY, NULL));
	CHECK(!await(n, 1));
	memset(image, 0, REGION);
	POST(n, fi_read(n->ep, image, REGION, NULL, peer, 0, KEY, NULL));
	CHECK(!await(n, 1));
	verify(image, REGION, 5);
}

static void a_target_need_not_make_progress(void **state)
{
	pid_t test = getpid(), pid;
	char name[NAME_MAX_LEN];
	int to[2], from[2];
	fi_addr_t peer;
	struct node n;

	if (!may_write())
		skip();
	assert_false(pipe(to) || pipe(from));
	pid = fork();
	if (!pid) {
		own_region(test, to[0], from[1]);
		_exit(0);
	}
	drain_wakeups(from[0]);
	open_node(&n, NULL);
	name_of(name, test, 1);
	peer = add(&n, name);
	POST(&n, fi_send(n.ep, "", 1, NULL, peer, NULL));
	assert_int_equal(await(&n, 1), 0);
	drain_wakeups(from[0]);
	write_and_read(&n, peer);
	say(to[1]);
	drain_wakeups(from[0]);
	/* the region is closed: nothing gets in, whichever way */
	POST(&n, fi_write(n.ep, image, REGION, NULL, peer, 0, KEY, NULL));
	POST(&n, fi_send(n.ep, "", 1, NULL, peer, NULL));
	drain_wakeups(from[0]);
	assert_int_equal(await(&n, 2), FI_ENOKEY);
	close_node(&n);
	reap(pid);
	close(to[0]);
	close(to[1]);
	close(from[0]);
	close(from[1]);
}

/* ---- the end of a process ------------------------------------------------------------------- */

static unsigned lines_with(const char *path, const char *text)
{
	FILE *file = fopen(path, "r");
	unsigned cnt = 0;
	char line[512];

	while (file && fgets(line, sizeof(line), file))
		cnt += strstr(line, text) != NULL;
	if (file)
		fclose(file);
	return cnt;
}

/* serve_region - makes progress until the second message. */
static void serve_region(pid_t test, int to)
{
	struct node n;
	struct fid_mr *mr = open_region(&n, test, to);

	receive_one(&n);
	receive_one(&n);
	CALL(fi_close(&mr->fid));
	close_node(&n);
}

/* A write that the initiator would make itself, and knows to be outside of the region. */
static void a_write_that_is_known_to_be_refused_says_so(void **state)
{
	pid_t test = getpid(), pid;
	char name[NAME_MAX_LEN];
	fi_addr_t peer;
	struct node n;
	int from[2];

	if (!may_write())
		skip();
	assert_false(pipe(from));
	pid = fork();
	if (!pid) {
		serve_region(test, from[1]);
		_exit(0);
	}
	drain_wakeups(from[0]);
	open_node(&n, NULL);
	name_of(name, test, 1);
	peer = add(&n, name);
	POST(&n, fi_send(n.ep, "", 1, NULL, peer, NULL));
	assert_int_equal(await(&n, 1), 0);
	write_and_read(&n, peer);
	POST(&n, fi_write(n.ep, image, 40000, NULL, peer, REGION - 39999, KEY, NULL));
	assert_int_equal(await(&n, 1), FI_EINVAL);
	POST(&n, fi_read(n.ep, image, 40000, NULL, peer, REGION - 39999, KEY, NULL));
	assert_int_equal(await(&n, 1), FI_EINVAL);
	POST(&n, fi_send(n.ep, "", 1, NULL, peer, NULL));
	assert_int_equal(await(&n, 1), 0);
	close_node(&n);
	reap(pid);
	close(from[0]);
	close(from[1]);
}

/* Each operation that waits for a killed process ends with one error. */
static void every_operation_of_a_killed_peer_ends(void **state)
{
	pid_t pid, test = getpid();
	uint8_t *big = calloc(1, BIG);
	char name[NAME_MAX_LEN];
	uint64_t killed;
	struct node n;
	fi_addr_t to;
	int round, i, errors;

	for (round = 0; round < 10; round++) {
		pid = fork();
		if (!pid) {
			name_of(name, test, 1);
			open_node(&n, name);
			name_of(name, test, 0);
			to = add(&n, name);
			for (;;) {
				fi_inject(n.ep, name, 8, to);
				fi_send(n.ep, big, 30000, NULL, to, NULL);
				fi_cq_read(n.cq, NULL, 0);
			}
		}
		name_of(name, test, 0);
		open_node(&n, name);
		name_of(name, test, 1);
		to = add(&n, name);
		POST(&n, fi_recv(n.ep, big, BIG, NULL, FI_ADDR_UNSPEC, NULL));
		assert_int_equal(await(&n, 1), 0);
		for (i = 0; i < 5; i++) {
			POST(&n, fi_trecv(n.ep, big, 8, NULL, to, 5, 0, NULL));
			POST(&n, fi_tsend(n.ep, big, BIG, NULL, to, 6, NULL));
		}
		usleep((useconds_t) round * 1000);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		killed = now_ms();
		for (errors = 0; errors < 10; errors++)
			assert_int_equal(await(&n, 1), FI_ECONNRESET);
		assert_true(now_ms() - killed < 2000);
		close_node(&n);
		snprintf(name, sizeof(name), "shm-%d-", test);
		assert_int_equal(lines_with("/proc/net/unix", name), 0);
		assert_int_equal(lines_with("/proc/self/maps", "ofi-shm"), 0);
	}
	free(big);
}

#define EARLY 3000		/* more than the ring has slots */

/* early_sender - messages with tags in turn; then it is killed, with the last ones in the ring. */
static void early_sender(pid_t test)
{
	char name[NAME_MAX_LEN];
	struct node n;
	fi_addr_t to;
	uint64_t i;

	name_of(name, test, 1);
	open_node(&n, name);
	name_of(name, test, 0);
	to = add(&n, name);
	for (i = 0; i < EARLY; i++) {
		POST(&n, fi_tsend(n.ep, &i, sizeof(i), NULL, to, i % 3, NULL));
		CALL(await(&n, 1));	/* now it is in shared memory */
	}
	raise(SIGKILL);
}

static uint64_t receive_tag(struct node *n, uint64_t tag)
{
	uint64_t in = UINT64_MAX;

	POST(n, fi_trecv(n->ep, &in, sizeof(in), NULL, FI_ADDR_UNSPEC, tag, 0, NULL));
	assert_int_equal(await(n, 1), 0);
	return in;
}

/* A receiver that posts one receive after another and reads its queue in between gets all in
 * order: those that it asks for late, too, and those of a peer that has ended.
 */
static void messages_that_come_before_their_receives(void **state)
{
	pid_t pid, test = getpid();
	struct fi_cq_tagged_entry entry;
	char name[NAME_MAX_LEN];
	uint64_t i, late = 2;
	struct node n;

	name_of(name, test, 0);
	open_node(&n, name);
	pid = fork();
	if (!pid)
		early_sender(test);
	for (i = 0; i < EARLY; i++) {
		if (i % 3 == 2)
			continue;
		assert_int_equal(receive_tag(&n, i % 3), i);
		while (fi_cq_read(n.cq, &entry, 1) == 1)
			fail();
		if (i % 300 != 299)
			continue;
		for (; late < i; late += 3)	/* these were passed by */
			assert_int_equal(receive_tag(&n, 2), late);
	}
	for (; late < EARLY; late += 3)
		assert_int_equal(receive_tag(&n, 2), late);
	waitpid(pid, NULL, 0);
	close_node(&n);
}

/* What waits in the ring is found by a program that only looks. */
static void a_message_without_a_receive_is_found_by_peek(void **state)
{
	struct fi_context2 ctx;
	struct fi_msg_tagged msg = { .addr = FI_ADDR_UNSPEC, .tag = 1, .context = &ctx };
	pid_t pid, test = getpid();
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err;
	uint64_t end = now_ms() + PATIENCE_MS;
	char name[NAME_MAX_LEN];
	struct node n;
	ssize_t ret;

	name_of(name, test, 0);
	open_node(&n, name);
	pid = fork();
	if (!pid)
		early_sender(test);
	do {
		assert_true(now_ms() < end);
		POST(&n, fi_trecvmsg(n.ep, &msg, FI_PEEK));
		while ((ret = fi_cq_read(n.cq, &entry, 1)) == -FI_EAGAIN)
			;
		if (ret == -FI_EAVAIL) {
			err = (struct fi_cq_err_entry) { 0 };
			CHECK(fi_cq_readerr(n.cq, &err, 0) == 1);
			assert_int_equal(err.err, FI_ENOMSG);
		}
	} while (ret != 1);
	assert_int_equal(entry.len, sizeof(uint64_t));
	assert_int_equal(receive_tag(&n, 1), 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close_node(&n);
}

static void a_name_in_use_is_refused(void **state)
{
	char name[NAME_MAX_LEN];
	struct node n, other;

	name_of(name, getpid(), 7);
	open_node(&n, name);
	open_objects(&other, FI_PROGRESS_MANUAL);
	assert_int_equal(open_ep(&other, name), -FI_EADDRINUSE);
	close_node(&other);
	close_node(&n);
}

static void each_endpoint_has_another_name(void **state)
{
	char a[NAME_MAX_LEN] = "", b[NAME_MAX_LEN] = "", early[NAME_MAX_LEN] = "";
	size_t len = sizeof(a);
	struct node n, other;

	open_node(&n, NULL);
	CALL(fi_getname(&n.ep->fid, a, &len));
	assert_int_equal(len, strlen(a) + 1);
	open_objects(&other, FI_PROGRESS_MANUAL);
	CALL(fi_endpoint(other.domain, other.info, &other.ep, NULL));
	len = sizeof(early);
	CALL(fi_getname(&other.ep->fid, early, &len));
	CALL(fi_ep_bind(other.ep, &other.cq->fid, FI_TRANSMIT | FI_RECV));
	CALL(fi_ep_bind(other.ep, &other.av->fid, 0));
	CALL(fi_enable(other.ep));
	len = sizeof(b);
	CALL(fi_getname(&other.ep->fid, b, &len));
	assert_string_equal(early, b);
	assert_string_not_equal(a, b);
	assert_int_equal(strncmp(a, "fi_shm://", 9), 0);
	len = 3;
	assert_int_equal(fi_getname(&n.ep->fid, early, &len), -FI_ETOOSMALL);
	assert_int_equal(len, strlen(a) + 1);
	close_node(&other);
	close_node(&n);
}

#define THREADS 8

struct opener {
	pthread_t thread;
	pthread_barrier_t *together;
	char name[NAME_MAX_LEN];
};

static void *open_one(void *arg)
{
	struct opener *o = arg;
	size_t len = sizeof(o->name);
	struct node n;

	pthread_barrier_wait(o->together);
	open_node(&n, NULL);
	CALL(fi_getname(&n.ep->fid, o->name, &len));
	pthread_barrier_wait(o->together);	/* all are open at once */
	close_node(&n);
	return NULL;
}

/* The settings of the provider are read and its descriptors made by the first; the thread sanitizer
 * looks at the others.  In a process that has opened none: this test is the first.
 */
static void threads_open_endpoints_at_once(void **state)
{
	struct opener o[THREADS];
	pthread_barrier_t together;
	int i, j;

	pthread_barrier_init(&together, NULL, THREADS);
	for (i = 0; i < THREADS; i++) {
		o[i].together = &together;
		assert_int_equal(pthread_create(&o[i].thread, NULL, open_one, &o[i]), 0);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(o[i].thread, NULL);
	pthread_barrier_destroy(&together);
	for (i = 0; i < THREADS; i++)
		for (j = 0; j < i; j++)
			assert_string_not_equal(o[i].name, o[j].name);
}

#define OTHER_USER 65534

static void listen_at(const char *key)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int cnt = snprintf(sun.sun_path + 1, sizeof(sun.sun_path) - 1, "ofi-shm/%s", key);
	size_t len = offsetof(struct sockaddr_un, sun_path) + 1 + (size_t) cnt;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	CHECK(!bind(fd, (void *) &sun, (socklen_t) len));
	CHECK(!listen(fd, 1));
}

/* be_other_user - a process of another user listens under the numbered name @own, @cnt - 1 that follow it,
 * and @name; it writes a byte to @fd and waits for its end.
 */
static void be_other_user(const char *own, int cnt, const char *name, int fd)
{
	const char *key_of_own = strstr(own, "://") + 3, *number = strrchr(own, ':') + 1;
	char key[NAME_MAX_LEN];
	int i;

	CHECK(!setgid(OTHER_USER) && !setuid(OTHER_USER));
	for (i = 0; i < cnt; i++) {
		snprintf(key, sizeof(key), "%.*s%d", (int) (number - key_of_own), key_of_own, atoi(number) + i);
		listen_at(key);
	}
	listen_at(strstr(name, "://") + 3);
	CHECK(write(fd, "", 1) == 1);
	for (;;)
		pause();
}

/* own_number - the number in @name, which an endpoint gets for which the program chose none. */
static int own_number(char name[NAME_MAX_LEN])
{
	size_t len = NAME_MAX_LEN;
	struct node n;

	open_node(&n, NULL);
	CALL(fi_getname(&n.ep->fid, name, &len));
	close_node(&n);
	return atoi(strrchr(name, ':') + 1);
}

/* Abstract names are free for all: an endpoint without a name of its own takes another. */
static void names_that_another_user_holds(void **state)
{
	char name[NAME_MAX_LEN], own[NAME_MAX_LEN], byte;
	struct node n;
	int fd[2], number;
	pid_t pid;

	if (geteuid() || getenv("FI_SHM_DIR")) {
		print_message("skipped: needs the right to become another user\n");
		skip();
	}
	name_of(name, getpid(), 8);
	assert_int_equal(pipe(fd), 0);
	number = own_number(own);
	pid = fork();
	if (!pid) {
		be_other_user(own, 4, name, fd[1]);
		_exit(0);
	}
	assert_int_equal(read(fd[0], &byte, 1), 1);
	assert_true(own_number(own) >= number + 4);
	/* a name that was chosen is the only one */
	open_objects(&n, FI_PROGRESS_MANUAL);
	assert_int_equal(open_ep(&n, name), -FI_EADDRINUSE);
	close_node(&n);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd[0]);
	close(fd[1]);
}

/* What fi_getinfo makes of a node and a service. */
static void names_of_nodes_and_services(void **state)
{
	static const struct {
		const char *node, *service;
		uint64_t flags;
		const char *src, *dest;
	} cases[] = {
		{ NULL, NULL, 0, NULL, NULL },
		{ NULL, "5", FI_SOURCE, "fi_ns://5", NULL },
		{ "x", NULL, FI_SOURCE, "fi_shm://x", NULL },
		{ "x", "5", FI_SOURCE, "fi_ns://x:5", NULL },
		{ "x", "5", 0, NULL, "fi_ns://x:5" },
		{ "localhost", "5", 0, NULL, "fi_ns://5" },
		{ "any://thing", NULL, 0, NULL, "any://thing" },
	};
	struct fi_info *hints = fi_allocinfo(), *info;
	char pid[NAME_MAX_LEN];
	size_t i;

	hints->fabric_attr->prov_name = strdup("shm");
	snprintf(pid, sizeof(pid), "fi_shm://%d.", getpid());
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(fi_getinfo(FI_VERSION(1, 20), cases[i].node, cases[i].service,
					    cases[i].flags, hints, &info), 0);
		if (cases[i].src)
			assert_string_equal(info->src_addr, cases[i].src);
		else
			assert_memory_equal(info->src_addr, pid, strlen(pid));
		if (cases[i].dest)
			assert_string_equal(info->dest_addr, cases[i].dest);
		else
			assert_null(info->dest_addr);
		fi_freeinfo(info);
	}
	fi_freeinfo(hints);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_open_endpoints_at_once),
		cmocka_unit_test(many_start_at_once_and_talk_to_all),
		cmocka_unit_test(messages_of_all_sizes),
		cmocka_unit_test(with_reading_forbidden),
		cmocka_unit_test(messages_with_reading_forbidden_on_one_side),
		cmocka_unit_test(a_blocking_receiver_sleeps_and_is_woken),
		cmocka_unit_test(automatic_progress_needs_no_calls),
		cmocka_unit_test(a_target_need_not_make_progress),
		cmocka_unit_test(a_write_that_is_known_to_be_refused_says_so),
		cmocka_unit_test(every_operation_of_a_killed_peer_ends),
		cmocka_unit_test(messages_that_come_before_their_receives),
		cmocka_unit_test(a_message_without_a_receive_is_found_by_peek),
		cmocka_unit_test(a_name_in_use_is_refused),
		cmocka_unit_test(each_endpoint_has_another_name),
		cmocka_unit_test(names_that_another_user_holds),
		cmocka_unit_test(names_of_nodes_and_services),
	};

	/* all begin at once, and on a busy machine some late */
	setenv("FI_CONN_RETRY", "30000", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
