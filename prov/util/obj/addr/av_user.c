/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/av_user.h"

#include <rdma/providers/fi_log.h>
#include <stdlib.h>

#include "obj/av_table.h"
#include "obj/domain.h"

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
	/* Entries without an id of their own show their index. */
	for (k = av->user_id_room; k < want; k++)
		ids[k] = k;
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

void obj_av_user_free(struct obj_av *av)
{
	free(av->user_id);
}

fi_addr_t obj_av_user_id(struct obj_av *av, fi_addr_t fi_addr)
{
	fi_addr_t id = fi_addr;

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

	if (flags) {
		FI_WARN(av->domain->prov, FI_LOG_AV, "fi_av_set_user_id: flags must be 0\n");
		return -FI_EINVAL;
	}
	lock_get(&av->lock);
	if (fi_addr == (uint32_t) fi_addr && av_table_live(av, (uint32_t) fi_addr))
		ret = obj_av_user_set(av, (uint32_t) fi_addr, user_id);
	lock_put(&av->lock);
	return ret;
}
