/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* array.h - arrays whose room is doubled when it is full. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <rdma/fi_errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* array_reserve - room for an element with number @cnt: afterwards @cnt < *@room_p.
 * @array_p: [in,out] a pointer to the address of an array of *@room_p elements of @size bytes; NULL, 0 at first
 * Ownership: free() of the array is the caller's.
 * Errors:    -FI_ENOMEM, nothing has changed.
 */
static inline int array_reserve(void *array_p, size_t cnt, unsigned *room_p, size_t size)
{
	unsigned room = *room_p ? 2 * *room_p : 16;
	void *array;

	if (cnt < *room_p)
		return 0;
	memcpy(&array, array_p, sizeof(array));
	array = realloc(array, room * size);
	if (!array)
		return -FI_ENOMEM;
	memcpy(array_p, &array, sizeof(array));
	*room_p = room;
	return 0;
}

#endif
