/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Words share a few condition variables: a wake is for all that sleep on one, and each looks at its word. */
#include "base/os/word.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define PLACES 64

static struct place {
	pthread_mutex_t lock;
	pthread_cond_t woken;
} places[PLACES];

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* In a child, too: a thread that it does not have may hold one. */
static void places_init(void)
{
	size_t i;

	for (i = 0; i < PLACES; i++) {
		pthread_mutex_init(&places[i].lock, NULL);
		pthread_cond_init(&places[i].woken, NULL);
	}
}

static void places_prepare(void)
{
	places_init();
	pthread_atfork(NULL, NULL, places_init);
}

static struct place *place_of(const unsigned *word)
{
	pthread_once(&once, places_prepare);
	return &places[(uintptr_t) word / sizeof(*word) % PLACES];
}

void os_word_wait(unsigned *word, unsigned value)
{
	struct place *place = place_of(word);

	pthread_mutex_lock(&place->lock);
	if (__atomic_load_n(word, __ATOMIC_RELAXED) == value)
		pthread_cond_wait(&place->woken, &place->lock);
	pthread_mutex_unlock(&place->lock);
}

void os_word_wake(unsigned *word)
{
	struct place *place = place_of(word);

	pthread_mutex_lock(&place->lock);
	pthread_cond_broadcast(&place->woken);
	pthread_mutex_unlock(&place->lock);
}
