/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * scene - processes of a small job that hangs, or works badly, to be looked at.
 *
 *   scene PROVIDER PROCESSES SCENE [threads]
 *
 *   ring     rank N receives tag 0x100 + N from rank N + 1, which never sends it; and has sent to rank N + 1 a
 *            message of tag 0x200 + N, which nothing receives
 *   crossed  each of two ranks sends 1 MiB to the other one, and receives only when that is done
 *   tag      rank 0 receives tag 0x2a from any peer; rank 1 has sent it tag 0x2b
 *   flood    rank 1 has sent 300 messages of 8 KiB to rank 0, which polls, and posts no receive
 *   dead     rank 1 has talked with rank 0, and was killed; rank 0 receives from it, which ends with an error,
 *            and sends nothing to rank 2, which receives from rank 0
 *   third    rank 1 was killed before any talked with it; rank 2 receives from it, and rank 0 from rank 2
 *   oneway   ranks 0 and 1 have talked; then the command in SCENE_RUN is run, in which PORT0 and PORT1 are their
 *            ports, and rank 0 sends 64 KiB of tag 0x60 to rank 1, which has a receive for it
 *   stopped  rank 1 has talked with rank 0, and was stopped by a signal; rank 0 sends 1 MiB to it
 *   many     rank 0 receives from 10,000 peers, at addresses where nothing is
 *   asleep   rank 1 computes, and makes no progress; rank 0 sends messages to it, as many as are taken
 *
 * SCENE_LIMIT: "user": rank 1 is in a user namespace of its own; "dump": the processes are not dumpable (PR_SET_DUMPABLE).
 *
 * SCENE_HOSTS: the name of a network namespace for each rank, which is its hostname, too, and has the address
 * 10.9.0.(1 + rank).  Without it all are on this host.
 *
 * "threads": endpoints with a lock, and processes that sleep outside of the library; else without one,
 * and they poll.  The first process writes the pids in a line when all wait, and ends, with all others, when
 * its input ends.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define RANKS_MAX 16
#define NAME_MAX_LEN 256

#define CHECK(x) do { if (!(x)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); exit(1); } } while (0)

/* What the processes share. */
static struct {
	_Alignas(16) char name[RANKS_MAX][NAME_MAX_LEN];
	size_t len[RANKS_MAX];
	_Atomic int named, waiting;
} *shared;

static char node[32] = "127.0.0.1";

/* enter_host - the one of rank @me. */
static void enter_host(int me)
{
	char hosts[256], path[300], *host, *rest = hosts;
	int i, fd;

	if (!getenv("SCENE_HOSTS"))
		return;
	snprintf(hosts, sizeof(hosts), "%s", getenv("SCENE_HOSTS"));
	for (i = 0, host = strtok_r(hosts, " ", &rest); host && i < me; i++)
		host = strtok_r(NULL, " ", &rest);
	CHECK(host);
	snprintf(path, sizeof(path), "/run/netns/%s", host);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && !setns(fd, CLONE_NEWNET) && !unshare(CLONE_NEWUTS) && !sethostname(host, strlen(host)));
	close(fd);
	snprintf(node, sizeof(node), "10.9.0.%d", 1 + me);
}

/* enter_limit - what keeps other processes from reading the memory of rank @me, or it from theirs. */
static void enter_limit(int me)
{
	const char *limit = getenv("SCENE_LIMIT");
	char map[32];
	int fd;

	if (limit && !strcmp(limit, "dump"))
		CHECK(!prctl(PR_SET_DUMPABLE, 0));
	if (!limit || strcmp(limit, "user") || me != 1)
		return;
	snprintf(map, sizeof(map), "0 %d 1", (int) geteuid());
	CHECK(!unshare(CLONE_NEWUSER));
	fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
	CHECK(fd >= 0 && write(fd, map, strlen(map)) == (ssize_t) strlen(map));
	close(fd);
}

