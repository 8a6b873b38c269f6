/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fi_keygen - make the key of a job, or append one to its file.  The random bytes are the system's. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD "fikey-1\n"	/* fi_security(7) */
#define HEAD_SIZE 8
#define KEY_SIZE 32
#define RECORD_SIZE (HEAD_SIZE + KEY_SIZE)
#define KEYS_MAX 16		/* of a file */

static int print_usage(FILE *out)
{
	fprintf(out, "Usage: fi_keygen [-a] FILE\n\n"
		"Writes a key for FI_AUTH_KEY_FILE into a new file; see fi_security(7).\n"
		"  -a   append it to a file that has keys: it is accepted, the first one is offered\n");
	return out == stdout ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int keygen_fail(const char *path, const char *why)
{
	fprintf(stderr, "fi_keygen: %s: %s\n", path, why);
	return EXIT_FAILURE;
}

/* reason_against - why no key can be appended to the file @fd, or NULL. */
static const char *reason_against(int fd)
{
	char head[HEAD_SIZE];
	struct stat st;

	if (fstat(fd, &st))
		return strerror(errno);
	if (!S_ISREG(st.st_mode) || st.st_size % RECORD_SIZE || !st.st_size ||
	    pread(fd, head, sizeof(head), 0) != HEAD_SIZE || memcmp(head, HEAD, HEAD_SIZE))
		return "it has no keys of fi_keygen";
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return "others may read or change it: chmod 600";
	return st.st_size / RECORD_SIZE < KEYS_MAX ? NULL : "it has 16 keys already";
}

/* put_record - all of it or nothing: a file that ends in the middle of a key is refused with all of its keys. */
static bool put_record(int fd, const unsigned char record[RECORD_SIZE])
{
	off_t end = lseek(fd, 0, SEEK_END);
	ssize_t ret = end < 0 ? -1 : write(fd, record, RECORD_SIZE);
	int err;

	if (ret == RECORD_SIZE && !fsync(fd))
		return true;
	err = ret >= 0 && ret < RECORD_SIZE ? ENOSPC : errno;
	if (end >= 0 && ftruncate(fd, end))
		err = errno;
	errno = err;
	return false;
}

static bool write_key(int fd)
{
	unsigned char record[RECORD_SIZE];
	bool done;

	memcpy(record, HEAD, HEAD_SIZE);
	done = getrandom(record + HEAD_SIZE, KEY_SIZE, 0) == KEY_SIZE && put_record(fd, record);
	explicit_bzero(record, sizeof(record));
	return done;
}

static int make_key(const char *path, bool append)
{
	int fd = open(path, append ? O_RDWR | O_APPEND : O_WRONLY | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
	const char *why = fd < 0 ? strerror(errno) : append ? reason_against(fd) : NULL;

	if (!why && !write_key(fd))
		why = strerror(errno);
	if (fd >= 0)
		close(fd);
	return why ? keygen_fail(path, why) : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	bool append = argc > 1 && !strcmp(argv[1], "-a");

	signal(SIGXFSZ, SIG_IGN);	/* a limit of the file's size is an error of write() */

	if (argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")))
		return print_usage(stdout);
	if (argc != 2 + append || argv[1 + append][0] == '-')
		return print_usage(stderr);
	return make_key(argv[1 + append], append);
}
