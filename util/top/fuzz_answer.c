/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * libFuzzer target for what fi_top reads from a process, as root from one of any user: the input is an answer.
 * The first byte says how many of the records after it get a length and a type that are valid, as few inputs would
 * have them by chance; then all forms are written.  Run: fuzz_answer -max_len=8192 -max_total_time=600
 */
#include <stdlib.h>
#include <string.h>

#include "remote.h"
#include "show.h"
#include "since.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* mend_heads - of the first @cnt records. */
static void mend_heads(uint8_t *buf, size_t len, unsigned cnt)
{
	struct inspect_head head;
	size_t off = 0;

	while (cnt-- && len - off >= sizeof(head)) {
		memcpy(&head, buf + off, sizeof(head));
		head.len = 8 + head.len % INSPECT_RECORD_MAX / 8 * 8;
		head.type = 1 + head.type % INSPECT_REMOTE;
		if (head.len > len - off)
			head.len = (uint32_t) (len - off) / 8 * 8;
		memcpy(buf + off, &head, sizeof(head));
		off += head.len;
	}
}

static void show_all(struct answers *answers, FILE *out)
{
	struct since since = { .cnt = 0 };

	remote_add(answers);
	since_update(&since, answers, 1);
	since_update(&since, answers, 1000000000);
	waits_beyond(answers);
	show_waits(answers, out);
	show_text(answers, out);
	show_json(answers, out);
	show_metrics(answers, out);
	show_dot(answers, out);
	since_free(&since);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct answer answer = { .pid = 1, .rank = -1 };
	struct answers answers = { NULL, 0 };
	char *text = NULL;
	size_t len = 0, i;
	FILE *out;

	if (size < 2)
		return 0;
	answer.len = size - 1;
	answer.buf = malloc(answer.len);	/* of its own length, so that a byte beyond it is found */
	out = open_memstream(&text, &len);
	if (!answer.buf || !out)
		abort();
	memcpy(answer.buf, data + 1, answer.len);
	mend_heads(answer.buf, answer.len, data[0]);
	answers_add(&answers, &answer);
	show_all(&answers, out);
	fclose(out);
	for (i = 0; i < len; i++)		/* nothing that a terminal obeys */
		if ((text[i] < ' ' && text[i] != '\n' && text[i] != '\t') || text[i] == 0x7f)
			abort();
	free(text);
	answers_free(&answers);
	return 0;
}
