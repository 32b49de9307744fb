/* SPDX-License-Identifier: BSD-2-Clause */
/* MCMemberRecord, IBA 15.2.5.17. What is refused, and with which status, is opensm's. */
#include <string.h>
#include "parts.h"

/* Offsets of components, and their bits in the mask. */
enum {
	SVB_MC_MGID = 0,
	SVB_MC_PORT_GID = 16,
	SVB_MC_QKEY = 32,
	SVB_MC_MLID = 36,
	SVB_MC_MTU = 38,
	SVB_MC_TCLASS = 39,
	SVB_MC_PKEY = 40,
	SVB_MC_RATE = 42,
	SVB_MC_LIFE = 43,
	SVB_MC_SL_FLOW_HOP = 44,
	SVB_MC_SCOPE_STATE = 48,
};
enum {
	SVB_MCM_MGID,
	SVB_MCM_PORT_GID,
	SVB_MCM_QKEY,
	SVB_MCM_MLID,
	SVB_MCM_MTU_SELECTOR,
	SVB_MCM_MTU,
	SVB_MCM_TCLASS,
	SVB_MCM_PKEY,
	SVB_MCM_RATE_SELECTOR,
	SVB_MCM_RATE,
	SVB_MCM_LIFE_SELECTOR,
	SVB_MCM_LIFE,
	SVB_MCM_SL,
	SVB_MCM_FLOW,
	SVB_MCM_HOP,
	SVB_MCM_SCOPE,
	SVB_MCM_STATE,
};
/* C15-0.1.24: what a join has to have, and what creating a group does. */
#define SVB_MCM_JOINS \
	(SVB_BIT(SVB_MCM_MGID) | SVB_BIT(SVB_MCM_PORT_GID) | SVB_BIT(SVB_MCM_STATE))
#define SVB_MCM_CREATES                                                    \
	(SVB_MCM_JOINS | SVB_BIT(SVB_MCM_QKEY) | SVB_BIT(SVB_MCM_TCLASS) | \
	 SVB_BIT(SVB_MCM_PKEY) | SVB_BIT(SVB_MCM_FLOW) | SVB_BIT(SVB_MCM_SL))

/* Selectors, 15.2.5.17. */
#define SVB_SELECT_GREATER 0u
#define SVB_SELECT_LESS 1u
#define SVB_SELECT_EXACTLY 2u
/* Of all ports. */
#define SVB_RATE_MOST IBV_RATE_100_GBPS
#define SVB_SCOPE_LINK 2

static bool svb_mcm_has(const struct svb_sa *sa, unsigned int component)
{
	return sa->mask & SVB_BIT(component);
}

static void svb_mcm_parse(const struct svb_sa *sa, struct svb_group_attr *attr)
{
	const uint32_t mix = (uint32_t)svb_mad_get(sa->data, SVB_MC_SL_FLOW_HOP, 4);

	*attr = (struct svb_group_attr){
		.qkey = (uint32_t)svb_mad_get(sa->data, SVB_MC_QKEY, 4),
		.flow = mix >> 8 & 0xfffff,
		.pkey = (uint16_t)svb_mad_get(sa->data, SVB_MC_PKEY, 2),
		.life = svb_mcm_has(sa, SVB_MCM_LIFE) ? sa->data[SVB_MC_LIFE] & 63 : 18,
		.tclass = sa->data[SVB_MC_TCLASS],
		.sl = (uint8_t)(mix >> 28),
		.hop = svb_mcm_has(sa, SVB_MCM_HOP) ? (uint8_t)mix : 0,
	};
}

static void svb_mcm_fill(uint8_t *record, uint32_t place, const struct svb_group *group)
{
	const struct svb_group_attr *attr = &group->attr;

	memcpy(record + SVB_MC_MGID, group->mgid.raw, 16);
	svb_mad_put(record, SVB_MC_QKEY, 4, attr->qkey);
	svb_mad_put(record, SVB_MC_MLID, 2, SVB_MLID_FIRST + place);
	record[SVB_MC_MTU] = (uint8_t)(SVB_SELECT_EXACTLY << 6 | attr->mtu);
	record[SVB_MC_TCLASS] = attr->tclass;
	svb_mad_put(record, SVB_MC_PKEY, 2, attr->pkey);
	record[SVB_MC_RATE] = (uint8_t)(SVB_SELECT_EXACTLY << 6 | attr->rate);
	record[SVB_MC_LIFE] = (uint8_t)(SVB_SELECT_EXACTLY << 6 | attr->life);
	svb_mad_put(record, SVB_MC_SL_FLOW_HOP, 4,
		    (uint32_t)attr->sl << 28 | attr->flow << 8 | attr->hop);
	/* The scope is that of the MGID (4.1.1). */
	record[SVB_MC_SCOPE_STATE] = (uint8_t)(group->mgid.raw[1] << 4);
}

