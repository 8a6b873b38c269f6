/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "measure.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rdma/fi_errno.h>

#define SLICES 10
#define SLICE_MIN 10		/* minimum of round trips per slice */
#define LOOK_AROUND 1024	/* empty polls between two checks of clock and control channel */
#define LOST_S 1.0		/* a datagram without a reply after this time is lost */
#define STALL_S 20.0		/* without any message for this time the test fails */
#define SHIFTS 256		/* number of offsets at which a message's content starts */
#define ANSWER_SHIFT 128	/* distinguishes a reply from an echo */

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

int pp_measure_open(struct pp_measure *m, size_t len)
{
	uint32_t x = 2463534242u;

	m->pattern = NULL;
	if (!m->o->check)
		return 0;
	m->pattern = malloc(len + SHIFTS);
	if (!m->pattern)
		return -FI_ENOMEM;
	for (size_t i = 0; i < len + SHIFTS; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		m->pattern[i] = (char) x;
	}
	return 0;
}

void pp_measure_close(struct pp_measure *m)
{
	free(m->pattern);
	m->pattern = NULL;
}

/* The expected content of message @i; with lost datagrams the two counts differ. */
static const char *message_content(struct pp_measure *m, uint64_t i, bool answer)
{
	if (m->o->ep_type == FI_EP_DGRAM)
		i = 0;
	return m->pattern + (i + (answer ? ANSWER_SHIFT : 0)) % SHIFTS;
}

static void fill_message(struct pp_measure *m, struct pp_path *path, size_t size, uint64_t i, bool answer)
{
	if (m->pattern)
		memcpy(path->tx, message_content(m, i, answer), size);
}

static int verify_message(struct pp_measure *m, struct pp_path *path, size_t size, uint64_t i, bool answer)
{
	const char *want;
	size_t at = 0;

	if (!m->pattern)
		return 0;
	want = message_content(m, i, answer);
	if (!memcmp(path->rx, want, size))
		return 0;
	while (path->rx[at] == want[at])
		at++;
	pp_ctrl_fail(m->ctrl, "data is wrong: message %llu of %zu bytes, byte %zu: 0x%02x instead of 0x%02x",
		     (unsigned long long) i, size, at, (unsigned char) path->rx[at],
		     (unsigned char) want[at]);
	return -FI_EIO;
}

/* No message for a while: check for loss, for the end of the slice, and for the peer.
 * Returns 0 to go on waiting, -FI_EAGAIN to stop waiting, or an error.
 */
static int look_around(struct pp_measure *m, double since)
{
	double waited = now_s() - since;
	int said = pp_ctrl_peek(m->ctrl);

	if (said < 0)
		return said;
	if (m->o->ep_type == FI_EP_DGRAM) {
		if (m->o->role == PP_CLIENT ? waited > LOST_S : said == PP_STEP)
			return -FI_EAGAIN;
	}
	if (waited > STALL_S) {
		pp_ctrl_fail(m->ctrl, "no message for %.0f s", STALL_S);
		return -FI_ETIMEDOUT;
	}
	sched_yield();
	return 0;
}

static int await_message(struct pp_measure *m, struct pp_path *path, size_t size)
{
	double since = 0;
	int ret;

	for (uint64_t empty = 1; !(ret = path->ops->poll(path, size)); empty++) {
		if (empty % LOOK_AROUND)
			continue;
		if (!since)
			since = now_s();
		ret = look_around(m, since);
		if (ret)
			return ret;
	}
	return ret < 0 ? ret : 0;
}

static int client_trip(struct pp_measure *m, struct pp_path *path, size_t size, uint64_t i)
{
	int ret;

	fill_message(m, path, size, i, false);
	ret = path->ops->send(path, size);
	ret = ret ? ret : await_message(m, path, size);
	ret = ret ? ret : verify_message(m, path, size, i, true);
	return ret ? ret : path->ops->rearm(path);
}

