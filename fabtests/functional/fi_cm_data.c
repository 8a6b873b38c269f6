/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <string.h>

#include "common/ft.h"

/* Private data of connection requests, accepts and rejects. */
union note {
	struct fi_eq_cm_entry cm;
	char room[sizeof(struct fi_eq_cm_entry) + 256];
};

static void served(struct ft *ft, size_t len, bool reject)
{
	union note note;
	struct ft_ep e = { 0 };
	char answer[256];
	size_t n;

	ft_listen(ft);
	n = ft_event(ft, FI_CONNREQ, &note.cm, sizeof(note)) - sizeof(note.cm);
	FT_WANT(n >= len, "%zu bytes of private data came, not %zu", n, len);
	ft_verify(note.cm.data, len, len, "request of");
	ft_fill(answer, len, len + 1);
	if (reject) {
		FT_TRY(fi_reject(ft->pep, note.cm.info->handle, answer, len));
		fi_freeinfo(note.cm.info);
		return;
	}
	ft_ep_open(ft, &e, note.cm.info);
	FT_TRY(fi_enable(e.ep));
	FT_TRY(fi_accept(e.ep, answer, len));
	fi_freeinfo(note.cm.info);
	ft_event(ft, FI_CONNECTED, &note.cm, sizeof(note));
	ft_sync(ft);
	ft_event(ft, FI_SHUTDOWN, &note.cm, sizeof(note));
	FT_WANT(note.cm.fid == &e.ep->fid, "FI_SHUTDOWN names another endpoint");
	ft_ep_close(&e);
}

static void refused(struct ft *ft, struct ft_ep *e, size_t len)
{
	char data[256];
	struct fi_eq_err_entry err = { .err_data = data, .err_data_size = sizeof(data) };
	union note note;
	ssize_t n = -FI_EAGAIN;
	uint32_t event;

	for (int i = 0; i < 100 && n == -FI_EAGAIN; i++) {
		n = fi_eq_sread(ft->eq, &event, &note, sizeof(note), 100, 0);
		ft_ctl_look(ft);
	}
	FT_IS(n, -FI_EAVAIL);
	FT_TRY(fi_eq_readerr(ft->eq, &err, 0));
	FT_WANT(err.err == FI_ECONNREFUSED, "a rejected request ends with %s", fi_strerror(err.err));
	FT_WANT(err.fid == &e->ep->fid, "the rejection names another endpoint");
	FT_WANT(err.err_data_size >= len, "%zu bytes came with the rejection, not %zu",
		err.err_data_size, len);
	ft_verify(err.err_data, len, len + 1, "rejection of");
}

static void called(struct ft *ft, size_t len, bool reject)
{
	char addr[FT_ADDR_MAX], data[256];
	struct ft_ep e = { 0 };
	union note note;
	size_t n;

	ft_dial(ft, addr);
	ft_ep_open(ft, &e, ft->info);
	FT_TRY(fi_enable(e.ep));
	ft_fill(data, len, len);
	FT_TRY(fi_connect(e.ep, addr, data, len));
	if (reject) {
		refused(ft, &e, len);
		ft_ep_close(&e);
		return;
	}
	n = ft_event(ft, FI_CONNECTED, &note.cm, sizeof(note)) - sizeof(note.cm);
	FT_WANT(n >= len, "%zu bytes came with the accept, not %zu", n, len);
	ft_verify(note.cm.data, len, len + 1, "accept of");
	ft_sync(ft);
	FT_TRY(fi_shutdown(e.ep, 0));
	ft_ep_close(&e);
}

static size_t limit(struct ft *ft)
{
	size_t max = 0, len = sizeof(max);
	struct ft_ep e = { 0 };

	ft_ep_open(ft, &e, ft->info);
	FT_TRY(fi_getopt(&e.ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &max, &len));
	ft_ep_close(&e);
	return max > 256 ? 256 : max;
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: private data of connection requests, accepts and rejects.",
		.ep_type = FI_EP_MSG, .fixed_type = true, .no_link = true,
	};
	struct ft ft;
	size_t max;

	ft_begin(&ft, &test, argc, argv);
	max = limit(&ft);
	for (size_t len = 1; len <= max; len *= 2)
		for (int reject = 0; reject < 2; reject++) {
			if (ft.server)
				served(&ft, len, reject);
			else
				called(&ft, len, reject);
			ft_sync(&ft);
		}
	return ft_end(&ft);
}
