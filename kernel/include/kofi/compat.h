/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * compat.h - what differs between the kernels that are built for: 6.1 to 6.12.
 */
#ifndef KOFI_COMPAT_H
#define KOFI_COMPAT_H

#include <linux/device.h>
#include <linux/skbuff.h>
#include <linux/uio.h>
#include <linux/version.h>

#ifndef ITER_SOURCE
#define ITER_SOURCE	1	/* WRITE: the iterator's memory is read from */
#define ITER_DEST	0	/* READ: it is written to */
#endif

static inline struct class *kofi_class_create(const char *name)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	return class_create(name);
#else
	return class_create(THIS_MODULE, name);
#endif
}

/*
 * A zero-copy buffer: KOFI_UBUF_RELEASE(name, fn) defines what kofi_ubuf_init(&ubuf, name)
 * needs for fn(ubuf) to be called when the network stack has dropped its last reference.
 *
 * SKBFL_DONT_ORPHAN: without it the stack copies the pages whenever it clones a packet, TCP
 * with each transmission, and then uncharges the socket for memory that was never charged.
 */
#define KOFI_UBUF_FLAGS (SKBFL_ZEROCOPY_FRAG | SKBFL_DONT_ORPHAN)

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define KOFI_UBUF_RELEASE(name, fn)						\
static void name##_complete(struct sk_buff *skb, struct ubuf_info *ubuf, bool zc)	\
{										\
	if (refcount_dec_and_test(&ubuf->refcnt))				\
		fn(ubuf);							\
}										\
static const struct ubuf_info_ops name = { .complete = name##_complete }

static inline void kofi_ubuf_init(struct ubuf_info *ubuf, const struct ubuf_info_ops *ops)
{
	ubuf->ops = ops;
	ubuf->flags = KOFI_UBUF_FLAGS;
	refcount_set(&ubuf->refcnt, 1);
}
#else
typedef void (*kofi_ubuf_fn)(struct sk_buff *skb, struct ubuf_info *ubuf, bool zc);

#define KOFI_UBUF_RELEASE(name, fn)						\
static void name##_complete(struct sk_buff *skb, struct ubuf_info *ubuf, bool zc)	\
{										\
	if (refcount_dec_and_test(&ubuf->refcnt))				\
		fn(ubuf);							\
}										\
static const kofi_ubuf_fn name = name##_complete

static inline void kofi_ubuf_init_(struct ubuf_info *ubuf, kofi_ubuf_fn fn)
{
	ubuf->callback = fn;
	ubuf->flags = KOFI_UBUF_FLAGS;
	refcount_set(&ubuf->refcnt, 1);
}
#define kofi_ubuf_init(ubuf, name) kofi_ubuf_init_(ubuf, *(name))
#endif

/* kofi_ubuf_put - drop the reference of kofi_ubuf_init(). */
#define kofi_ubuf_put(ubuf, name) name##_complete(NULL, ubuf, true)

#endif /* KOFI_COMPAT_H */
