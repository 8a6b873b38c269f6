/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/inspect/server.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/process.h"
#include "base/release.h"
#include "base/thread.h"
#include "net/inherit.h"
#include "obj/inspect/listener.h"
#include "obj/inspect/rank.h"
#include "obj/inspect/shown.h"
#include "obj/inspect/user.h"

#define IO_SECONDS 1			/* for the other side to send, or to take, anything */
#define WAIT_NS UINT64_C(1000000000)	/* for the program to make progress */

static atomic_bool started;

/* ---- a connection ------------------------------------------------------------------------ */

/* may_ask - does the process at the other end belong to our user, or to root? */
static bool may_ask(int fd)
{
	uid_t uid;
	pid_t pid;

	return !inspect_user(fd, &uid, &pid) && (uid == geteuid() || uid == 0);
}

static void limit_time(int fd)
{
	struct timeval limit = { .tv_sec = IO_SECONDS };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

static bool send_all(int fd, const uint8_t *buf, size_t len)
{
	ssize_t ret;

	while (len) {
		ret = send(fd, buf, len, MSG_NOSIGNAL);
		if (ret < 0 && errno == EINTR)
			continue;
		if (ret <= 0)
			return false;
		buf += ret;
		len -= (size_t) ret;
	}
	return true;
}

/* ---- an answer ----------------------------------------------------------------------------- */

static bool send_look(void *arg, struct obj_look *look)
{
	return send_all(*(const int *) arg, look->buf, look->len);
}

static bool send_process(int fd, struct obj_look *look)
{
	struct inspect_process *process;

	look->len = 0;
	process = obj_look_add(look, INSPECT_PROCESS, sizeof(*process));
	process->pid = (int32_t) getpid();
	process->eps = obj_shown_count();
	snprintf(process->release, sizeof(process->release), "%s", release_long());
	os_process_command(process->command, sizeof(process->command));
	return send_look(&fd, look);
}

/* send_end - with what the answer has cost since @begin. */
static bool send_end(int fd, struct obj_look *look, uint64_t begin)
{
	struct inspect_end *end;

	look->len = 0;
	end = obj_look_add(look, INSPECT_END, sizeof(*end));
	end->steps = look->steps;
	end->long_steps = look->long_steps;
	end->longest_ns = look->longest_ns;
	end->spent_ns = clock_thread_ns() - begin + look->served_ns;
	return send_look(&fd, look);
}

static void server_answer(int fd, struct obj_look *look)
{
	uint64_t begin = clock_thread_ns();
	struct inspect_ask ask;

	limit_time(fd);
	if (!may_ask(fd) || recv(fd, &ask, sizeof(ask), MSG_WAITALL) != sizeof(ask) ||
	    ask.magic != INSPECT_MAGIC || ask.version != INSPECT_VERSION)
		return;
	look->want = ask.want;
	look->steps = look->long_steps = look->longest_ns = look->served_ns = 0;
	if (!send_process(fd, look))
		return;
	obj_shown_each(look, WAIT_NS, send_look, &fd);
	send_end(fd, look, begin);
}

static void *server_run(void *arg)
{
	static struct obj_look look;	/* of the one thread; a forked child has nothing to free */
	int listener = (int) (intptr_t) arg, fd;

	for (;;) {
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0) {
			net_inherit_not(fd);
			server_answer(fd, &look);
			close(fd);
		} else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
			sleep(1);
		} else if (errno != EINTR && errno != ECONNABORTED) {
			break;
		}
	}
	close(listener);
	return NULL;
}

/* ---- start ----------------------------------------------------------------------------------- */

/* Of the environment, once in the life of a process. */
static enum obj_inspect whom = OBJ_INSPECT_USER;
static int rank = -1;

/* find_word - false: FI_INSPECT has no such value. */
static bool find_word(const char *text)
{
	static const struct {
		const char *word;
		enum obj_inspect whom;
	} words[] = {
		{ "0", OBJ_INSPECT_NONE }, { "no", OBJ_INSPECT_NONE }, { "n", OBJ_INSPECT_NONE },
		{ "off", OBJ_INSPECT_NONE }, { "false", OBJ_INSPECT_NONE }, { "f", OBJ_INSPECT_NONE },
		{ "1", OBJ_INSPECT_USER }, { "yes", OBJ_INSPECT_USER }, { "y", OBJ_INSPECT_USER },
		{ "on", OBJ_INSPECT_USER }, { "true", OBJ_INSPECT_USER }, { "t", OBJ_INSPECT_USER },
		{ "all", OBJ_INSPECT_ALL },
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcasecmp(text, words[i].word)) {
			whom = words[i].whom;
			return true;
		}
	return false;
}

static void read_whom(void)
{
	static struct fi_provider core = { .name = "core" };	/* whose line it is: of no provider */
	char *text = NULL;

	fi_param_define(NULL, "inspect", FI_PARAM_STRING, "Who may look at endpoints: 0, 1, all");
	if (!fi_param_get_str(NULL, "inspect", &text) && text && !find_word(text))
		FI_WARN(&core, FI_LOG_CORE, "FI_INSPECT=%s has no meaning: set 0 (this process cannot be looked at), 1 (by "
			"its user and by peers with a key) or all (by peers without one, too); 1 is taken\n", text);
	if (getauxval(AT_SECURE))
		whom = OBJ_INSPECT_NONE;
}

static void read_rank(void)
{
	extern char **environ;
	char **env;

	for (env = environ; env && *env && rank < 0; env++)
		rank = inspect_rank_of(*env);
}

static void read_environment(void)
{
	read_whom();
	read_rank();
}

static void read_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_environment);
}

enum obj_inspect obj_server_whom(void)
{
	read_once();
	return whom;
}

int obj_server_rank(void)
{
	read_once();
	return rank;
}

void obj_server_start(void)
{
	pthread_t thread;
	int fd;

	if (atomic_exchange(&started, true) || !obj_server_whom())
		return;
	fd = obj_listener_open();
	if (fd < 0)
		return;
	if (thread_start_small(&thread, server_run, (void *) (intptr_t) fd))
		close(fd);
	else
		pthread_detach(thread);
}

void obj_server_forked(void)
{
	atomic_store(&started, false);
	obj_listener_forked();
}
