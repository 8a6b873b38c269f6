/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/av_shared.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <rdma/providers/fi_log.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/memory.h"
#include "obj/av_table.h"
#include "obj/domain.h"

#define MAGIC UINT64_C(0x3176612d69666f)
#define ENTRIES_AT 4096		/* entries begin on the second page */
#define GROW_ENTRIES 1024u

/* The first page of the file.  Fixed layout: processes of different builds meet here. */
struct head {
	uint64_t magic;
	uint32_t addr_format;
	uint32_t slot_size;
	pthread_mutex_t lock;		/* robust, between processes; readers take it, too */
	uint32_t unused;
	uint32_t top, live, free_cnt, free_hint;
};
_Static_assert(sizeof(struct head) <= ENTRIES_AT, "head fits its page");

struct obj_av_shared {
	struct head *head;
	pthread_mutex_t *lock;		/* head->lock, in a mapping that may be written */
	int fd;
	bool readonly;
	size_t mapped;			/* bytes of address space */
	size_t file_size;		/* bytes that we know are in the file */
	char path[NAME_MAX];
};

static size_t file_bytes(const struct obj_av *av, uint32_t entries)
{
	return ENTRIES_AT + (size_t) entries * av->slot_size;
}

static int make_path(struct obj_av *av, const char *name, char *path, size_t size)
{
	int len;

	if (!*name || strchr(name, '/'))
		len = -1;
	else
		len = snprintf(path, size, "/fi_av.%u.%s", (unsigned) geteuid(), name);
	if (len < 0 || (size_t) len >= size) {
		FI_WARN(av->domain->prov, FI_LOG_AV,
			"\"%s\" cannot name a shared address vector: give a short name without '/'\n",
			name);
		return -FI_EINVAL;
	}
	return 0;
}

static int init_head(struct obj_av *av, struct obj_av_shared *sh)
{
	pthread_mutexattr_t attr;
	struct head *head = sh->head;

	if (!os_memory_admits(file_bytes(av, GROW_ENTRIES))) {
		FI_WARN(av->domain->prov, FI_LOG_AV, "no room for the shared address vector %s: raise the limit on "
			"the size of files (ulimit -f)\n", sh->path);
		return -FI_ENOSPC;
	}
	/* No other process has the file: what a killed program left is removed. */
	if (ftruncate(sh->fd, 0) || ftruncate(sh->fd, (off_t) file_bytes(av, GROW_ENTRIES)))
		return -errno;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&head->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	head->addr_format = av->addr_format;
	head->slot_size = av->slot_size;
	head->magic = MAGIC;
	sh->file_size = file_bytes(av, GROW_ENTRIES);
	return 0;
}

static int check_head(struct obj_av *av, struct obj_av_shared *sh)
{
	struct stat st;

	if (fstat(sh->fd, &st))
		return -errno;
	if ((size_t) st.st_size < ENTRIES_AT || sh->head->magic != MAGIC ||
	    sh->head->addr_format != av->addr_format || sh->head->slot_size != av->slot_size) {
		FI_WARN(av->domain->prov, FI_LOG_AV,
			"the shared address vector %s was made for another address format: "
			"use another name, or the same kind of domain in all processes\n", sh->path);
		return -FI_EINVAL;
	}
	sh->file_size = (size_t) st.st_size;
	return 0;
}

/* Two bytes of the file stand for two locks, which the kernel drops with the
 * process: GATE is held while a process opens or closes, USER (shared) for as long
 * as the table is in use.
 */
enum { GATE, USER };

static int range_lock(int fd, int cmd, short type, int byte)
{
	struct flock fl = { .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
	int ret;

	do {
		ret = fcntl(fd, cmd, &fl);
	} while (ret && errno == EINTR);
	return ret ? -errno : 0;
}

/* Does no other process hold USER?  Asked with GATE held, so the answer stays true. */
static bool unused_by_others(int fd)
{
	struct flock fl = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = USER, .l_len = 1 };

	return !fcntl(fd, F_OFD_GETLK, &fl) && fl.l_type == F_UNLCK;
}

/* Open the file and pass the gate; *@alone_p if no other process uses it. */
static int enter_file(struct obj_av_shared *sh, bool *alone_p)
{
	struct stat st;
	int ret;

	for (;;) {
		/* A reader may be the last to leave, and so needs the lock of one who removes. */
		sh->fd = shm_open(sh->path, O_RDWR | (sh->readonly ? 0 : O_CREAT), 0600);
		if (sh->fd < 0)
			return -errno;
		ret = range_lock(sh->fd, F_OFD_SETLKW, F_WRLCK, GATE);
		if (ret)
			break;
		/* The last user may have removed it while we waited at the gate. */
		if (!fstat(sh->fd, &st) && st.st_nlink) {
			*alone_p = unused_by_others(sh->fd);
			return 0;
		}
		close(sh->fd);
	}
	close(sh->fd);
	return ret;
}

/* map_lock - a reader takes the lock as a writer does: so it waits for no writer that is dead. */
static int map_lock(struct obj_av_shared *sh)
{
	struct head *head = sh->head;

	if (sh->readonly)
		head = mmap(NULL, ENTRIES_AT, PROT_READ | PROT_WRITE, MAP_SHARED, sh->fd, 0);
	if (head == MAP_FAILED)
		return -errno;
	sh->lock = &head->lock;
	return 0;
}

static void unmap_file(struct obj_av_shared *sh)
{
	if (sh->readonly && sh->lock)
		munmap(container_of(sh->lock, struct head, lock), ENTRIES_AT);
	munmap(sh->head, sh->mapped);
}

