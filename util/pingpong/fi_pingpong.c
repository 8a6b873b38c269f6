/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fi_pingpong - measure half of the round trip time between two processes. */

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/fi_errno.h>

#include "ctrl.h"
#include "fabric.h"
#include "measure.h"
#include "options.h"
#include "path.h"
#include "report.h"

/* Keeps the sizes that both endpoints support.  A size given by the user that is too long is an
 * error; the default sizes are reduced.
 */
static int fit_sizes(struct pp_options *o, struct pp_ctrl *ctrl, const struct fi_info *info)
{
	size_t max = info->ep_attr->max_msg_size;
	int ret = pp_ctrl_largest(ctrl, &max);

	if (ret)
		return ret;
	while (o->size_cnt && o->sizes[o->size_cnt - 1] > max) {
		if (o->strict_sizes) {
			pp_ctrl_fail(ctrl, "-S %zu: messages of provider %s have at most %zu bytes",
				     o->sizes[o->size_cnt - 1], info->fabric_attr->prov_name, max);
			return -FI_EMSGSIZE;
		}
		o->size_cnt--;
	}
	return 0;
}

static int measure_all(struct pp_measure *m, struct pp_report *report)
{
	struct pp_result res;
	int ret = 0;

	for (int i = 0; i < m->o->size_cnt && !ret; i++) {
		ret = pp_measure_size(m, m->o->sizes[i], &res);
		if (!ret)
			pp_report_size(report, &res);
	}
	return ret;
}

static void say_lost(const struct pp_measure *m)
{
	if (m->lost)
		fprintf(stderr, "fi_pingpong: %llu of %llu round trips had no answer, the warm-up's "
			"included: datagrams were lost, or are longer than the path takes; time and "
			"usec/xfer contain a second for each\n", (unsigned long long) m->lost,
			(unsigned long long) m->trips);
}

/* All paths are open: fill the pattern, measure, report. */
static int run_paths(struct pp_options *o, struct pp_ctrl *ctrl, struct pp_fabric *f,
		     struct pp_path *fabric, struct pp_path *bare, bool silent)
{
	struct pp_report report;
	struct pp_measure m = {
		.o = o, .ctrl = ctrl, .fabric = fabric, .socket = bare,
		.progress = pp_report_progress, .progress_arg = &report,
	};
	int ret = pp_measure_open(&m, f->buf_len);

	if (ret)
		return ret;
	pp_report_begin(&report, o, f->info, silent);
	ret = measure_all(&m, &report);
	pp_report_end(&report, !ret);
	if (!ret && !silent)
		say_lost(&m);
	pp_measure_close(&m);
	return ret;
}

static int run_fabric(struct pp_options *o, struct pp_ctrl *ctrl, struct pp_fabric *f, bool silent)
{
	struct pp_path *fabric, *bare = NULL;
	int ret = fit_sizes(o, ctrl, f->info);

	if (!ret)
		ret = pp_path_fabric(o, ctrl, f, &fabric);
	if (ret)
		return ret;
	if (o->baseline)
		ret = pp_path_socket(o, ctrl, f->buf_len, &bare);
	if (!ret)
		ret = pp_ctrl_step(ctrl, NULL, NULL);
	if (!ret)
		ret = run_paths(o, ctrl, f, fabric, bare, silent);
	/* Neither process closes its endpoint while the peer still polls. */
	if (!ret)
		ret = pp_ctrl_step(ctrl, NULL, NULL);
	if (bare)
		bare->ops->close(bare);
	fabric->ops->close(fabric);
	return ret;
}

/* Runs the test once the control channel is connected. */
static int run_side(struct pp_options *o, struct pp_ctrl *ctrl, bool silent)
{
	struct pp_fabric f = { 0 };
	int ret;

	pp_fabric_kind(o);
	ret = pp_ctrl_hello(ctrl, o);
	if (ret)
		return ret;
	ret = pp_fabric_open(o, ctrl, &f);
	if (!ret)
		ret = run_fabric(o, ctrl, &f, silent);
	pp_fabric_close(&f);
	return ret;
}

static int run_server(struct pp_options *o, struct pp_ctrl *ctrl, bool silent)
{
	int ret = pp_ctrl_accept(ctrl);

	return ret ? ret : run_side(o, ctrl, silent);
}

static int run_client(struct pp_options *o)
{
	struct pp_ctrl ctrl;
	int ret;

	pp_ctrl_init(&ctrl);
	ret = pp_ctrl_connect(&ctrl, o);
	if (!ret)
		ret = run_side(o, &ctrl, false);
	pp_ctrl_close(&ctrl);
	return ret;
}

/* ---- both processes on this host ------------------------------------------- */

/* Pin to the n-th CPU that this process may use, if there are two. */
static void pin_to_cpu(int n)
{
	cpu_set_t may, one;

	if (sched_getaffinity(0, sizeof(may), &may) || CPU_COUNT(&may) < 2)
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &may) || n--)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

/* The child: prints no results, and ends with its parent. */
static int local_server(struct pp_options *o, struct pp_ctrl *ctrl, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return -FI_ECANCELED;
	pin_to_cpu(1);
	o->role = PP_SERVER;
	return run_server(o, ctrl, true);
}

static int run_local(struct pp_options *o)
{
	pid_t parent = getpid(), child;
	struct pp_ctrl ctrl;
	int ret, status;

	pp_ctrl_init(&ctrl);
	ret = pp_ctrl_listen(&ctrl, o, &o->dst_port);
	if (ret)
		return ret;
	child = fork();
	if (!child) {
		ret = local_server(o, &ctrl, parent);
		_exit(ret ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	pp_ctrl_close(&ctrl);
	if (child < 0) {
		perror("fi_pingpong: fork");
		return -FI_EAGAIN;
	}
	pin_to_cpu(0);
	o->role = PP_CLIENT;
	o->host = o->ipv6 ? "::1" : "127.0.0.1";
	ret = run_client(o);
	if (waitpid(child, &status, 0) == child && status && !ret)
		ret = -FI_EOTHER;
	return ret;
}

static int run_listening(struct pp_options *o)
{
	struct pp_ctrl ctrl;
	uint16_t port;
	int ret;

	pp_ctrl_init(&ctrl);
	pp_fabric_kind(o);
	ret = pp_fabric_offered(o, &ctrl);	/* checked before the server waits for a client */
	if (!ret)
		ret = pp_ctrl_listen(&ctrl, o, &port);
	if (!ret && (o->verbose || !o->src_port))
		fprintf(stderr, "fi_pingpong: waiting for a client on control port %u\n", port);
	if (!ret)
		ret = run_server(o, &ctrl, false);
	pp_ctrl_close(&ctrl);
	return ret;
}

int main(int argc, char **argv)
{
	struct pp_options o;
	int ret = pp_options_parse(argc, argv, &o);

	if (ret)
		return EXIT_FAILURE;
	if (o.help) {
		pp_options_usage();
		return EXIT_FAILURE;
	}
	ret = o.local ? run_local(&o) : o.role == PP_CLIENT ? run_client(&o) : run_listening(&o);
	return ret < 0 ? -ret : ret;
}
