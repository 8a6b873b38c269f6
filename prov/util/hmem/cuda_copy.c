/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* cuda_copy.c - copies to, from and between CUDA devices. */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "hmem/cuda.h"

#define BOUNCE (64u << 10)
#define BOUNCE_IN 4096		/* shorter copies to a device are as fast from any memory */
#define PATIENCE_MAX (20 * CLOCK_NS_PER_MS)
#define PATIENCE_MIN (CLOCK_NS_PER_MS / 5)

static void *new_bounce(void)
{
	void *buf = aligned_alloc(4096, BOUNCE);

	if (buf && cu.MemHostRegister(buf, BOUNCE, CU_HOST_PORTABLE)) {
		free(buf);
		buf = NULL;
	}
	return buf;
}

void cuda_copy_init(struct cuda_place *place)
{
	pthread_mutex_init(&place->lock, NULL);
	pthread_mutex_init(&place->bounce_lock, NULL);
	place->bounce = new_bounce();
	place->patience = PATIENCE_MAX;
	place->async = hmem_param_bool("hmem_cuda_enable_async_copy", true);
}

/* ---- what the program has left in flight ------------------------------------------------ */

/* default_busy - is there work in the default stream?  It is not asked while a stream that it waits for is
 * being captured, since that would end the capture.
 */
static bool default_busy(void)
{
	void *stream = (void *) (uintptr_t) CU_STREAM_LEGACY;
	int status;

	if (cu.StreamIsCapturing && cu.StreamIsCapturing(stream, &status))
		return false;
	return cu.StreamQuery(stream) == CU_NOT_READY;
}

/* wait_default - until the default stream is idle, for place->patience at most.  A wait in vain divides the
 * patience by four; one that ends with an idle stream raises it to eight times its length.
 */
static void wait_default(struct cuda_place *place)
{
	uint64_t patience = atomic_load_explicit(&place->patience, memory_order_relaxed);
	uint64_t waited, start = clock_ns();

	while (default_busy()) {
		if (clock_ns() - start < patience)
			continue;
		patience = patience / 4 > PATIENCE_MIN ? patience / 4 : PATIENCE_MIN;
		atomic_store_explicit(&place->patience, patience, memory_order_relaxed);
		atomic_store_explicit(&place->kernel, true, memory_order_relaxed);
		return;
	}
	waited = clock_ns() - start;
	if (8 * waited <= patience)
		return;
	patience = 8 * waited < PATIENCE_MAX ? 8 * waited : PATIENCE_MAX;
	atomic_store_explicit(&place->patience, patience, memory_order_relaxed);
}

/* settle_default - before a copy to or from memory without a context: wait for what the program's calls have
 * left in the default stream, as cuMemcpyHtoD() from pageable memory does, which returns when the
 * last piece is in a buffer of the driver.  Such a rest takes microseconds, or milliseconds where
 * processes take turns on the device.  What takes longer is a kernel, which may itself wait for this
 * transfer.  After one wait in vain no copy waits until the stream has been found idle.
 */
static void settle_default(const struct hmem_loc *loc, struct cuda_place *place)
{
	bool kernel;

	if (!loc->unshared)
		return;
	kernel = atomic_load_explicit(&place->kernel, memory_order_relaxed);
	if (!default_busy())
		atomic_store_explicit(&place->kernel, false, memory_order_relaxed);
	else if (!kernel)
		wait_default(place);
}

void hmem_cuda_settle(const struct hmem_loc *loc)
{
	struct cuda_place *place = loc->ctx;

	if (!loc->unshared || cuda_enter(place->ctx, place->device))
		return;
	settle_default(loc, place);
	cuda_leave();
}

/* ---- copies ------------------------------------------------------------------------ */

/* A stream of ours: the default one would wait for the program's kernels. */
static void *stream_of(const struct cuda_place *place, enum hmem_dir dir)
{
	return place->stream[dir == HMEM_TO_HOST ? HMEM_TO_HOST : HMEM_TO_DEVICE];
}

static cu_result copy_launch(enum hmem_dir dir, void *dev, void *buf, size_t len, void *stream,
			     const char **func_p)
{
	cu_ptr at = (uintptr_t) dev;

	switch (dir) {
	case HMEM_TO_HOST:
		*func_p = "cuMemcpyDtoHAsync";
		return cu.MemcpyDtoHAsync(buf, at, len, stream);
	case HMEM_TO_DEVICE:
		*func_p = "cuMemcpyHtoDAsync";
		return cu.MemcpyHtoDAsync(at, buf, len, stream);
	default:	/* the devices may differ: the addresses say which they are */
		*func_p = "cuMemcpyAsync";
		return cu.MemcpyAsync(at, (uintptr_t) buf, len, stream);
	}
}

