/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "meet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rdma/fi_errno.h>

#define STEP UINT64_C(0x9e3779b97f4a7c15)

void meet_must(const char *what, long ret)
{
	if (!ret)
		return;
	printf("failed: %s: %ld (%s)\n", what, ret, fi_strerror((int) -ret));
	exit(1);
}

uint64_t meet_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

void meet_publish(const char *dir, const char *name, const void *data, size_t len)
{
	char part[500], whole[500];
	FILE *file;

	snprintf(part, sizeof(part), "%s/.%s.%d", dir, name, (int) getpid());
	snprintf(whole, sizeof(whole), "%s/%s", dir, name);
	file = fopen(part, "w");
	if (!file || fwrite(data, 1, len, file) != len || fclose(file) || rename(part, whole))
		meet_must(whole, -FI_EIO);
}

int meet_look(const char *dir, const char *name, void *data, size_t len)
{
	char path[500];
	FILE *file;
	size_t got;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "r");
	if (!file)
		return -1;
	got = fread(data, 1, len, file);
	fclose(file);
	if (got != len)
		meet_must(path, -FI_EIO);
	return 0;
}

uint64_t meet_mix(uint64_t x)
{
	x += STEP;
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

size_t meet_size(uint64_t random, size_t max)
{
	unsigned powers = 0;
	size_t low, len;

	while ((size_t) 1 << powers <= max)
		powers++;
	low = (size_t) 1 << random % powers;
	len = low + (random >> 8) % low;
	return len < max ? len : max;
}

void meet_fill(uint8_t *buf, size_t len, uint64_t seed)
{
	uint64_t word = meet_mix(seed);
	size_t at;

	for (at = 0; at + 8 <= len; at += 8, word += STEP)
		memcpy(buf + at, &word, 8);
	memcpy(buf + at, &word, len - at);
}

long meet_check(const uint8_t *buf, size_t len, uint64_t seed)
{
	uint64_t word = meet_mix(seed);
	size_t at;

	for (at = 0; at + 8 <= len; at += 8, word += STEP)
		if (memcmp(buf + at, &word, 8))
			return (long) at;
	return memcmp(buf + at, &word, len - at) ? (long) at : -1;
}

struct fi_info *meet_info(const char *provider, enum fi_ep_type type, uint64_t caps)
{
	const char *address = getenv("MEET_ADDRESS");
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	hints->caps = caps;
	hints->ep_attr->type = type;
	hints->fabric_attr->prov_name = strdup(provider);
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_LOCAL;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	if (fi_getinfo(FI_VERSION(1, 17), address ? address : "127.0.0.1", NULL, FI_SOURCE | FI_NUMERICHOST,
		       hints, &info))
		info = NULL;
	fi_freeinfo(hints);
	return info;
}
