/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <ctype.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "hmem/mem.h"
#include "info/params.h"

/* env_name - FI_TCP for a provider named tcp; for log texts. */
static const char *env_name(const struct fi_provider *prov, char *buf, size_t len)
{
	size_t i;

	snprintf(buf, len, "FI_%s", prov->name);
	for (i = 3; buf[i]; i++)
		buf[i] = (char) toupper((unsigned char) buf[i]);
	return buf;
}

/* ---- tables ------------------------------------------------------------------------- */

static int read_word(struct fi_provider *prov, const struct info_param *param, size_t *value_p)
{
	char *text = NULL;
	size_t i;
	int ret = fi_param_get_str(prov, param->name, &text);

	if (ret || !text)
		return ret ? ret : -FI_ENODATA;
	for (i = 0; param->words[i]; i++) {
		if (!strcasecmp(text, param->words[i])) {
			*value_p = i;
			return 0;
		}
	}
	return -FI_EINVAL;
}

static int read_number(struct fi_provider *prov, const struct info_param *param, size_t *value_p)
{
	int number = 0, ret;

	if (param->words)
		return read_word(prov, param, value_p);
	if (param->type == FI_PARAM_SIZE_T)
		return fi_param_get_size_t(prov, param->name, value_p);
	ret = param->type == FI_PARAM_BOOL ? fi_param_get_bool(prov, param->name, &number) :
	      fi_param_get_int(prov, param->name, &number);
	*value_p = (size_t) number;
	return !ret && number < 0 ? -FI_EINVAL : ret;
}

static void warn_value(struct fi_provider *prov, const struct info_param *param)
{
	char env[64], words[256] = "";
	size_t i, at = 0;

	env_name(prov, env, sizeof(env));
	for (i = 0; param->words && param->words[i] && at < sizeof(words); i++)
		at += (size_t) snprintf(words + at, sizeof(words) - at, "%s%s", i ? ", " : "",
					param->words[i]);
	if (param->words)
		FI_WARN(prov, FI_LOG_CORE, "%s_%s is ignored, it must be one of: %s\n", env,
			param->name, words);
	else if (param->max == INFO_PARAM_MAX)
		FI_WARN(prov, FI_LOG_CORE, "%s_%s is ignored, it must be a number of at least "
			"%zu\n", env, param->name, param->min);
	else
		FI_WARN(prov, FI_LOG_CORE, "%s_%s is ignored, it must be a number from %zu to "
			"%zu\n", env, param->name, param->min, param->max);
}

static void read_string(struct fi_provider *prov, const struct info_param *param, void *field)
{
	char *text = NULL, *copy;

	if (fi_param_get_str(prov, param->name, &text) || !text || !*text)
		return;
	copy = strdup(text);	/* the environment may change */
	if (copy)
		*(const char **) field = copy;
}

static void read_one(struct fi_provider *prov, const struct info_param *param, void *field)
{
	size_t value = 0;
	int ret;

	if (param->type == FI_PARAM_STRING && !param->words) {
		read_string(prov, param, field);
		return;
	}
	ret = read_number(prov, param, &value);
	if (ret == -FI_ENODATA || ret == -FI_ENOENT)
		return;
	if (ret || value < param->min || (!param->words && value > param->max))
		warn_value(prov, param);
	else if (param->type == FI_PARAM_SIZE_T)
		*(size_t *) field = value;
	else
		*(int *) field = (int) value;
}

void info_params_read(struct fi_provider *prov, const struct info_param *params, size_t cnt,
		      void *conf)
{
	size_t i;

	for (i = 0; i < cnt; i++) {
		if (!params[i].name)
			continue;
		fi_param_define(prov, params[i].name, params[i].type, "%s", params[i].help);
		read_one(prov, &params[i], (char *) conf + params[i].offset);
	}
}

/* ---- parameters of providers over IP ------------------------------------------------------ */

int info_params_define(const struct fi_provider *prov, int which)
{
	char env[64];
	int ret = 0;

	env_name(prov, env, sizeof(env));
	hmem_params();
	if (which & INFO_PARAM_IFACE)
		ret = fi_param_define(prov, "iface", FI_PARAM_STRING,
				      "Use this network interface only, for example eth0 "
				      "(default: all, best first)");
	if (!ret && which & INFO_PARAM_PORTS)
		ret = fi_param_define(prov, "port_low_range", FI_PARAM_INT,
				      "First port that an endpoint may listen on when it "
				      "asks for none, 1 to 65535 (default: the system chooses)");
	if (!ret && which & INFO_PARAM_PORTS)
		ret = fi_param_define(prov, "port_high_range", FI_PARAM_INT,
				      "Last such port (default: 65535 if %s_PORT_LOW_RANGE is set)", env);
	return ret;
}

void info_params_conn_retry(struct fi_provider *prov, int *ms_p)
{
	int ms;

	if (fi_param_get_int(NULL, "conn_retry", &ms))
		return;
	if (ms < 0)
		FI_WARN(prov, FI_LOG_CORE, "FI_CONN_RETRY is ignored, it must be a number of at least 0\n");
	else
		*ms_p = ms;
}

const char *info_params_iface(struct fi_provider *prov)
{
	char *name = NULL;

	return fi_param_get_str(prov, "iface", &name) || !name || !*name ? NULL : name;
}

void info_params_iface_var(const struct fi_provider *prov, char *buf, size_t size)
{
	char env[64];

	env_name(prov, env, sizeof(env));
	snprintf(buf, size, "%s_IFACE", env);
}

const char *info_params_ports_advice(const struct fi_provider *prov, int err, char *buf,
				     size_t size)
{
	char env[64];

	env_name(prov, env, sizeof(env));
	*buf = '\0';
	if (err == FI_EADDRINUSE)
		snprintf(buf, size, "; %s_PORT_LOW_RANGE and %s_PORT_HIGH_RANGE are the range of ports",
			 env, env);
	return buf;
}

int info_params_ports(struct fi_provider *prov, struct net_ports *ports_p)
{
	int low = 0, high = 0;
	char env[64];

	fi_param_get_int(prov, "port_low_range", &low);
	fi_param_get_int(prov, "port_high_range", &high);
	if (!net_ports_set(low, high, ports_p))
		return 0;
	net_ports_set(0, 0, ports_p);
	env_name(prov, env, sizeof(env));
	FI_WARN(prov, FI_LOG_CORE,
		"%s_PORT_LOW_RANGE=%d and %s_PORT_HIGH_RANGE=%d are not a valid range of ports and are "
		"ignored: give two numbers from 1 to 65535, the lower one first\n",
		env, low, env, high);
	return -FI_EINVAL;
}
