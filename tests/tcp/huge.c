/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * huge - a message, a write and a read of more than 4 GiB, with little memory.
 *
 *   huge [MIB]                    (4097 MiB and some bytes)
 *
 * The buffers are address space: both ends have separate memory, and everything between is one
 * piece of memory mapped many times.  So a byte that is misplaced by anything but whole pieces
 * is detected, and so is an end that is not reached.
 */
#include <errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "node.h"

#define PIECE ((size_t) 4 << 20)
#define BOUND_MS 240000		/* for one transfer, on a busy machine */
#define NEEDED_KIB (512 << 10)

struct buffer {
	unsigned char *at;
	size_t pieces;		/* the first one, those between, the last one */
	size_t len;		/* that is used: not the whole of the last one */
};

static void skip(const char *why)
{
	printf("SKIP: %s\n", why);
	exit(SKIPPED);
}

static long available_kib(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = -1;

	while (file && kib < 0 && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %ld", &kib) != 1)
			kib = -1;
	if (file)
		fclose(file);
	return kib;
}

/* Pages 0, 1 and 2 of the file, in units of PIECE: first, between, last. */
static struct buffer make(size_t len)
{
	struct buffer b = { .pieces = (len + PIECE - 1) / PIECE, .len = len };
	int fd = memfd_create("huge", MFD_CLOEXEC), flags = MAP_SHARED | MAP_FIXED;
	size_t i, page;

	CHECK(b.pieces >= 3);
	if (fd < 0 || ftruncate(fd, 3 * (off_t) PIECE))
		skip("no memory file can be made");
	b.at = mmap(NULL, b.pieces * PIECE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		    -1, 0);
	if (b.at == MAP_FAILED)
		skip("there is not enough address space");
	for (i = 0; i < b.pieces; i++) {
		page = i + 1 == b.pieces ? 2 : i ? 1 : 0;
		if (mmap(b.at + i * PIECE, PIECE, PROT_READ | PROT_WRITE, flags, fd,
			 (off_t) (page * PIECE)) == MAP_FAILED)
			skip("the system allows too few mappings (vm.max_map_count)");
	}
	close(fd);
	return b;
}

static unsigned char *piece(const struct buffer *b, int which)
{
	return b->at + (which == 2 ? b->pieces - 1 : (size_t) which) * PIECE;
}

static size_t used(const struct buffer *b, int which)
{
	return which == 2 ? b->len - (b->pieces - 1) * PIECE : PIECE;
}

static void fill(struct buffer *b, unsigned seed)
{
	unsigned *word;
	size_t i;
	int p;

	for (p = 0; p < 3; p++) {
		word = (unsigned *) (void *) piece(b, p);
		for (i = 0; i < PIECE / sizeof(*word); i++)
			word[i] = seed = seed * 1664525u + 1013904223u;
	}
}

static void check(const struct buffer *got, const struct buffer *want, const char *what)
{
	int p;

	for (p = 0; p < 3; p++)
		CHECK(!memcmp(piece(got, p), piece(want, p), used(got, p)),
		      "%s: the %s piece is wrong", what, p == 2 ? "last" : p ? "middle" : "first");
	/* nothing was written behind the end */
	CHECK(piece(got, 2)[used(got, 2)] == 0, "%s: a byte behind the end was written", what);
}

/* finish - @left completions of either side; each that has a length has @len. */
static void finish(struct node *a, struct node *b, unsigned left, size_t len)
{
	uint64_t end = node_now_ms() + BOUND_MS;
	struct node *nodes[] = { a, b };
	struct fi_cq_tagged_entry e;
	int err, i;

	while (left) {
		for (i = 0; i < 2; i++) {
			if (!node_reap(nodes[i], &e, &err, 0))
				continue;
			CHECK(!err, "an operation failed: %s", fi_strerror(err));
			CHECK(!(e.flags & FI_RECV) || e.len == len, "%zu bytes received", e.len);
			left--;
		}
		CHECK(node_now_ms() < end, "%u operations are left", left);
	}
}

static void report(const char *what, size_t len, uint64_t start)
{
	printf("%-8s of %zu bytes in %.1f s\n", what, len, (double) (node_now_ms() - start) / 1e3);
	fflush(stdout);
}

static void run(size_t len)
{
	struct buffer src = make(len), dst = make(len);
	struct fi_context2 ctx[2];
	struct node_name name;
	struct fid_mr *mr;
	struct node a, b;
	uint64_t start, base;
	fi_addr_t to;

	node_open(&a, "127.0.0.1", 0, 1, FI_MSG | FI_RMA, FI_PROGRESS_MANUAL);
	node_open(&b, "127.0.0.1", 0, 1, FI_MSG | FI_RMA, FI_PROGRESS_MANUAL);
	if (a.info->ep_attr->max_msg_size < len)
		skip("the endpoint's max_msg_size is less");
	name = node_name(&b, 0);
	to = node_insert(&a, &name);
	CALL(fi_mr_reg(b.domain, dst.at, len, FI_REMOTE_WRITE | FI_REMOTE_READ, 0, 0, 0, &mr, NULL));
	base = b.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) dst.at : 0;

	fill(&src, 1);
	start = node_now_ms();
	CALL(fi_recv(b.ep, dst.at, len, NULL, FI_ADDR_UNSPEC, &ctx[0]));
	CALL(fi_send(a.ep, src.at, len, NULL, to, &ctx[1]));
	finish(&a, &b, 2, len);
	check(&dst, &src, "message");
	report("message", len, start);

	fill(&src, 2);
	start = node_now_ms();
	CALL(fi_write(a.ep, src.at, len, NULL, to, base, fi_mr_key(mr), &ctx[0]));
	finish(&a, &b, 1, len);
	/* the write is complete here; the read proves that it has arrived there */
	report("write", len, start);
	start = node_now_ms();
	memset(src.at, 0, PIECE);
	memset(piece(&src, 1), 0, PIECE);
	memset(piece(&src, 2), 0, PIECE);
	CALL(fi_read(a.ep, src.at, len, NULL, to, base, fi_mr_key(mr), &ctx[0]));
	finish(&a, &b, 1, len);
	check(&src, &dst, "read");
	fill(&dst, 2);
	memset(piece(&dst, 2) + used(&dst, 2), 0, PIECE - used(&dst, 2));
	check(&src, &dst, "write");
	report("read", len, start);

	CALL(fi_close(&mr->fid));
	node_close(&a);
	node_close(&b);
}

int main(int argc, char **argv)
{
	size_t mib = argc > 1 ? (size_t) atol(argv[1]) : 4097;

	node_stay_far(0);
	if (sizeof(size_t) < 8)
		skip("4 GiB are more than this machine can address");
	if (available_kib() >= 0 && available_kib() < NEEDED_KIB)
		skip("less than 512 MiB of memory are available");
	run((mib << 20) + 12345);
	return 0;
}
