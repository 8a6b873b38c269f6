/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/* How a program ends, and the watchdog. */
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ft.h"
#include "../../tests/limit.h"

static const char *volatile where_now = "starting";
static char place[128];
static const char *about;
static int watch_s;

void ft_at(const char *where)
{
	where_now = where;
}

void ft_case(const char *text)
{
	about = text;
}

uint64_t ft_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t) ts.tv_sec * 1000000000u + (uint64_t) ts.tv_nsec;
}

/* Only async-signal-safe calls: the program may hang in malloc. */
static void on_limit(int sig)
{
	static const char head[] = "FAIL: time limit passed while ";
	char num[48];
	int n = snprintf(num, sizeof(num), sig == SIGALRM ? " (limit %d s)\n" : " (limit %d s of processor time)\n",
			 sig == SIGALRM ? 10 * watch_s : watch_s);
	const char *at = where_now;

	if (write(STDERR_FILENO, head, sizeof(head) - 1) < 0 ||
	    write(STDERR_FILENO, at, strlen(at)) < 0 ||
	    write(STDERR_FILENO, num, (size_t) n) < 0 ||
	    (about && write(STDERR_FILENO, about, strlen(about)) < 0))
		_exit(125);
	ft_ctl_last_word('F', "time limit passed");
	_exit(124);
}

void ft_watch(int seconds)
{
	watch_s = seconds;
	limit_time((unsigned int) seconds, on_limit);
}

void ft_place(const char *file, int line)
{
	const char *base = strrchr(file, '/');

	snprintf(place, sizeof(place), "%s:%d: ", base ? base + 1 : file, line);
}

static void end_with(int rc, char kind, FILE *to, const char *head, const char *fmt, va_list ap)
{
	char text[1024];

	vsnprintf(text, sizeof(text), fmt, ap);
	fflush(stdout);
	fprintf(to, "%s%s%s%s%s\n", head, rc == FT_SKIPPED ? "" : place, text, about ? "; in " : "",
		about ? about : "");
	fflush(to);
	ft_ctl_last_word(kind, text);
	exit(rc);
}

void ft_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	end_with(EXIT_FAILURE, 'F', stderr, "FAIL: ", fmt, ap);
	va_end(ap);
	abort();
}

void ft_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	end_with(FT_SKIPPED, 'S', stdout, "SKIP: ", fmt, ap);
	va_end(ap);
	abort();
}

ssize_t ft_check(ssize_t ret, const char *what, const char *file, int line)
{
	if (ret >= 0)
		return ret;
	ft_place(file, line);
	ft_fail("%s: %zd (%s)", what, ret, fi_strerror((int) -ret));
}

void ft_check_is(ssize_t ret, ssize_t want, const char *what, const char *file, int line)
{
	if (ret == want)
		return;
	ft_place(file, line);
	ft_fail("%s: got %zd (%s), not %zd (%s)", what, ret,
		ret < 0 ? fi_strerror((int) -ret) : "no error", want,
		want < 0 ? fi_strerror((int) -want) : "no error");
}

ssize_t ft_may(ssize_t ret, const char *what)
{
	if (ret == -FI_ENOSYS || ret == -FI_EOPNOTSUPP)
		ft_skip("not offered by this provider: %s: %s", what, fi_strerror((int) -ret));
	if (ret < 0)
		ft_fail("%s: %zd (%s)", what, ret, fi_strerror((int) -ret));
	return ret;
}
