/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "conf.h"

#include <limits.h>
#include <rdma/fi_errno.h>
#include <stddef.h>

#include "mr/cache.h"
#include "wire.h"

struct rxm_conf rxm_conf = {
	.buf_size = 16384,
	.credits = 16,
	.conn_timeout_ms = 60000,
	.conn_retry_ms = 1000,
	.local = 1,
	.inject_size = 4096,
	.tx_size = 2048,
	.rx_size = 2048,
};

#define FIELD(member) offsetof(struct rxm_conf, member)

static const struct param {
	const char *name;		/* under FI_OFI_RXM_ */
	enum fi_param_type type;
	size_t offset;
	long min, max;
	const char *help;
} params[] = {
	{ "BUFFER_SIZE", FI_PARAM_SIZE_T, FIELD(buf_size), RXM_BUF_MIN, RXM_BUF_MAX,
	  "bytes of a posted buffer; what does not fit is read from the sender's memory "
	  "(default: 16384)" },
	{ "MSG_RX_SIZE", FI_PARAM_SIZE_T, FIELD(credits), 2, 4096,
	  "buffers posted for each connected peer (default: 16)" },
	{ "CONN_TIMEOUT", FI_PARAM_INT, FIELD(conn_timeout_ms), 1, INT_MAX,
	  "milliseconds until an attempt to reach a peer has failed; a program that makes no "
	  "progress for so long looks dead to who calls it (default: 60000)" },
	{ "CONN_RETRY", FI_PARAM_INT, FIELD(conn_retry_ms), 0, INT_MAX,
	  "milliseconds during which a refused call is repeated (default: 1000)" },
	{ "LOCAL", FI_PARAM_BOOL, FIELD(local), 0, 1,
	  "RDM endpoints reach those of the same user on the same host through shared memory; "
	  "off: over connections below, like all others (default: on)" },
	{ "TX_SIZE", FI_PARAM_SIZE_T, FIELD(tx_size), 1, 1 << 20,
	  "transmit queue entries of an endpoint that asks for no number (default: 2048)" },
	{ "RX_SIZE", FI_PARAM_SIZE_T, FIELD(rx_size), 1, 1 << 20,
	  "receive queue entries of an endpoint that asks for no number (default: 2048)" },
};

static int read_number(const struct param *param, long *value_p)
{
	size_t size = 0;
	int number = 0, ret;

	if (param->type == FI_PARAM_SIZE_T) {
		ret = fi_param_get_size_t(rxm_conf.prov, param->name, &size);
		*value_p = size > LONG_MAX ? LONG_MAX : (long) size;
		return ret;
	}
	ret = param->type == FI_PARAM_BOOL ?
	      fi_param_get_bool(rxm_conf.prov, param->name, &number) :
	      fi_param_get_int(rxm_conf.prov, param->name, &number);
	*value_p = number;
	return ret;
}

static void read_param(const struct param *param)
{
	void *field = (char *) &rxm_conf + param->offset;
	long value;
	int ret = read_number(param, &value);

	if (ret == -FI_ENODATA || ret == -FI_ENOENT)
		return;
	if (ret || value < param->min || value > param->max) {
		FI_WARN(rxm_conf.prov, FI_LOG_CORE,
			"parameter %s is ignored, it must be a number from %ld to %ld\n",
			param->name, param->min, param->max);
		return;
	}
	if (param->type == FI_PARAM_SIZE_T)
		*(size_t *) field = (size_t) value;
	else
		*(int *) field = (int) value;
}

void rxm_conf_define(void)
{
	size_t i;

	mr_cache_params();
	for (i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
		fi_param_define(rxm_conf.prov, params[i].name, params[i].type, "%s",
				params[i].help);
		read_param(&params[i]);
	}
	if (rxm_conf.inject_size > rxm_conf.buf_size / 2)
		rxm_conf.inject_size = rxm_conf.buf_size / 2;
}