static void svb_mcm_member(uint8_t *record, const struct svb_port *port, uint8_t state)
{
	memcpy(record + SVB_MC_PORT_GID, port->gid[port->own_gid].raw, 16);
	record[SVB_MC_SCOPE_STATE] =
		(uint8_t)((record[SVB_MC_SCOPE_STATE] & 0xf0) | state);
}

/* Rates in their order, which is not that of their codes (table 205). */
static const uint8_t svb_rates[] = {2, 5,  3,  11, 6,  15, 19, 4,  7,  20, 12, 8,
				    9, 16, 13, 10, 14, 17, 18, 21, 22, 23, 24};

/* From 1 on; 0: there is no such rate. */
static unsigned int svb_rate_rank(uint8_t code)
{
	unsigned int i;

	for (i = 0; i < sizeof(svb_rates); i++)
		if (svb_rates[i] == code)
			return i + 1;
	return 0;
}

/* Codes of MTUs are in order. */
static unsigned int svb_mtu_rank(uint8_t code)
{
	return code <= IBV_MTU_4096 ? code : 0;
}

/* By the selector alone, as with opensm: what it is about may be 0. */
static bool svb_mcm_bounded(const struct svb_sa *sa, unsigned int selector, size_t at,
			    uint8_t is, unsigned int (*rank)(uint8_t code))
{
	const unsigned int asked = rank(sa->data[at] & 63), has = rank(is);

	if (!svb_mcm_has(sa, selector))
		return true;
	switch (sa->data[at] >> 6) {
	case SVB_SELECT_GREATER:
		return has > asked;
	case SVB_SELECT_LESS:
		return has < asked;
	case SVB_SELECT_EXACTLY:
		return has == asked;
	default:
		return true;
	}
}

/* What a group that is created has of that, a rank, of which ports can most; 0: none. */
static unsigned int svb_mcm_choose(const struct svb_sa *sa, unsigned int selector,
				   size_t at, unsigned int most,
				   unsigned int (*rank)(uint8_t code))
{
	const unsigned int asked = rank(sa->data[at] & 63);

	if (!svb_mcm_has(sa, selector))
		return most;
	switch (sa->data[at] >> 6) {
	case SVB_SELECT_GREATER:
		return asked && asked < most ? most : 0;
	case SVB_SELECT_LESS:
		if (asked > most)
			return most;
		return asked ? asked - 1 : 0;
	case SVB_SELECT_EXACTLY:
		return asked <= most ? asked : 0;
	default:
		return most;
	}
}

/* The MTU and the rate of a group that is created; false: no port can do that. */
static bool svb_mcm_realize(const struct svb_sa *sa, struct svb_group_attr *attr)
{
	const unsigned int rate =
		svb_mcm_choose(sa, SVB_MCM_RATE_SELECTOR, SVB_MC_RATE,
			       svb_rate_rank(SVB_RATE_MOST), svb_rate_rank);

	attr->mtu = (uint8_t)svb_mcm_choose(sa, SVB_MCM_MTU_SELECTOR, SVB_MC_MTU,
					    svb_self.settings.mtu, svb_mtu_rank);
	attr->rate = rate ? svb_rates[rate - 1] : 0;
	return attr->mtu && attr->rate;
}

/* Does the group have what the request names? */
static bool svb_mcm_suits(const struct svb_group_attr *attr, const void *arg)
{
	const struct svb_sa *sa = arg;
	struct svb_group_attr asked;

	svb_mcm_parse(sa, &asked);
	return (!svb_mcm_has(sa, SVB_MCM_QKEY) || asked.qkey == attr->qkey) &&
	       (!svb_mcm_has(sa, SVB_MCM_TCLASS) || asked.tclass == attr->tclass) &&
	       (!svb_mcm_has(sa, SVB_MCM_PKEY) ||
		!((asked.pkey ^ attr->pkey) & SVB_PKEY_BASE)) &&
	       (!svb_mcm_has(sa, SVB_MCM_SL) || asked.sl == attr->sl) &&
	       (!svb_mcm_has(sa, SVB_MCM_FLOW) || asked.flow == attr->flow) &&
	       (!svb_mcm_has(sa, SVB_MCM_HOP) || asked.hop == attr->hop) &&
	       svb_mcm_bounded(sa, SVB_MCM_MTU_SELECTOR, SVB_MC_MTU, attr->mtu,
			       svb_mtu_rank) &&
	       svb_mcm_bounded(sa, SVB_MCM_RATE_SELECTOR, SVB_MC_RATE, attr->rate,
			       svb_rate_rank);
}

