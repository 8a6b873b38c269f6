/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * av - a million IPv4 addresses in one fi_av_insert: time and memory.
 *
 *   av [PROVIDER [COUNT]]
 */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>

static void must(const char *what, int ret)
{
	if (ret) {
		fprintf(stderr, "av: %s: %s\n", what, fi_strerror(-ret));
		exit(1);
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

/* Resident bytes of this process. */
static double resident(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return (double) pages * (double) sysconf(_SC_PAGESIZE);
}

static struct fi_info *find(const char *prov)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	hints->addr_format = FI_SOCKADDR_IN;
	hints->ep_attr->type = strcmp(prov, "udp") ? FI_EP_RDM : FI_EP_DGRAM;
	hints->fabric_attr->prov_name = strdup(prov);
	must("fi_getinfo", fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
	fi_freeinfo(hints);
	return info;
}

int main(int argc, char **argv)
{
	const char *prov = argc > 1 ? argv[1] : "tcp";
	size_t cnt = argc > 2 ? strtoul(argv[2], NULL, 0) : 1000000;
	struct fi_av_attr attr = { .type = FI_AV_TABLE, .count = cnt };
	struct sockaddr_in *addr = calloc(cnt, sizeof(*addr));
	struct fi_info *info = find(prov);
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	double t, before;
	struct fid_av *av;
	int ret;

	for (size_t i = 0; i < cnt; i++) {
		addr[i].sin_family = AF_INET;
		addr[i].sin_addr.s_addr = htonl(0x0a000000 + (uint32_t) (i >> 2));
		addr[i].sin_port = htons((uint16_t) (2000 + (i & 3)));
	}
	must("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
	must("fi_domain", fi_domain(fabric, info, &domain, NULL));
	before = resident();
	must("fi_av_open", fi_av_open(domain, &attr, &av, NULL));
	t = now();
	ret = fi_av_insert(av, addr, cnt, NULL, 0, NULL);
	t = now() - t;
	if (ret != (int) cnt)
		must("fi_av_insert", ret < 0 ? ret : -FI_EOTHER);
	printf("%s: %zu addresses in %.3f s, %.1f MiB resident, %.1f bytes each\n", prov, cnt, t,
	       (resident() - before) / 1048576, (resident() - before) / (double) cnt);
	fi_close(&av->fid);
	fi_close(&domain->fid);
	fi_close(&fabric->fid);
	fi_freeinfo(info);
	free(addr);
	return 0;
}
