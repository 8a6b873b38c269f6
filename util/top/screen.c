/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define REST_MS 20	/* between the characters that one key sends */

static struct termios before;
static volatile sig_atomic_t ended;
static bool begun;

static const struct {
	const char *sent;	/* by the terminal */
	enum view_key key;
} keys[] = {
	{ "\033[A", KEY_UP }, { "\033OA", KEY_UP }, { "k", KEY_UP },
	{ "\033[B", KEY_DOWN }, { "\033OB", KEY_DOWN }, { "j", KEY_DOWN },
	{ "\033[5~", KEY_PAGE_UP }, { "\033[6~", KEY_PAGE_DOWN },
	{ "\033[C", KEY_INTO }, { "\033OC", KEY_INTO }, { "\r", KEY_INTO }, { "\n", KEY_INTO }, { "l", KEY_INTO },
	{ "\033[D", KEY_BACK }, { "\033OD", KEY_BACK }, { "\033", KEY_BACK }, { "\177", KEY_BACK }, { "h", KEY_BACK },
	{ "s", KEY_SORT }, { ">", KEY_SORT }, { "S", KEY_SORT_BACK }, { "<", KEY_SORT_BACK },
	{ "r", KEY_REVERSE }, { "p", KEY_PATHS }, { " ", KEY_PAUSE }, { "?", KEY_HELP }, { "q", KEY_QUIT },
};

static void on_signal(int sig)
{
	if (sig != SIGWINCH)
		ended = 1;
}

static void put_text(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		ended = 1;
}

void screen_end(void)
{
	if (!begun)
		return;
	begun = false;
	put_text("\033[?25h\033[?1049l");
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

int screen_begin(void)
{
	static const int sigs[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH };
	struct sigaction act = { .sa_handler = on_signal };
	struct termios raw;
	size_t i;

	if (tcgetattr(STDIN_FILENO, &before))
		return -errno;
	raw = before;
	raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
	raw.c_iflag &= (tcflag_t) ~(ICRNL | IXON);
	if (tcsetattr(STDIN_FILENO, TCSANOW, &raw))
		return -errno;
	begun = true;
	atexit(screen_end);
	for (i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++)
		sigaction(sigs[i], &act, NULL);
	put_text("\033[?1049h\033[?25l\033[2J");
	return 0;
}

void screen_size(size_t *height_p, size_t *width_p)
{
	struct winsize size;

	*height_p = 24;
	*width_p = 80;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
		return;
	*height_p = size.ws_row;
	*width_p = size.ws_col;
}

static bool has_input(int ms)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&fd, 1, ms) == 1;
}

enum view_key screen_key(int ms)
{
	char sent[8] = "";
	size_t len = 0, i;

	if (!ended && has_input(ms)) {
		do {
			if (read(STDIN_FILENO, sent + len, 1) != 1)
				return KEY_QUIT;	/* the terminal is gone */
			len++;
		} while (*sent == '\033' && len + 1 < sizeof(sent) && has_input(REST_MS) &&
			 (len < 3 || !strchr("ABCDFH~", sent[len - 1])));
	}
	if (ended)
		return KEY_QUIT;
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(keys[i].sent, sent))
			return keys[i].key;
	return KEY_NONE;
}