static const struct svb_port *svb_mcm_port(const struct svb_sa *sa)
{
	union ibv_gid gid;

	memcpy(gid.raw, sa->data + SVB_MC_PORT_GID, 16);
	return svb_port_of_gid(&gid);
}

static bool svb_mcm_ipoib(const union ibv_gid *mgid)
{
	return (mgid->raw[2] == 0x40 || mgid->raw[2] == 0x60) && mgid->raw[3] == 0x1b;
}

/* A group of IPoIB is like the broadcast group of its partition and scope, without which
 * it is not created. */
static bool svb_mcm_like_broadcast(const union ibv_gid *mgid,
				   const struct svb_group_attr *attr)
{
	union ibv_gid all = *mgid;
	struct svb_group group;
	int at;

	if (!svb_mcm_ipoib(mgid))
		return true;
	all.raw[2] = 0x40;
	memset(all.raw + 6, 0, 6);
	memset(all.raw + 12, 0xff, 4);
	if (!memcmp(&all, mgid, sizeof(all)))
		return true;
	at = svb_subnet_find(&all);
	if (at < 0 || !svb_subnet_get((uint32_t)at, &group))
		return false;
	return group.attr.qkey == attr->qkey && group.attr.tclass == attr->tclass &&
	       group.attr.flow == attr->flow && group.attr.sl == attr->sl &&
	       group.attr.hop == attr->hop &&
	       !((group.attr.pkey ^ attr->pkey) & SVB_PKEY_BASE);
}

/* 4.1.1: what a group's address may be. Managers have the signature 0xa01b for those
 * that they assign, of a wider scope than link-local. */
static bool svb_mcm_address(const union ibv_gid *mgid)
{
	return mgid->raw[0] == 0xff && (mgid->raw[1] & 0xe0) == 0 &&
	       !(mgid->raw[2] == 0xa0 && mgid->raw[3] == 0x1b &&
		 (mgid->raw[1] & 0xf) == SVB_SCOPE_LINK);
}

static bool svb_mcm_may_create(const struct svb_sa *sa, const struct svb_port *port,
			       struct svb_group_attr *attr)
{
	union ibv_gid mgid;

	memcpy(mgid.raw, sa->data, 16);
	return svb_mcm_address(&mgid) && svb_pkey_index(port, attr->pkey) >= 0 &&
	       svb_mcm_realize(sa, attr) && svb_mcm_like_broadcast(&mgid, attr);
}

/* Is the port in the partition of the group that is there? */
static bool svb_mcm_in_partition(const union ibv_gid *mgid, const struct svb_port *port)
{
	const int at = svb_subnet_find(mgid);
	struct svb_group group;

	return at < 0 || !svb_subnet_get((uint32_t)at, &group) ||
	       svb_pkey_index(port, group.attr.pkey) >= 0;
}

uint32_t svb_sa_mcmember_set(struct svb_sa *sa)
{
	const struct svb_port *port = svb_mcm_port(sa);
	struct svb_group_attr attr;
	struct svb_subnet_join join = {.suits = svb_mcm_suits, .arg = sa};
	struct svb_group group;
	uint32_t place, status;
	uint8_t *record;

	if ((sa->mask & SVB_MCM_JOINS) != SVB_MCM_JOINS)
		return SVB_SA_INSUFFICIENT;
	memcpy(join.mgid.raw, sa->data, 16);
	if (!port || !svb_mcm_in_partition(&join.mgid, port))
		return SVB_SA_REQ_INVALID;
	join.port = port->index;
	join.state = sa->data[SVB_MC_SCOPE_STATE] & 15;
	if ((sa->mask & SVB_MCM_CREATES) == SVB_MCM_CREATES &&
	    svb_subnet_find(&join.mgid) < 0) {
		svb_mcm_parse(sa, &attr);
		if (!svb_mcm_may_create(sa, port, &attr))
			return SVB_SA_REQ_INVALID;
		join.create = &attr;
	}
	if (!join.state)
		return SVB_SA_REQ_INVALID;
	status = svb_subnet_join(&join, &group, &place);
	record = status ? NULL : svb_sa_add(sa);
	if (!record)
		return status ? status : SVB_SA_NO_RESOURCES;
	svb_mcm_fill(record, place, &group);
	svb_mcm_member(record, port, svb_group_state(&group, port->index));
	return SVB_SA_OK;
}

