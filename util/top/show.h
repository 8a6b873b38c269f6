/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* show.h - answers as text for people, and as JSON and other forms for programs. */
#ifndef UTIL_TOP_SHOW_H
#define UTIL_TOP_SHOW_H

#include <stdio.h>

#include "gather.h"

void show_text(const struct answers *answers, FILE *out);

/* show_record - one record of an endpoint as a line of that text. */
void show_record(const union record *r, FILE *out);
void show_json(const struct answers *answers, FILE *out);

/* show_metrics - for programs that collect metrics, in the format of OpenMetrics (its units are bytes).
 * show_dot     - which process waits for which, as a graph for dot(1)
 */
void show_metrics(const struct answers *answers, FILE *out);
void show_dot(const struct answers *answers, FILE *out);

/* show_waits - which process waits for which, by receives that name their source and sends that wait for
 * a receive; cycles among them first.  Nothing where none does.
 * waits_beyond - does one wait for a process that has not answered?
 */
bool waits_beyond(const struct answers *answers);
void show_waits(const struct answers *answers, FILE *out);

#endif
