/* SPDX-License-Identifier: BSD-2-Clause */
/* How fast a device is that does not say so in its section. */
#include <stdio.h>
#include <string.h>

#include "inside.h"

/* Of a device of which nobody knows. */
#define RATE_UNKNOWN 1000000000u

/* Mbit/s, as the kernel says; 0: it does not, as of the loopback. */
static uint64_t interface_rate(const char *name)
{
	char path[128];
	long long rate = 0;
	FILE *in;

	if (!name || strchr(name, '/') || strlen(name) > 15)
		return 0;
	snprintf(path, sizeof(path), "/sys/class/net/%s/speed", name);
	in = fopen(path, "re");
	if (!in)
		return 0;
	if (fscanf(in, "%lld", &rate) != 1 || rate < 0 || rate > 100000000)
		rate = 0;
	fclose(in);
	return (uint64_t)rate;
}

uint64_t frt_device_rate(const struct rte_net *net, const char **from)
{
	const struct fi_info *info = net->info;
	uint64_t rate;

	if (info->nic && info->nic->link_attr && info->nic->link_attr->speed) {
		*from = "of its adapter";
		return info->nic->link_attr->speed;
	}
	rate = interface_rate(info->domain_attr->name) * 1000000u;
	*from = rate ? "of its interface" : "a guess: its section should have a rate";
	return rate ? rate : RATE_UNKNOWN;
}
