/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "channel/path.h"

#include <assert.h>

#include "base/probe.h"
#include "channel/chan.h"

void chan_paths_init(struct chan_paths *paths, struct chan *chan, unsigned cnt)
{
	unsigned i;

	assert(cnt > 1 && cnt <= CHAN_PATHS_MAX && "one path needs no table");
	*paths = (struct chan_paths) { .chan = chan, .cnt = cnt };
	for (i = 0; i < cnt; i++) {
		paths->path[i].link = chan->link;
		net_addr_copy(eng_peer_addr(chan_peer(chan)), eng_peer_addr_len(chan_peer(chan)),
			      &paths->path[i].to);
	}
	paths->path[0].conn = chan->conn;
	chan->paths = paths;
}

void chan_paths_fini(struct chan_paths *paths)
{
	if (paths->chan && paths->chan->state == CHAN_READY)
		paths->chan->paths = NULL;
	paths->chan = NULL;
}

bool chan_path_free(const struct chan_paths *paths, unsigned i)
{
	return i && i < paths->cnt && !paths->path[i].conn;
}

void chan_path_add(struct chan_paths *paths, unsigned i, void *conn)
{
	assert(chan_path_free(paths, i) && "a path is added once");
	paths->path[i].conn = conn;
	PROBE3(path, paths, i, conn);
}

void chan_path_remove(struct chan_paths *paths, const void *conn)
{
	unsigned i;

	PROBE3(path, paths, 0, conn);
	for (i = 1; i < paths->cnt; i++)
		if (paths->path[i].conn == conn)
			paths->path[i].conn = NULL;
}

void chan_paths_begin(struct chan_paths *paths, const struct eng_pkt *pkt)
{
	unsigned i;

	if (paths->tx_pkt == pkt)
		return;
	paths->tx_pkt = pkt;
	for (i = 0; i < paths->cnt; i++)
		paths->path[i].sent = 0;
}

void chan_paths_end(struct chan_paths *paths)
{
	paths->tx_pkt = NULL;
}