static int server_trip(struct pp_measure *m, struct pp_path *path, size_t size, uint64_t i)
{
	int ret = await_message(m, path, size);

	ret = ret ? ret : verify_message(m, path, size, i, false);
	ret = ret ? ret : path->ops->rearm(path);
	if (ret)
		return ret;
	fill_message(m, path, size, i, true);
	return path->ops->send(path, size);
}

static int make_progress(void *arg)
{
	struct pp_path *path = arg;

	return path->ops->progress(path);
}

/* Discards datagrams of an earlier slice, which would be taken for replies. */
static int drain_path(struct pp_path *path, size_t size)
{
	int ret;

	while ((ret = path->ops->poll(path, size)) > 0) {
		ret = path->ops->rearm(path);
		if (ret)
			return ret;
	}
	return ret;
}

/* @cnt round trips; both processes end the slice together. */
static int run_slice(struct pp_measure *m, struct pp_path *path, size_t size, uint64_t cnt,
		     struct pp_figure *fig)
{
	double start = now_s();
	uint64_t before = fig->acked;
	int ret = 0;

	fig->sent += cnt;
	for (uint64_t i = 0; i < cnt; i++) {
		ret = m->o->role == PP_CLIENT ? client_trip(m, path, size, i) :
						server_trip(m, path, size, i);
		fig->acked += !ret;
		if (ret == -FI_EAGAIN && m->o->role == PP_SERVER)
			break;
		if (ret && ret != -FI_EAGAIN)
			return ret;
	}
	fig->seconds += now_s() - start;
	if (path == m->fabric) {
		m->trips += cnt;
		m->lost += cnt - (fig->acked - before);
	}
	if (m->o->ep_type != FI_EP_DGRAM)
		return pp_ctrl_step(m->ctrl, make_progress, path);
	ret = pp_ctrl_step(m->ctrl, NULL, NULL);
	ret = ret ? ret : drain_path(path, size);
	return ret ? ret : pp_ctrl_step(m->ctrl, NULL, NULL);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return (x > y) - (x < y);
}

static double median_of(double *val, int cnt)
{
	qsort(val, cnt, sizeof(*val), by_value);
	return (val[(cnt - 1) / 2] + val[cnt / 2]) / 2;
}

static int warm_up(struct pp_measure *m, struct pp_path *path, size_t size)
{
	struct pp_figure none = { 0 };

	return path && m->o->warmup ? run_slice(m, path, size, m->o->warmup, &none) : 0;
}

/* One more slice of a figure; its time is returned in *@usec_p. */
static int time_slice(struct pp_measure *m, struct pp_path *path, size_t size, uint64_t cnt,
		      struct pp_figure *fig, double *usec_p)
{
	double before = fig->seconds;
	int ret = run_slice(m, path, size, cnt, fig);

	*usec_p = (fig->seconds - before) * 1e6 / (double) cnt / 2;
	return ret;
}

int pp_measure_size(struct pp_measure *m, size_t size, struct pp_result *r_p)
{
	double fabric[SLICES], bare[SLICES];
	uint64_t left = m->o->iters, cnt;
	int slices = left >= SLICES * SLICE_MIN ? SLICES : 1;
	int ret;

	memset(r_p, 0, sizeof(*r_p));
	r_p->size = size;
	ret = warm_up(m, m->fabric, size);
	ret = ret ? ret : warm_up(m, m->socket, size);
	for (int i = 0; i < slices && !ret; i++) {
		cnt = left / (slices - i);
		left -= cnt;
		ret = time_slice(m, m->fabric, size, cnt, &r_p->fabric, &fabric[i]);
		if (!ret && m->socket)
			ret = time_slice(m, m->socket, size, cnt, &r_p->socket, &bare[i]);
		if (m->progress)
			m->progress(m->progress_arg, size, (i + 1.0) / slices);
	}
	if (ret)
		return ret;
	r_p->fabric.usec = median_of(fabric, slices);
	if (m->socket)
		r_p->socket.usec = median_of(bare, slices);
	return 0;
}
