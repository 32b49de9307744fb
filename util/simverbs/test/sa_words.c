/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests about groups whose words are arguments of the program. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sa_ask.h"

static const struct {
	const char *word;
	uint8_t method;
} methods[] = {{"get", PVB_SA_GET}, {"set", PVB_SA_SET}, {"delete", PVB_SA_DELETE}};

static void set_state(struct pvb_mcm *mcm, unsigned long value)
{
	mcm->join_state = (uint8_t)value;
}

static void set_qkey(struct pvb_mcm *mcm, unsigned long value)
{
	mcm->qkey = (uint32_t)value;
}

static void set_pkey(struct pvb_mcm *mcm, unsigned long value)
{
	mcm->pkey = (uint16_t)value;
}

static void set_mtu(struct pvb_mcm *mcm, unsigned long value)
{
	mcm->mtu_selector = PVB_SA_EXACTLY;
	for (mcm->mtu = 1; 128ul << mcm->mtu < value; mcm->mtu++)
		;
}

static void set_mtu_greater(struct pvb_mcm *mcm, unsigned long value)
{
	set_mtu(mcm, value);
	mcm->mtu_selector = PVB_SA_GREATER;
}

static void set_mtu_less(struct pvb_mcm *mcm, unsigned long value)
{
	set_mtu(mcm, value);
	mcm->mtu_selector = PVB_SA_LESS;
}

static void set_rate(struct pvb_mcm *mcm, unsigned long value)
{
	mcm->rate_selector = PVB_SA_EXACTLY;
	mcm->rate = (uint8_t)value;
}

static void set_rate_greater(struct pvb_mcm *mcm, unsigned long value)
{
	mcm->rate_selector = PVB_SA_GREATER;
	mcm->rate = (uint8_t)value;
}

static void set_rate_less(struct pvb_mcm *mcm, unsigned long value)
{
	mcm->rate_selector = PVB_SA_LESS;
	mcm->rate = (uint8_t)value;
}

static void set_tclass(struct pvb_mcm *mcm, unsigned long value)
{
	mcm->tclass = (uint8_t)value;
}

static void set_flow(struct pvb_mcm *mcm, unsigned long value)
{
	mcm->flow_label = (uint32_t)value;
}

static void set_hop(struct pvb_mcm *mcm, unsigned long value)
{
	mcm->hop_limit = (uint8_t)value;
}

static void set_sl(struct pvb_mcm *mcm, unsigned long value)
{
	mcm->sl = (uint8_t)value;
}

#define HAS_MTU (PVB_MCM_HAS_MTU | PVB_MCM_HAS_MTU_SELECTOR)
#define HAS_RATE (PVB_MCM_HAS_RATE | PVB_MCM_HAS_RATE_SELECTOR)

/* Rates are codes, as in enum ibv_rate. */
static const struct {
	const char *word;
	uint32_t mask;
	void (*set)(struct pvb_mcm *mcm, unsigned long value);
} fields[] = {
	{"state", PVB_MCM_HAS_JOIN_STATE, set_state},
	{"qkey", PVB_MCM_HAS_QKEY, set_qkey},
	{"pkey", PVB_MCM_HAS_PKEY, set_pkey},
	{"mtu", HAS_MTU, set_mtu},
	{"mtu-greater", HAS_MTU, set_mtu_greater},
	{"mtu-less", HAS_MTU, set_mtu_less},
	{"rate", HAS_RATE, set_rate},
	{"rate-greater", HAS_RATE, set_rate_greater},
	{"rate-less", HAS_RATE, set_rate_less},
	{"tclass", PVB_MCM_HAS_TCLASS, set_tclass},
	{"flow", PVB_MCM_HAS_FLOW_LABEL, set_flow},
	{"hop", PVB_MCM_HAS_HOP_LIMIT, set_hop},
	{"sl", PVB_MCM_HAS_SL, set_sl},
};

static bool take_field(struct pvb_mcm *mcm, uint32_t *mask, const char *argument)
{
	const char *const value = strchr(argument, '=');
	size_t i;

	for (i = 0; value && i < sizeof(fields) / sizeof(*fields); i++) {
		if (strncmp(argument, fields[i].word, (size_t)(value - argument)))
			continue;
		fields[i].set(mcm, strtoul(value + 1, NULL, 0));
		*mask |= fields[i].mask;
		return true;
	}
	return false;
}

/* The rate, which is not the same on all ports, where it is asked for. JoinState is that
 * of a port which is asked for. opensm gives back zeros when somebody leaves. */
static void show(uint8_t method, uint32_t mask, const struct pvb_mcm *mcm)
{
	if (method != PVB_SA_DELETE)
		printf(" mlid=0x%04x qkey=0x%08x pkey=0x%04x mtu=%u tclass=%u flow=%u "
		       "sl=%u",
		       mcm->mlid, mcm->qkey, mcm->pkey, 128u << mcm->mtu, mcm->tclass,
		       mcm->flow_label, mcm->sl);
	if (method != PVB_SA_DELETE && mask & PVB_MCM_HAS_RATE)
		printf(" rate=%u", mcm->rate);
	if (method != PVB_SA_DELETE && mask & PVB_MCM_HAS_PORT_GID)
		printf(" state=%u", mcm->join_state);
}

int sa_words(int argc, char **argv)
{
	struct pvb_mcm mcm = {0}, found = {0};
	uint32_t mask = PVB_MCM_HAS_MGID;
	int i, status;

	for (i = 0; i < 3 && strcmp(argv[0], methods[i].word); i++)
		;
	if (argc < 2 || i == 3 || inet_pton(AF_INET6, argv[1], mcm.mgid) != 1)
		return 2;
	/* Who asks for its port is told of that port's membership. */
	memcpy(mcm.port_gid, sa.port.gid, sizeof(mcm.port_gid));
	if (methods[i].method != PVB_SA_GET)
		mask |= PVB_MCM_HAS_PORT_GID;
	for (argc -= 2, argv += 2; argc; argc--, argv++)
		if (!strcmp(*argv, "port"))
			mask |= PVB_MCM_HAS_PORT_GID;
		else if (!take_field(&mcm, &mask, *argv))
			return 2;
	status = sa_mcmember(methods[i].method, mask, &mcm, &found);
	if (status < 0)
		printf("%s", strerror(-status));
	else
		printf("0x%04x", (unsigned int)status);
	if (!status)
		show(methods[i].method, mask, &found);
	puts("");
	return 0;
}
