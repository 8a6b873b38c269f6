/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Has the process of a peer that is inside ended?  Its socket is played by recv() of this program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/test/verify.h"
#include "shm/seg.h"
#include "shm/tenant.h"

static unsigned reads, left;	/* calls; and those of them that find bytes */

ssize_t recv(int fd, void *buf, size_t len, int flags)
{
	if (++reads > 1000)
		fail_msg("it reads without an end");
	if (!left)
		return 0;
	left--;
	return (ssize_t) len;
}

/* open_inside - the tenant of a connection that has closed; its peer, this process, reads what a PULL named. */
static struct shm_tenant *open_inside(struct shm_seg *seg)
{
	struct shm_tenant *t = shm_tenant_new(0, getpid());

	assert_non_null(t);
	t->in = t->out = seg;
	t->pulled = 4096;
	t->pulled_end = 8192;
	atomic_store(&seg->rx.pulling, 1);
	reads = 0;
	return t;
}

static void a_peer_that_writes_without_end(void **state)
{
	struct shm_seg *seg = calloc(1, sizeof(*seg));
	struct shm_tenant *t;

	assert_non_null(seg);
	t = open_inside(seg);
	left = 1000000;
	assert_true(t->base.ops->inside(&t->base));
	assert_in_range(reads, 1, 64);
	/* what it has written last is followed by its end */
	left = 20;
	while (t->base.ops->inside(&t->base))
		assert_in_range(reads, 1, 200);
	assert_int_equal(left, 0);
	free(t);
	free(seg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_peer_that_writes_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
