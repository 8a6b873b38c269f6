/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "layer/mem.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <sys/random.h>

#define SLAB_CNT 16		/* buffers per slab */
#define KEY_TRIES 8		/* attempts to find an unused key */
#define ALIGN 64u
#define LOCAL (FI_SEND | FI_RECV | FI_READ | FI_WRITE)

struct slab {
	struct list node;
	struct fid_mr *mr;
	_Alignas(ALIGN) char data[];
};

void layer_mem_init(struct layer_mem *mem, struct fid_domain *domain,
		    const struct fi_info *info, size_t buf_size)
{
	int mode = info->domain_attr->mr_mode;
	size_t key_size = info->domain_attr->mr_key_size;

	mem->domain = domain;
	mem->keeps = false;
	mem->local = mode & FI_MR_LOCAL;
	mem->virt = mode & (FI_MR_VIRT_ADDR | FI_MR_BASIC);
	mem->prov_key = mode & (FI_MR_PROV_KEY | FI_MR_BASIC);
	mem->key_mask = key_size && key_size < 8 ? (UINT64_C(1) << 8 * key_size) - 1 : UINT64_MAX;
	mem->buf_size = (buf_size + ALIGN - 1) & ~(size_t) (ALIGN - 1);
	list_init(&mem->free);
	list_init(&mem->slabs);
}

void layer_mem_fini(struct layer_mem *mem)
{
	struct slab *slab;

	if (mem->keeps) {
		mr_cache_fini(&mem->locals);
		mr_cache_fini(&mem->remotes);
	}
	while ((slab = list_pop_entry(&mem->slabs, struct slab, node))) {
		if (slab->mr)
			fi_close(&slab->mr->fid);
		free(slab);
	}
	list_init(&mem->free);
}

/* ---- regions ------------------------------------------------------------------------ */

static uint64_t new_key(const struct layer_mem *mem)
{
	uint64_t key;

	if (mem->prov_key)
		return 0;
	while (getrandom(&key, sizeof(key), 0) != sizeof(key))
		;
	return key & mem->key_mask;
}

static int reg_memory(struct layer_mem *mem, void *buf, size_t len, uint64_t access, void *context,
		      struct fid_mr **mr_p)
{
	int ret, tries = 0;

	do {
		ret = fi_mr_reg(mem->domain, buf, len, access, 0, new_key(mem), 0, mr_p,
				context);
	} while (ret == -FI_ENOKEY && !mem->prov_key && ++tries < KEY_TRIES);
	return ret;
}

/* The context of a cached region is its cache entry; other regions have none. */
static int open_kept(struct layer_mem *mem, struct mr_entry *entry, uint64_t access, void **mr_p)
{
	struct fid_mr *mr;
	int ret = reg_memory(mem, (void *) entry->addr, entry->len, access, entry, &mr);

	if (!ret)
		*mr_p = mr;
	return ret;
}

static int open_local(void *arg, struct mr_entry *entry, void **mr_p)
{
	return open_kept(arg, entry, LOCAL, mr_p);
}

static int open_remote(void *arg, struct mr_entry *entry, void **mr_p)
{
	return open_kept(arg, entry, FI_REMOTE_READ, mr_p);
}

static void close_kept(void *arg, void *mr)
{
	fi_close(&((struct fid_mr *) mr)->fid);
}

static const struct mr_cache_ops local_ops = { .open = open_local, .close = close_kept };
static const struct mr_cache_ops remote_ops = { .open = open_remote, .close = close_kept };

void layer_mem_keep(struct layer_mem *mem, const struct fi_provider *prov)
{
	if (!mem->local)
		return;
	mr_cache_init(&mem->locals, &local_ops, mem, prov);
	mr_cache_init(&mem->remotes, &remote_ops, mem, prov);
	mem->keeps = true;
}

static int get_kept(struct mr_cache *cache, void *buf, size_t len, struct fid_mr **mr_p)
{
	struct mr_entry *entry;
	int ret = mr_cache_get(cache, buf, len, &entry);

	if (!ret)
		*mr_p = entry->mr;
	return ret;
}

int layer_mr_local(struct layer_mem *mem, void *buf, size_t len, struct fid_mr **mr_p)
{
	*mr_p = NULL;
	return mem->local ? reg_memory(mem, buf, len, LOCAL, NULL, mr_p) : 0;
}

int layer_mr_into(struct layer_mem *mem, void *buf, size_t len, struct fid_mr **mr_p)
{
	return mem->keeps ? get_kept(&mem->locals, buf, len, mr_p) : layer_mr_local(mem, buf, len, mr_p);
}

/* name_region - by what peers know @mr, unless @ret says that there is none.  Returns @ret. */
static int name_region(const struct layer_mem *mem, const void *buf, struct fid_mr *mr, int ret,
		       uint64_t *addr_p, uint64_t *key_p)
{
	if (ret)
		return ret;
	*addr_p = mem->virt ? (uintptr_t) buf : 0;
	*key_p = fi_mr_key(mr);
	return 0;
}

int layer_mr_remote(struct layer_mem *mem, void *buf, size_t len, struct fid_mr **mr_p,
		    uint64_t *addr_p, uint64_t *key_p)
{
	int ret = mem->keeps ? get_kept(&mem->remotes, buf, len, mr_p) :
			       reg_memory(mem, buf, len, FI_REMOTE_READ, NULL, mr_p);

	return name_region(mem, buf, *mr_p, ret, addr_p, key_p);
}

int layer_mr_target(struct layer_mem *mem, void *buf, size_t len, struct fid_mr **mr_p,
		    uint64_t *addr_p, uint64_t *key_p)
{
	int ret = reg_memory(mem, buf, len, FI_REMOTE_WRITE, NULL, mr_p);

	return name_region(mem, buf, *mr_p, ret, addr_p, key_p);
}

void layer_mr_done(struct fid_mr *mr)
{
	if (mr->fid.context)
		mr_cache_put(mr->fid.context);
	else
		fi_close(&mr->fid);
}

/* ---- buffers --------------------------------------------------------------------------- */

static int slab_new(struct layer_mem *mem)
{
	size_t len = SLAB_CNT * mem->buf_size, i;
	struct slab *slab = aligned_alloc(ALIGN, sizeof(*slab) + len);
	struct layer_buf *buf;
	int ret;

	if (!slab)
		return -FI_ENOMEM;
	ret = layer_mr_local(mem, slab->data, len, &slab->mr);
	if (ret) {
		free(slab);
		return ret;
	}
	list_add_tail(&slab->node, &mem->slabs);
	for (i = 0; i < SLAB_CNT; i++) {
		buf = (struct layer_buf *) (slab->data + i * mem->buf_size);
		buf->desc = layer_desc(slab->mr);
		list_add_tail(&buf->node, &mem->free);
	}
	return 0;
}

struct layer_buf *layer_buf_get(struct layer_mem *mem)
{
	if (list_empty(&mem->free) && slab_new(mem))
		return NULL;
	return container_of(list_pop(&mem->free), struct layer_buf, node);
}