static int map_file(struct obj_av *av, struct obj_av_shared *sh)
{
	int prot = PROT_READ | (sh->readonly ? 0 : PROT_WRITE), ret;
	uint32_t first = 1u << OBJ_AV_FIRST_BITS, k;
	char *base;

	sh->mapped = file_bytes(av, AV_SHARED_MAX);
	sh->head = mmap(NULL, sh->mapped, prot, MAP_SHARED | MAP_NORESERVE, sh->fd, 0);
	if (sh->head == MAP_FAILED)
		return -errno;
	ret = map_lock(sh);
	if (ret) {
		unmap_file(sh);
		return ret;
	}
	/* One mapping holds all chunks, one after the other. */
	base = (char *) sh->head + ENTRIES_AT;
	av->chunks[0] = base;
	for (k = 1; first << (k - 1) < AV_SHARED_MAX; k++)
		av->chunks[k] = base + ((size_t) first << (k - 1)) * av->slot_size;
	return 0;
}

int av_shared_open(struct obj_av *av, const char *name, uint64_t flags)
{
	struct obj_av_shared *sh = calloc(1, sizeof(*sh));
	bool alone = false;
	int ret;

	if (!sh)
		return -FI_ENOMEM;
	sh->readonly = flags & FI_READ;
	ret = make_path(av, name, sh->path, sizeof(sh->path));
	if (ret)
		goto free_sh;
	ret = enter_file(sh, &alone);
	if (!ret && sh->readonly && alone) {
		shm_unlink(sh->path);	/* left by a killed program */
		close(sh->fd);
		ret = -FI_ENOENT;
	}
	if (ret) {
		/* No failure of the program: MPICH looks for a shared vector at every start. */
		FI_LOG(av->domain->prov, ret == -FI_ENOENT ? FI_LOG_INFO : FI_LOG_WARN, FI_LOG_AV,
		       "cannot open the shared address vector \"%s\": %s%s\n", name, strerror(-ret),
		       sh->readonly ? "; a process that may write it must have it open first" : "");
		goto free_sh;
	}
	ret = map_file(av, sh);
	if (ret)
		goto close_fd;
	ret = alone ? init_head(av, sh) : check_head(av, sh);
	if (!ret)
		ret = range_lock(sh->fd, F_OFD_SETLK, F_RDLCK, USER);
	if (ret)
		goto unmap;
	range_lock(sh->fd, F_OFD_SETLK, F_UNLCK, GATE);
	av->shared = sh;
	return 0;

unmap:
	unmap_file(sh);
close_fd:
	close(sh->fd);
free_sh:
	free(sh);
	return ret;
}

void av_shared_close(struct obj_av *av)
{
	struct obj_av_shared *sh = av->shared;

	if (!sh)
		return;
	unmap_file(sh);
	range_lock(sh->fd, F_OFD_SETLKW, F_WRLCK, GATE);
	range_lock(sh->fd, F_OFD_SETLK, F_UNLCK, USER);
	if (unused_by_others(sh->fd))
		shm_unlink(sh->path);
	close(sh->fd);
	free(sh);
	av->shared = NULL;
}

static void take_counts(struct obj_av *av, const struct head *head)
{
	atomic_store(&av->top, head->top);
	av->live = head->live;
	av->free_cnt = head->free_cnt;
	av->free_hint = head->free_hint;
}

static void write_counts(const struct obj_av *av, struct head *head)
{
	head->top = atomic_load(&av->top);
	head->live = av->live;
	head->free_cnt = av->free_cnt;
	head->free_hint = av->free_hint;
}

/* file_recount - the last owner of the lock died, perhaps while it changed entries: each of them is whole, or
 * not in use, and counted here; what it has stored beyond the top is not in use.
 */
static void file_recount(struct obj_av *av, struct head *head)
{
	uint32_t top = head->top, i;

	take_counts(av, head);
	av->live = 0;
	av->free_hint = top;
	for (i = top; i-- > 0; ) {
		if (av_table_live(av, i))
			av->live++;
		else
			av->free_hint = i;
	}
	av->free_cnt = top - av->live;
	write_counts(av, head);
}

int av_shared_enter(struct obj_av *av, bool write)
{
	struct obj_av_shared *sh = av->shared;

	if (!sh)
		return 0;
	if (write && sh->readonly)
		return -FI_EACCES;
	if (pthread_mutex_lock(sh->lock) == EOWNERDEAD) {
		file_recount(av, container_of(sh->lock, struct head, lock));
		pthread_mutex_consistent(sh->lock);
	}
	take_counts(av, sh->head);
	return 0;
}

void av_shared_leave(struct obj_av *av, bool write)
{
	struct obj_av_shared *sh = av->shared;

	if (!sh)
		return;
	if (write)
		write_counts(av, sh->head);
	pthread_mutex_unlock(sh->lock);
}

int av_shared_room(struct obj_av *av, uint32_t i)
{
	struct obj_av_shared *sh = av->shared;
	size_t need = file_bytes(av, i + 1);
	struct stat st;

	if (need <= sh->file_size)
		return 0;
	if (i >= AV_SHARED_MAX)
		return -FI_ENOSPC;
	if (fstat(sh->fd, &st))
		return -errno;
	if ((size_t) st.st_size < need) {
		need = file_bytes(av, i + GROW_ENTRIES);
		/* Real blocks now: a full file system is an error here, not SIGBUS later. */
		if (!os_memory_admits(need) ||
		    posix_fallocate(sh->fd, st.st_size, (off_t) need - st.st_size))
			return -FI_ENOSPC;
		sh->file_size = need;
	} else {
		sh->file_size = (size_t) st.st_size;
	}
	return 0;
}
