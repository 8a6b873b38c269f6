/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "report.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define QUIET_S 1.0	/* no progress is shown for a size that takes less */

static double report_now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

/* 0, 768, 1.5k, 64k, 1.2m: one decimal at most, cut and not rounded. */
static const char *short_size(double bytes, char buf[16])
{
	static const char unit[] = " kmgt";
	int u = 0;

	while (bytes >= 1024 && unit[u + 1]) {
		bytes /= 1024;
		u++;
	}
	bytes = (double) (long) (bytes * 10) / 10;
	snprintf(buf, 16, "%.*f%.*s", bytes - (long) bytes >= 0.1, bytes, u ? 1 : 0, &unit[u]);
	return buf;
}

static void begin_table(const struct pp_options *o)
{
	printf("%-8s%-8s%-9s%-12s%-6s%11s%13s%13s", "bytes", "#sent", "#ack", "total", "time",
	       "MB/sec", "usec/xfer", "Mxfers/sec");
	printf(o->baseline ? "%13s%8s\n" : "\n", "socket-usec", "ratio");
	fflush(stdout);
}

static void begin_json(struct pp_report *r, const struct fi_info *info)
{
	struct json *j = &r->json;

	json_start(j, stdout);
	json_object(j, NULL);
	json_str(j, "provider", info->fabric_attr->prov_name);
	json_str(j, "fabric", info->fabric_attr->name);
	json_str(j, "domain", info->domain_attr->name);
	json_str(j, "ep_type", pp_options_ep_name(r->o->ep_type));
	json_str(j, "mode", r->o->tagged ? "tagged" : "msg");
	json_u64(j, "iterations", r->o->iters);
	json_u64(j, "warmup", r->o->warmup);
	json_bool(j, "verified", r->o->check);
	json_array(j, "results");
}

void pp_report_begin(struct pp_report *r, const struct pp_options *o,
		     const struct fi_info *info, bool silent)
{
	memset(r, 0, sizeof(*r));
	r->o = o;
	r->silent = silent;
	r->live = !silent && isatty(STDERR_FILENO);
	r->started = report_now_s();
	if (silent)
		return;
	if (o->json)
		begin_json(r, info);
	else
		begin_table(o);
}

static double time_ratio(const struct pp_result *res)
{
	return res->fabric.usec / res->socket.usec;
}

static double total_bytes(const struct pp_result *res)
{
	return (double) res->size * (double) (res->fabric.sent + res->fabric.acked);
}

static double mb_per_sec(const struct pp_result *res)
{
	return total_bytes(res) / res->fabric.seconds / 1e6;
}

static void size_table(const struct pp_report *r, const struct pp_result *res)
{
	const struct pp_figure *f = &res->fabric;
	char size[16], total[16], acked[24];

	snprintf(acked, sizeof(acked), "%c%llu", f->acked == f->sent ? '=' : '<',
		 (unsigned long long) f->acked);
	printf("%-8s%-8llu%-9s%-12s%.2fs%12.2f%13.2f%13.2f", short_size((double) res->size, size),
	       (unsigned long long) f->sent, acked, short_size(total_bytes(res), total),
	       f->seconds, mb_per_sec(res), f->usec, 1 / f->usec);
	if (r->o->baseline)
		printf("%13.2f%8.2f", res->socket.usec, time_ratio(res));
	putchar('\n');
	fflush(stdout);
}

static void size_json(struct pp_report *r, const struct pp_result *res)
{
	struct json *j = &r->json;

	json_object(j, NULL);
	json_u64(j, "size", res->size);
	json_u64(j, "sent", res->fabric.sent);
	json_u64(j, "acked", res->fabric.acked);
	json_u64(j, "lost", res->fabric.sent - res->fabric.acked);
	json_real(j, "seconds", res->fabric.seconds, 6);
	json_real(j, "mb_per_sec", mb_per_sec(res), 3);
	json_real(j, "usec_per_xfer", res->fabric.usec, 3);
	if (r->o->baseline) {
		json_real(j, "socket_usec_per_xfer", res->socket.usec, 3);
		json_real(j, "ratio", time_ratio(res), 3);
	}
	json_end(j);
	fflush(stdout);
}

/* Clears the progress line, if there is one, before a row is printed. */
static void wipe_progress(struct pp_report *r)
{
	if (r->shown)
		fputs("\r\033[K", stderr);
	r->shown = false;
	r->started = report_now_s();
}

void pp_report_size(struct pp_report *r, const struct pp_result *res)
{
	wipe_progress(r);
	if (r->silent)
		return;
	if (r->o->json)
		size_json(r, res);
	else
		size_table(r, res);
}

void pp_report_progress(void *arg, size_t size, double done)
{
	struct pp_report *r = arg;
	char text[16];

	if (!r->live || report_now_s() - r->started < QUIET_S)
		return;
	fprintf(stderr, "\r\033[K%s: %.0f%%", short_size((double) size, text), done * 100);
	fflush(stderr);
	r->shown = true;
}

void pp_report_end(struct pp_report *r, bool ok)
{
	wipe_progress(r);
	if (r->silent || !r->o->json)
		return;
	json_end(&r->json);
	json_bool(&r->json, "complete", ok);
	json_end(&r->json);
}