static struct fi_info *find(const char *provider, bool threads)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	CHECK(hints);
	hints->fabric_attr->prov_name = strdup(provider);
	hints->ep_attr->type = FI_EP_RDM;
	hints->caps = FI_TAGGED | FI_DIRECTED_RECV;
	hints->domain_attr->threading = threads ? FI_THREAD_SAFE : FI_THREAD_DOMAIN;
	hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	CHECK(!fi_getinfo(FI_VERSION(1, 20), strcmp(provider, "shm") ? node : NULL, NULL,
			  strcmp(provider, "shm") ? FI_SOURCE : 0, hints, &info));
	fi_freeinfo(hints);
	return info;
}

static struct fid_cq *cq;

static struct fid_ep *open_ep(struct fi_info *info, struct fid_av **av)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_ep *ep;

	CHECK(!fi_fabric(info->fabric_attr, &fabric, NULL));
	CHECK(!fi_domain(fabric, info, &domain, NULL));
	CHECK(!fi_endpoint(domain, info, &ep, NULL));
	CHECK(!fi_cq_open(domain, &cq_attr, &cq, NULL));
	CHECK(!fi_av_open(domain, &av_attr, av, NULL));
	CHECK(!fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	CHECK(!fi_ep_bind(ep, &(*av)->fid, 0));
	CHECK(!fi_enable(ep));
	return ep;
}

static void progress(void)
{
	struct fi_cq_tagged_entry entry;

	fi_cq_read(cq, &entry, 1);
}

/* One process of the job. */
struct rank {
	struct fid_av *av;
	int me, cnt;
	bool threads;
	struct fid_ep *ep;
	fi_addr_t peer[RANKS_MAX];
};

static char in[64], big[1 << 20];

static void send_to(struct rank *rank, int to, const void *buf, size_t len, uint64_t tag)
{
	while (fi_tsend(rank->ep, buf, len, NULL, rank->peer[to], tag, NULL))
		progress();
}

static void receive(struct rank *rank, fi_addr_t from, uint64_t tag)
{
	CHECK(!fi_trecv(rank->ep, in, sizeof(in), NULL, from, tag, 0, NULL));
}

static void settle(void)	/* until what was sent has come */
{
	int i;

	for (i = 0; i < 500; i++) {
		progress();
		usleep(1000);
	}
}

/* talk - with @with, one message each way, so that there is a connection. */
static void talk(struct rank *rank, int with)
{
	struct fi_cq_tagged_entry entry;
	int left = 2;

	receive(rank, rank->peer[with], 1);
	send_to(rank, with, "hello", 6, 1);
	while (left)
		left -= fi_cq_read(cq, &entry, 1) == 1;
}

static void be_ring(struct rank *rank)
{
	int next = (rank->me + 1) % rank->cnt;

	receive(rank, rank->peer[next], (uint64_t) (0x100 + rank->me));
	send_to(rank, next, "message", 8, (uint64_t) (0x200 + rank->me));
}

static void be_crossed(struct rank *rank)
{
	send_to(rank, !rank->me, big, sizeof(big), 0x30);
}

static void be_tag(struct rank *rank)
{
	if (rank->me == 0)
		receive(rank, FI_ADDR_UNSPEC, 0x2a);
	else
		send_to(rank, 0, "message", 8, 0x2b);
}

static void be_flood(struct rank *rank)
{
	int i;

	for (i = 0; rank->me == 1 && i < 300; i++)
		send_to(rank, 0, big, 8192, (uint64_t) i);
}

static void be_dead(struct rank *rank)
{
	if (rank->me < 2)
		talk(rank, !rank->me);
	if (rank->me == 1)
		shared->waiting++;
	if (rank->me == 1)
		raise(SIGKILL);
	receive(rank, rank->peer[rank->me == 0], 0x40);
}

static void be_third(struct rank *rank)
{
	if (rank->me == 1)
		shared->waiting++;
	if (rank->me == 1)
		raise(SIGKILL);
	receive(rank, rank->peer[rank->me == 0 ? 2 : 1], (uint64_t) (0x40 + rank->me));
}

static void export_port(const char *name, int rank)
{
	const struct sockaddr_in *sin = (const struct sockaddr_in *) (const void *) shared->name[rank];
	char text[16];

	snprintf(text, sizeof(text), "%u", ntohs(sin->sin_port));
	setenv(name, text, 1);
}

