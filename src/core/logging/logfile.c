/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/env.h"
#include "core/logfile.h"

static int log_fd = STDERR_FILENO;

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
static int file_open(const char *path)
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
	fd = file_open(path);
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

/* One write per line, so that lines of several processes do not mix. */
void core_logfile_write(const char *line, size_t len)
{
	int saved = errno;
	ssize_t ret;

	while (len) {
		ret = write(log_fd, line, len);
		if (ret < 0 && errno == EINTR)
			continue;
		if (ret <= 0)
			break;
		line += ret;
		len -= (size_t) ret;
	}
	errno = saved;
}
