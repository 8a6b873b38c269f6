/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/av_user.h"

#include <rdma/providers/fi_log.h>
#include <stdlib.h>

#include "obj/av_key.h"
#include "obj/av_table.h"
#include "obj/domain.h"

/* none_yet - what an entry shows without an id of its own: its index, or, where all are to have ids, that it has none. */
static uint64_t none_yet(const struct obj_av *av, uint32_t i)
{
	return av->flags & FI_AV_USER_ID ? FI_ADDR_NOTAVAIL : i;
}

static int make_id_room(struct obj_av *av, uint32_t i)
{
	uint32_t want = av->user_id_room ? av->user_id_room : 64, k;
	uint64_t *ids;

	while (want <= i)
		want = want > UINT32_MAX / 2 ? UINT32_MAX : want * 2;
	if (want == av->user_id_room)
		return 0;
	ids = realloc(av->user_id, (size_t) want * sizeof(*ids));
	if (!ids)
		return -FI_ENOMEM;
	for (k = av->user_id_room; k < want; k++)
		ids[k] = none_yet(av, k);
	av->user_id = ids;
	av->user_id_room = want;
	return 0;
}

int obj_av_user_set(struct obj_av *av, uint32_t i, uint64_t id)
{
	int ret = make_id_room(av, i);

	if (!ret)
		av->user_id[i] = id;
	return ret;
}

void obj_av_user_clear(struct obj_av *av, uint32_t i)
{
	if (i < av->user_id_room)
		av->user_id[i] = none_yet(av, i);
}

void obj_av_user_free(struct obj_av *av)
{
	free(av->user_id);
}

fi_addr_t obj_av_user_id(struct obj_av *av, fi_addr_t fi_addr)
{
	fi_addr_t id = none_yet(av, (uint32_t) fi_addr);

	if (!av->user_id)
		return id;
	lock_get(&av->lock);
	if (fi_addr < av->user_id_room)
		id = av->user_id[fi_addr];
	lock_put(&av->lock);
	return id;
}

int obj_av_set_user_id(struct fid_av *fid, fi_addr_t fi_addr, fi_addr_t user_id, uint64_t flags)
{
	struct obj_av *av = obj_av_of(fid);
	int ret = -FI_EINVAL;

	if (flags & ~FI_AUTH_KEY) {
		FI_WARN(av->domain->prov, FI_LOG_AV, "fi_av_set_user_id: flags other than FI_AUTH_KEY\n");
		return -FI_EINVAL;
	}
	lock_get(&av->lock);
	if (flags)
		ret = obj_av_key_set_user_id(av, fi_addr, user_id);
	else if (fi_addr == (uint32_t) fi_addr && av_table_live(av, (uint32_t) fi_addr))
		ret = obj_av_user_set(av, (uint32_t) fi_addr, user_id);
	lock_put(&av->lock);
	if (!ret && !flags)
		obj_av_notify(av, fi_addr);	/* which have the number that it had */
	return ret;
}