static void be_oneway(struct rank *rank)
{
	talk(rank, !rank->me);
	if (rank->me == 1) {
		CHECK(!fi_trecv(rank->ep, big, sizeof(big), NULL, rank->peer[0], 0x60, 0, NULL));
		return;
	}
	settle();
	export_port("PORT0", 0);
	export_port("PORT1", 1);
	CHECK(getenv("SCENE_RUN") && !system(getenv("SCENE_RUN")));
	send_to(rank, 1, big, 65536, 0x60);
}

static void be_stopped(struct rank *rank)
{
	talk(rank, !rank->me);
	if (rank->me == 1)
		shared->waiting++;
	if (rank->me == 1)
		raise(SIGSTOP);
	send_to(rank, 1, big, sizeof(big), 0x50);
}

static void be_asleep(struct rank *rank)
{
	int i;

	talk(rank, !rank->me);
	for (i = 0; rank->me == 0 && i < 10000; i++)
		if (fi_tsend(rank->ep, big, 8192, NULL, rank->peer[1], (uint64_t) i, NULL))
			progress();
	if (rank->me == 1)
		shared->waiting++;
	while (rank->me == 1)
		usleep(100000);
}

static void be_many(struct rank *rank)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(9) };
	fi_addr_t from;
	uint32_t i;

	for (i = 0; rank->me == 0 && i < 10000; i++) {
		sin.sin_addr.s_addr = htonl(0x0a000001 + i);
		CHECK(fi_av_insert(rank->av, &sin, 1, &from, 0, NULL) == 1);
		receive(rank, from, i);
	}
}

static const struct scene {
	const char *name;
	void (*be)(struct rank *rank);
} scenes[] = {
	{ "ring", be_ring }, { "crossed", be_crossed }, { "tag", be_tag }, { "flood", be_flood },
	{ "dead", be_dead }, { "third", be_third }, { "oneway", be_oneway }, { "stopped", be_stopped }, { "asleep", be_asleep },
	{ "many", be_many },
};

static void meet(struct rank *rank)
{
	int i;

	shared->len[rank->me] = NAME_MAX_LEN;
	CHECK(!fi_getname(&rank->ep->fid, shared->name[rank->me], &shared->len[rank->me]));
	shared->named++;
	while (shared->named < rank->cnt)
		usleep(1000);
	for (i = 0; i < rank->cnt; i++)
		CHECK(fi_av_insert(rank->av, shared->name[i], 1, &rank->peer[i], 0, NULL) == 1);
}

static void be_rank(const char *provider, struct rank *rank, const struct scene *scene)
{
	enter_host(rank->me);
	enter_limit(rank->me);
	rank->ep = open_ep(find(provider, rank->threads), &rank->av);
	meet(rank);
	scene->be(rank);
	settle();
	shared->waiting++;
	for (;;) {
		if (rank->threads)
			pause();
		else
			progress();
	}
}

static const struct scene *scene_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		if (!strcmp(scenes[i].name, name))
			return &scenes[i];
	return NULL;
}

static pid_t start_rank(char **argv, int me, int cnt, const struct scene *scene)
{
	struct rank rank = { .me = me, .cnt = cnt, .threads = argv[4] != NULL };
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		be_rank(argv[1], &rank, scene);
	}
	return pid;
}

int main(int argc, char **argv)
{
	const struct scene *scene = argc > 3 ? scene_of(argv[3]) : NULL;
	int cnt = argc > 3 ? atoi(argv[2]) : 0, i;
	pid_t pid[RANKS_MAX];

	CHECK(scene && cnt > 1 && cnt <= RANKS_MAX);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	for (i = 0; i < cnt; i++)
		pid[i] = start_rank(argv, i, cnt, scene);
	while (shared->waiting < cnt)
		usleep(10000);
	for (i = 0; i < cnt; i++)
		printf("%d%c", (int) pid[i], i + 1 < cnt ? ' ' : '\n');
	fflush(stdout);
	while (getchar() != EOF)
		;
	for (i = 0; i < cnt; i++)
		kill(pid[i], SIGKILL);
	return 0;
}
