/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * silent - connections that say nothing, more of them than the program has descriptors.
 *
 * An honest peer that connects meanwhile is served in a bounded time, one after another, and
 * the program can still open a file.  Over tcp alone: shm has no connections of other users,
 * rxd has no descriptors for its peers.
 */
#include <fcntl.h>
#include <sys/resource.h>

#include "peer.h"

#define DESCRIPTORS 256		/* of the program */
#define CONNECTIONS 600 	/* of the hostile peer */
#define PEERS 4
#define BOUND_MS 15000		/* for one honest peer */

static struct node node;
static struct target target;
static struct fi_context2 ctx[2];
static char word[64];

static void limit_descriptors(rlim_t cnt)
{
	struct rlimit limit;

	CHECK(!getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = cnt < limit.rlim_max ? cnt : limit.rlim_max;
	CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
}

/* Each connection that ends is made again at once. */
static void run_silent(void)
{
	static struct pollfd fds[CONNECTIONS];
	int i;

	node_read(STDIN_FILENO, &target, sizeof(target));
	limit_descriptors(CONNECTIONS + 64);
	for (i = 0; i < CONNECTIONS; i++)
		fds[i] = (struct pollfd) { .fd = -1, .events = POLLIN };
	for (;;) {
		for (i = 0; i < CONNECTIONS; i++) {
			if (fds[i].fd >= 0 && !fds[i].revents)
				continue;
			if (fds[i].fd >= 0)
				close(fds[i].fd);
			fds[i].fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
			fds[i].revents = 0;
			if (fds[i].fd >= 0)
				connect(fds[i].fd, (struct sockaddr *) &target.name.ip, sizeof(target.name.ip));
		}
		node_write(STDOUT_FILENO, "", 1);
		poll(fds, CONNECTIONS, 10);
		usleep(10000);
	}
}

static void run_honest(void)
{
	fi_addr_t to = peer_open(&node, &target);
	struct fi_cq_tagged_entry entry;
	int err;

	CALL(fi_tsend(node.ep, word, sizeof(word), NULL, to, 1, &ctx[0]));
	CHECK(node_reap(&node, &entry, &err, 60000), "the program does not answer");
	CHECK(!err, "%s", fi_strerror(err));
	/* it stays, as peers do */
	for (;;)
		peer_poll(&node, 1000);
}

int main(int argc, char **argv)
{
	const char *prov = getenv("TEST_PROVIDER");
	struct peer silent, honest[PEERS];
	struct fi_cq_tagged_entry entry;
	uint64_t began, ms;
	int err, i, fd;
	char byte;

	if (prov && strcmp(prov, "tcp")) {
		printf("connections of other users that take descriptors are those of tcp\n");
		return SKIPPED;
	}
	node_stay_far(1);
	setenv("FI_LOG_LEVEL", "none", 0);
	if (argc > 1 && !strcmp(argv[1], "honest"))
		run_honest();
	else if (argc > 1)
		run_silent();
	limit_descriptors(DESCRIPTORS);
	node_open(&node, "127.0.0.1", 0, 1, CAPS, FI_PROGRESS_MANUAL);
	target.name = node_name(&node, 0);
	silent = peer_start("silent", &target);
	node_read(silent.in, &byte, 1);
	peer_poll(&node, 300);
	for (i = 0; i < PEERS; i++) {
		CALL(fi_trecv(node.ep, word, sizeof(word), NULL, FI_ADDR_UNSPEC, 1, 0, &ctx[1]));
		honest[i] = peer_start("honest", &target);
		began = node_now_ms();
		CHECK(node_reap(&node, &entry, &err, BOUND_MS), "peer %d is locked out", i);
		CHECK(!err, "%s", fi_strerror(err));
		ms = node_now_ms() - began;
		fd = open("/dev/null", O_RDONLY);
		CHECK(fd >= 0, "no descriptor is left for the program");
		close(fd);
		printf("peer %d was served in %llu ms\n", i, (unsigned long long) ms);
	}
	peer_end(&silent);
	while (i--)
		peer_end(&honest[i]);
	node_close(&node);
	return 0;
}
