/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/* The keys of a configuration file and the words that each of them takes. */
#include <string.h>

#include "uber.h"

#define W(name)		{ #name, (uint64_t) (name) }
#define T(name, value)	{ #name, value }

static const struct uber_word types[] = {
	T(FT_TEST_UNIT, TYPE_UNIT), T(FT_TEST_LATENCY, TYPE_LATENCY),
	T(FT_TEST_BANDWIDTH, TYPE_BANDWIDTH), { 0 }
};

static const struct uber_word classes[] = {
	T(FT_CAP_MSG, CLASS_MSG), T(FT_CAP_TAGGED, CLASS_TAGGED), T(FT_CAP_RMA, CLASS_RMA),
	T(FT_CAP_ATOMIC, CLASS_ATOMIC), { 0 }
};

static const struct uber_word funcs[] = {
	T(FT_FUNC_SEND, FUNC_SEND), T(FT_FUNC_SENDV, FUNC_SENDV), T(FT_FUNC_SENDMSG, FUNC_SENDMSG),
	T(FT_FUNC_INJECT, FUNC_INJECT), T(FT_FUNC_SENDDATA, FUNC_SENDDATA),
	T(FT_FUNC_INJECTDATA, FUNC_INJECTDATA),
	T(FT_FUNC_WRITE, FUNC_WRITE), T(FT_FUNC_WRITEV, FUNC_WRITEV),
	T(FT_FUNC_WRITEMSG, FUNC_WRITEMSG), T(FT_FUNC_WRITEDATA, FUNC_WRITEDATA),
	T(FT_FUNC_INJECT_WRITE, FUNC_INJECT_WRITE),
	T(FT_FUNC_INJECT_WRITEDATA, FUNC_INJECT_WRITEDATA),
	T(FT_FUNC_READ, FUNC_READ), T(FT_FUNC_READV, FUNC_READV), T(FT_FUNC_READMSG, FUNC_READMSG),
	T(FT_FUNC_ATOMIC, FUNC_ATOMIC), T(FT_FUNC_ATOMICV, FUNC_ATOMICV),
	T(FT_FUNC_ATOMICMSG, FUNC_ATOMICMSG), T(FT_FUNC_INJECT_ATOMIC, FUNC_INJECT_ATOMIC),
	T(FT_FUNC_FETCH_ATOMIC, FUNC_FETCH), T(FT_FUNC_FETCH_ATOMICV, FUNC_FETCHV),
	T(FT_FUNC_FETCH_ATOMICMSG, FUNC_FETCHMSG), T(FT_FUNC_COMPARE_ATOMIC, FUNC_COMPARE),
	T(FT_FUNC_COMPARE_ATOMICV, FUNC_COMPAREV), T(FT_FUNC_COMPARE_ATOMICMSG, FUNC_COMPAREMSG),
	{ 0 }
};

static const struct uber_word comps[] = {
	T(FT_COMP_QUEUE, COMP_QUEUE), T(FT_COMP_CNTR, COMP_CNTR), T(FT_COMP_ALL, COMP_ALL), { 0 }
};

static const struct uber_word test_flags[] = { T(FT_FLAG_QUICKTEST, FLAG_QUICK), { 0 } };
static const struct uber_word ep_types[] = { W(FI_EP_MSG), W(FI_EP_RDM), W(FI_EP_DGRAM), { 0 } };
static const struct uber_word av_types[] = { W(FI_AV_MAP), W(FI_AV_TABLE), W(FI_AV_UNSPEC), { 0 } };

static const struct uber_word waits[] = {
	W(FI_WAIT_NONE), W(FI_WAIT_UNSPEC), W(FI_WAIT_FD), W(FI_WAIT_MUTEX_COND), W(FI_WAIT_YIELD),
	{ 0 }
};

static const struct uber_word threadings[] = {
	W(FI_THREAD_UNSPEC), W(FI_THREAD_SAFE), W(FI_THREAD_FID), W(FI_THREAD_DOMAIN),
	W(FI_THREAD_COMPLETION), W(FI_THREAD_ENDPOINT), { 0 }
};

static const struct uber_word progresses[] = {
	W(FI_PROGRESS_UNSPEC), W(FI_PROGRESS_AUTO), W(FI_PROGRESS_MANUAL), { 0 }
};

static const struct uber_word mr_modes[] = {
	W(FI_MR_LOCAL), W(FI_MR_VIRT_ADDR), W(FI_MR_ALLOCATED), W(FI_MR_PROV_KEY),
	W(FI_MR_ENDPOINT), W(FI_MR_RAW), W(FI_MR_RMA_EVENT), W(FI_MR_MMU_NOTIFY),
	T(FI_MR_UNSPEC, 0), T(FI_MR_BASIC, 1), T(FI_MR_SCALABLE, 2), { 0 }
};

static const struct uber_word caps[] = {
	W(FI_MSG), W(FI_TAGGED), W(FI_RMA), W(FI_ATOMIC), W(FI_SEND), W(FI_RECV), W(FI_READ),
	W(FI_WRITE), W(FI_REMOTE_READ), W(FI_REMOTE_WRITE), W(FI_DIRECTED_RECV), W(FI_SOURCE),
	W(FI_MULTI_RECV), W(FI_RMA_EVENT), W(FI_FENCE), W(FI_NAMED_RX_CTX), W(FI_TRIGGER),
	W(FI_LOCAL_COMM), W(FI_REMOTE_COMM), { 0 }
};