uint32_t svb_sa_mcmember_delete(struct svb_sa *sa)
{
	const struct svb_port *port = svb_mcm_port(sa);
	struct svb_group group;
	union ibv_gid mgid;
	uint32_t status;
	uint8_t *record;
	int place;

	if ((sa->mask & SVB_MCM_JOINS) != SVB_MCM_JOINS)
		return SVB_SA_INSUFFICIENT;
	memcpy(mgid.raw, sa->data, 16);
	place = svb_subnet_find(&mgid);
	if (!port || place < 0)
		return SVB_SA_REQ_INVALID;
	status = svb_subnet_leave(&mgid, port->index, sa->data[SVB_MC_SCOPE_STATE] & 15,
				  &group);
	record = status ? NULL : svb_sa_add(sa);
	if (!record)
		return status ? status : SVB_SA_NO_RESOURCES;
	svb_mcm_fill(record, (uint32_t)place, &group);
	svb_mcm_member(record, port, sa->data[SVB_MC_SCOPE_STATE] & 15);
	return SVB_SA_OK;
}

/* What of a group is asked for, but for the member. */
static bool svb_mcm_matches(const struct svb_sa *sa, uint32_t place,
			    const struct svb_group *group)
{
	uint8_t record[56] = {0};

	svb_mcm_fill(record, place, group);
	return !svb_sa_differs(sa, SVB_MCM_MGID, record, SVB_MC_MGID, 16) &&
	       !svb_sa_differs(sa, SVB_MCM_MLID, record, SVB_MC_MLID, 2) &&
	       svb_mcm_suits(&group->attr, sa) &&
	       !(svb_mcm_has(sa, SVB_MCM_SCOPE) &&
		 (sa->data[SVB_MC_SCOPE_STATE] ^ record[SVB_MC_SCOPE_STATE]) & 0xf0);
}

static void svb_mcm_members(struct svb_sa *sa, uint32_t place,
			    const struct svb_group *group, const struct svb_port *only)
{
	const struct svb_port *port;
	uint8_t *record, state;
	uint32_t i;

	for (i = 0; i < SVB_MAX_SUBNET_PORTS; i++) {
		port = svb_port_by_index(i);
		state = port ? svb_group_state(group, i) : 0;
		if (!state || (only && port != only))
			continue;
		record = svb_sa_add(sa);
		if (!record)
			return;
		svb_mcm_fill(record, place, group);
		svb_mcm_member(record, port, state);
	}
}

/*
 * 15.4.1.2: who is a member, and of what state, is told to who has the SM_Key. A group
 * has one record for everybody else, and for who asks for one port if that is a member.
 */
static void svb_mcm_found(struct svb_sa *sa, uint32_t place,
			  const struct svb_group *group)
{
	const bool one = svb_mcm_has(sa, SVB_MCM_PORT_GID);
	const struct svb_port *port = one ? svb_mcm_port(sa) : NULL;
	uint8_t *record;

	if (one && (!port || !svb_group_state(group, port->index)))
		return;
	if (svb_mad_get(sa->mad, SVB_SA_KEY, 8)) {
		svb_mcm_members(sa, place, group, port);
		return;
	}
	record = svb_sa_add(sa);
	if (record)
		svb_mcm_fill(record, place, group);
}

static void svb_mcm_look(struct svb_sa *sa, uint32_t place)
{
	struct svb_group group;

	if (svb_subnet_get(place, &group) && svb_mcm_matches(sa, place, &group))
		svb_mcm_found(sa, place, &group);
}

uint32_t svb_sa_mcmember_get(struct svb_sa *sa)
{
	uint32_t place, places = svb_subnet_places();
	union ibv_gid mgid;
	int only;

	if (svb_mcm_has(sa, SVB_MCM_MGID)) {
		memcpy(mgid.raw, sa->data + SVB_MC_MGID, 16);
		only = svb_subnet_find(&mgid);
		if (only >= 0)
			svb_mcm_look(sa, (uint32_t)only);
		return SVB_SA_OK;
	}
	for (place = 0; place < places; place++)
		svb_mcm_look(sa, place);
	return SVB_SA_OK;
}
