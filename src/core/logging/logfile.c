/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/os/memory.h"
#include "core/env.h"
#include "core/logfile.h"

static int log_fd = STDERR_FILENO;
static _Atomic unsigned left_out;	/* lines since the last that was written */
static _Atomic bool cut_line;		/* the last one was not written to its end */

static mode_t file_mode(void)
{
	const char *text = core_env_get("FI_LOG_LOCATION_MODE");
	char *end;
	long mode;

	if (!text || !*text)
		return 0600;
	mode = strtol(text, &end, 8);
	return *end || mode < 0 || mode > 0777 ? 0600 : (mode_t) mode;
}

/* O_EXCL: a file that exists already is neither read nor extended. */
static int log_file_open(const char *path)
{
	char name[PATH_MAX];
	struct stat st;
	int len;

	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		len = snprintf(name, sizeof(name), "%s/ofi_%d.log", path,
			       (int) getpid());
		if (len >= (int) sizeof(name)) {
			errno = ENAMETOOLONG;
			return -1;
		}
		path = name;
	}
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC,
		    file_mode());
}

bool core_logfile_open(char *why, size_t size)
{
	const char *path = core_env_get("FI_LOG_LOCATION");
	int fd;

	if (!path || !*path || !strcasecmp(path, "stderr"))
		return true;
	if (!strcasecmp(path, "stdout")) {
		log_fd = STDOUT_FILENO;
		return true;
	}
	fd = log_file_open(path);
	if (fd < 0) {
		snprintf(why, size, "FI_LOG_LOCATION=%s cannot be opened as a new "
			 "file: %s; lines go to stderr (use stderr, stdout, a "
			 "directory, or a file that does not exist)", path,
			 strerror(errno));
		return false;
	}
	log_fd = fd;
	return true;
}

/* file_write - as write().  Beyond the limit on the size of files that sends SIGXFSZ to this thread, which would end
 * a process that has only been warned.
 */
static ssize_t file_write(int fd, const char *line, size_t len)
{
	sigset_t xfsz, before, pending;
	ssize_t ret;
	int err, sig;

	if (os_memory_admits(UINT64_MAX))
		return write(fd, line, len);
	sigemptyset(&xfsz);
	sigaddset(&xfsz, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &xfsz, &before);
	sigpending(&pending);
	if (sigismember(&pending, SIGXFSZ))
		sigemptyset(&xfsz);	/* that one is not ours */
	ret = write(fd, line, len);
	err = errno;
	if (ret < 0 && err == EFBIG && !sigpending(&pending) && sigismember(&xfsz, SIGXFSZ) &&
	    sigismember(&pending, SIGXFSZ))
		sigwait(&xfsz, &sig);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = err;
	return ret;
}

/* log_put - write what fits without blocking: the output may be a pipe without a reader, and the
 * caller may be making progress.  Returns bytes, or -1.
 */
static ssize_t log_put(const struct stat *st, const char *line, size_t len)
{
	struct pollfd poll_fd = { .fd = log_fd, .events = POLLOUT };
	ssize_t ret;

	if (S_ISREG(st->st_mode))
		return file_write(log_fd, line, len);
	if (S_ISSOCK(st->st_mode))
		return send(log_fd, line, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (poll(&poll_fd, 1, 0) < 1 || !(poll_fd.revents & POLLOUT))
		return -1;
#ifdef RWF_NOWAIT
	ret = pwritev2(log_fd, &(struct iovec) { (void *) line, len }, 1, -1, RWF_NOWAIT);
	if (ret >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL))
		return ret;
#endif
	/* So much fits, unless another process was faster. */
	ret = write(log_fd, line, len < PIPE_BUF ? len : PIPE_BUF);
	return ret;
}

/* say_broken - the first line that a file did not take: the person who reads it later must know, and a
 * disk that is full now may have no room for the line that counts what is missing.
 */
static void say_broken(const struct stat *st, int err)
{
	static _Atomic bool said;
	char line[256];
	int len;

	if (!S_ISREG(st->st_mode) || log_fd == STDERR_FILENO || atomic_exchange(&said, true))
		return;
	len = snprintf(line, sizeof(line), "libfabric:%d: the log file FI_LOG_LOCATION=%.120s takes no more "
		       "lines: %s; they are left out\n", (int) getpid(), core_env_get("FI_LOG_LOCATION"),
		       strerror(err));
	if (file_write(STDERR_FILENO, line, (size_t) len) < 0)
		return;		/* there is no place left for it */
}

static bool put_all(const struct stat *st, const char *line, size_t len)
{
	ssize_t ret;

	while (len) {
		ret = log_put(st, line, len);
		if (ret < 0 && errno == EINTR)
			continue;
		if (ret <= 0) {
			say_broken(st, ret ? errno : ENOSPC);
			return false;
		}
		cut_line = true;
		line += ret;
		len -= (size_t) ret;
	}
	cut_line = false;
	return true;
}

/* Lines that could not be written, and perhaps the end of one. */
static bool catch_up(const struct stat *st)
{
	unsigned cnt = atomic_exchange(&left_out, 0);
	char line[128];
	int len;

	if (!cnt)
		return true;
	len = snprintf(line, sizeof(line), "%slibfabric:%d: %u log lines were left out: the "
		       "output did not take them\n", cut_line ? "\n" : "", (int) getpid(), cnt);
	if (put_all(st, line, (size_t) len))
		return true;
	atomic_fetch_add(&left_out, cnt);
	return false;
}

/* One write per line, so that lines of several processes do not mix. */
void core_logfile_write(const char *line, size_t len)
{
	int saved = errno;
	struct stat st;

	if (fstat(log_fd, &st) || !catch_up(&st) || !put_all(&st, line, len))
		atomic_fetch_add(&left_out, 1);
	errno = saved;
}