static const struct uber_word modes[] = {
	W(FI_CONTEXT), W(FI_CONTEXT2), W(FI_RX_CQ_DATA), W(FI_LOCAL_MR), { 0 }
};

static const struct uber_word op_flags[] = {
	W(FI_COMPLETION), W(FI_REMOTE_CQ_DATA), W(FI_SELECTIVE_COMPLETION), W(FI_INJECT_COMPLETE),
	W(FI_TRANSMIT_COMPLETE), W(FI_DELIVERY_COMPLETE), { 0 }
};

static const struct uber_word ops[] = {
	W(FI_MIN), W(FI_MAX), W(FI_SUM), W(FI_PROD), W(FI_LOR), W(FI_LAND), W(FI_BOR), W(FI_BAND),
	W(FI_LXOR), W(FI_BXOR), W(FI_ATOMIC_READ), W(FI_ATOMIC_WRITE), W(FI_CSWAP), W(FI_CSWAP_NE),
	W(FI_CSWAP_LE), W(FI_CSWAP_LT), W(FI_CSWAP_GE), W(FI_CSWAP_GT), W(FI_MSWAP), { 0 }
};

static const struct uber_word datatypes[] = {
	W(FI_INT8), W(FI_UINT8), W(FI_INT16), W(FI_UINT16), W(FI_INT32), W(FI_UINT32), W(FI_INT64),
	W(FI_UINT64), W(FI_FLOAT), W(FI_DOUBLE), W(FI_FLOAT_COMPLEX), W(FI_DOUBLE_COMPLEX),
	W(FI_LONG_DOUBLE), W(FI_LONG_DOUBLE_COMPLEX), { 0 }
};

static const struct key {
	const char *name;
	const struct uber_word *words;
	bool ors;
} keys[KEY_CNT] = {
	[KEY_TYPE] = { "test_type", types, false },
	[KEY_CLASS] = { "test_class", classes, false },
	[KEY_FUNC] = { "class_function", funcs, false },
	[KEY_CAPS] = { "constant_caps", caps, true },
	[KEY_MODE] = { "mode", modes, true },
	[KEY_EP_TYPE] = { "ep_type", ep_types, false },
	[KEY_COMP] = { "comp_type", comps, false },
	[KEY_AV_TYPE] = { "av_type", av_types, false },
	[KEY_EQ_WAIT] = { "eq_wait_obj", waits, false },
	[KEY_CQ_WAIT] = { "cq_wait_obj", waits, false },
	[KEY_CNTR_WAIT] = { "cntr_wait_obj", waits, false },
	[KEY_THREADING] = { "threading", threadings, false },
	[KEY_PROGRESS] = { "progress", progresses, false },
	[KEY_MR_MODE] = { "mr_mode", mr_modes, true },
	[KEY_OP] = { "op", ops, false },
	[KEY_DATATYPE] = { "datatype", datatypes, false },
	[KEY_MSG_FLAGS] = { "msg_flags", op_flags, true },
	[KEY_RX_BIND] = { "rx_cq_bind_flags", op_flags, true },
	[KEY_TX_BIND] = { "tx_cq_bind_flags", op_flags, true },
	[KEY_RX_OP] = { "rx_op_flags", op_flags, true },
	[KEY_TX_OP] = { "tx_op_flags", op_flags, true },
	[KEY_TEST_FLAGS] = { "test_flags", test_flags, true },
};

int uber_key_find(const char *name)
{
	if (!strcmp(name, "prov_name"))
		return KEY_CNT;
	for (int i = 0; i < KEY_CNT; i++)
		if (!strcmp(keys[i].name, name))
			return i;
	return -1;
}

bool uber_key_value(enum uber_key key, const char *word, uint64_t *value_p)
{
	for (const struct uber_word *w = keys[key].words; w->text; w++) {
		if (strcmp(w->text, word))
			continue;
		*value_p = w->value;
		return true;
	}
	return false;
}

bool uber_key_ors(enum uber_key key)
{
	return keys[key].ors;
}

const char *uber_key_name(enum uber_key key)
{
	return keys[key].name;
}

static const char *word_of(enum uber_key key, uint64_t value)
{
	for (const struct uber_word *w = keys[key].words; w->text; w++)
		if (w->value == value)
			return w->text;
	return NULL;
}

/* What a combination is first, then whatever else the file says of it. */
void uber_say(const struct uber_case *c, char *line, size_t len)
{
	static const enum uber_key first[] = { KEY_EP_TYPE, KEY_TYPE, KEY_CLASS, KEY_FUNC };
	uint64_t done = 0;
	size_t at = (size_t) snprintf(line, len, "%s", *c->prov ? c->prov : "any provider");

	for (size_t i = 0; i < FT_COUNT(first) && at < len; i++) {
		at += (size_t) snprintf(line + at, len - at, " %s", word_of(first[i], c->v[first[i]]));
		done |= 1ULL << first[i];
	}
	for (int k = 0; k < KEY_CNT && at < len; k++) {
		const char *word = word_of(k, c->v[k]);

		if (!(c->given >> k & 1) || done >> k & 1 || k == KEY_TEST_FLAGS)
			continue;
		if ((k == KEY_OP || k == KEY_DATATYPE) && c->v[KEY_CLASS] != CLASS_ATOMIC)
			continue;
		if (word)
			at += (size_t) snprintf(line + at, len - at, " %s=%s", keys[k].name, word);
		else
			at += (size_t) snprintf(line + at, len - at, " %s=%#llx", keys[k].name,
						(unsigned long long) c->v[k]);
	}
}