static cu_result copy_now(enum hmem_dir dir, struct cuda_place *place, void *dev, void *buf, size_t len,
			  const char **func_p)
{
	void *stream = stream_of(place, dir);
	cu_result ret = copy_launch(dir, dev, buf, len, stream, func_p);

	if (ret)
		return ret;
	*func_p = "cuStreamSynchronize";
	return cu.StreamSynchronize(stream);
}

/* copy_bounced - the same by a pinned buffer: the driver copies pageable memory twice, and slowly.
 * False: not done.
 */
static bool copy_bounced(enum hmem_dir dir, struct cuda_place *place, void *dev, void *buf, size_t len,
			 const char **func_p, cu_result *ret_p)
{
	if (!place->bounce || len > BOUNCE || (dir == HMEM_TO_DEVICE && len < BOUNCE_IN) ||
	    pthread_mutex_trylock(&place->bounce_lock))
		return false;
	if (dir == HMEM_TO_DEVICE)
		memcpy(place->bounce, buf, len);
	*ret_p = copy_now(dir, place, dev, place->bounce, len, func_p);
	if (dir == HMEM_TO_HOST && !*ret_p)
		memcpy(buf, place->bounce, len);
	pthread_mutex_unlock(&place->bounce_lock);
	return true;
}

int cuda_copy(enum hmem_dir dir, const struct hmem_loc *loc, void *dev, void *buf, size_t len)
{
	struct cuda_place *place = loc->ctx;
	const char *func;
	cu_result ret;
	int err = cuda_enter(place->ctx, place->device);

	if (err)
		return err;
	settle_default(loc, place);
	if (!copy_bounced(dir, place, dev, buf, len, &func, &ret))
		ret = copy_now(dir, place, dev, buf, len, &func);
	cuda_leave();
	return ret ? cuda_fail(func, place->device, ret) : 0;
}

static cu_result cuda_get_event(struct cuda_place *place, void **event_p)
{
	*event_p = NULL;
	pthread_mutex_lock(&place->lock);
	if (place->event_cnt)
		*event_p = place->events[--place->event_cnt];
	pthread_mutex_unlock(&place->lock);
	return *event_p ? CU_OK : cu.EventCreate(event_p, CU_EVENT_DISABLE_TIMING);
}

static void cuda_put_event(struct cuda_place *place, void *event)
{
	pthread_mutex_lock(&place->lock);
	if (place->event_cnt < sizeof(place->events) / sizeof(place->events[0])) {
		place->events[place->event_cnt++] = event;
		event = NULL;
	}
	pthread_mutex_unlock(&place->lock);
	if (event)
		cu.EventDestroy(event);
}

/* copy_enqueue - copy and event into the stream.  After a failure nothing of it is in flight. */
static cu_result copy_enqueue(enum hmem_dir dir, struct cuda_place *place, void *dev, void *buf, size_t len,
			      void *event, const char **func_p)
{
	void *stream = stream_of(place, dir);
	cu_result ret = copy_launch(dir, dev, buf, len, stream, func_p);

	if (ret)
		return ret;
	*func_p = "cuEventRecord";
	ret = cu.EventRecord(event, stream);
	if (ret)
		cu.StreamSynchronize(stream);
	return ret;
}

int cuda_copy_start(enum hmem_dir dir, const struct hmem_loc *loc, void *dev, void *buf, size_t len,
		    struct hmem_event *event)
{
	struct cuda_place *place = loc->ctx;
	const char *func = "cuEventCreate";
	cu_result ret;
	void *ev;
	int err;

	if (!place->async) {
		event->kind = NULL;
		return cuda_copy(dir, loc, dev, buf, len);
	}
	err = cuda_enter(place->ctx, place->device);
	if (err)
		return err;
	settle_default(loc, place);
	ret = cuda_get_event(place, &ev);
	if (!ret) {
		ret = copy_enqueue(dir, place, dev, buf, len, ev, &func);
		if (ret)
			cuda_put_event(place, ev);
	}
	cuda_leave();
	if (ret)
		return cuda_fail(func, place->device, ret);
	event->handle = ev;
	return 0;
}

int cuda_copy_done(struct hmem_event *event)
{
	struct cuda_place *place = event->ctx;
	cu_result ret;

	cuda_relax();
	ret = cu.EventQuery(event->handle);
	cuda_restore();
	if (ret == CU_NOT_READY)
		return 0;
	cuda_put_event(place, event->handle);
	return ret ? cuda_fail("cuEventQuery", place->device, ret) : 1;
}
