/* SPDX-License-Identifier: BSD-2-Clause */
/* Joining and leaving. */
#include <string.h>
#include "tables.h"

static uint32_t svb_group_keepers(const struct svb_group *group)
{
	uint32_t state = 0, i;

	for (i = 0; i < SVB_MAX_SUBNET_PORTS; i++)
		state |= svb_group_state(group, i);
	return state & SVB_JOIN_KEEPS;
}

/* After a change: who is sent to, and whether the group is still there. */
static void svb_group_changed(struct svb_subnet *subnet, uint32_t place)
{
	struct svb_group *group = &subnet->group[place];
	uint32_t receivers = 0, i;

	/* IBA 15.2.5.17.3: the group goes with its last full member. */
	if (!group->made && !svb_group_keepers(group)) {
		svb_group_del(subnet, place);
		return;
	}
	for (i = 0; i < SVB_MAX_SUBNET_PORTS; i++)
		if (svb_group_state(group, i) & SVB_JOIN_RECEIVES)
			receivers |= 1u << i;
	svb_set(group->receivers, receivers);
}

/* What ids of rdma_cm hold of a group at a port. */
static void svb_holds_count(struct svb_subnet *subnet, uint32_t place, uint32_t port)
{
	const struct svb_hold *hold;
	uint32_t state = 0, i;

	if (!subnet->group[place].used)
		return;
	for (i = 0; i < subnet->holds; i++) {
		hold = &subnet->hold[i];
		if (hold->token && hold->group == place && hold->port == port)
			state |= hold->state;
	}
	subnet->group[place].by_cm[port] = (uint8_t)state;
	svb_group_changed(subnet, place);
}

static void svb_hold_drop(struct svb_subnet *subnet, struct svb_hold *hold)
{
	__atomic_store_n(&hold->token, 0, __ATOMIC_RELEASE);
	svb_holds_count(subnet, hold->group, hold->port);
}

/* Processes that a sweep remembers, so that each is looked at once if they are few. */
#define SVB_KNOWN 64

static bool svb_token_ended(uint32_t token, uint32_t known[SVB_KNOWN])
{
	uint32_t *seen = &known[svb_token_index(token) % SVB_KNOWN];

	if (token == svb_lock_token || token == *seen)
		return false;
	if (!svb_registry_alive(token))
		return true;
	*seen = token;
	return false;
}

void svb_holds_sweep(struct svb_subnet *subnet)
{
	uint32_t known[SVB_KNOWN] = {0}, i;

	for (i = 0; i < subnet->holds; i++)
		if (subnet->hold[i].token &&
		    svb_token_ended(subnet->hold[i].token, known))
			svb_hold_drop(subnet, &subnet->hold[i]);
	while (subnet->holds && !subnet->hold[subnet->holds - 1].token)
		subnet->holds--;
	for (i = 0; i < SVB_MAX_INFORMS; i++)
		if (subnet->inform[i].token &&
		    svb_token_ended(subnet->inform[i].token, known))
			subnet->inform[i].token = 0;
}

void svb_subnet_leave_all(void)
{
	struct svb_subnet *subnet = svb_subnet();
	uint32_t i;

	if (!subnet || !svb_get(subnet->holds))
		return;
	svb_lock(&subnet->lock);
	for (i = 0; i < subnet->holds; i++)
		if (subnet->hold[i].token == svb_lock_token)
			svb_hold_drop(subnet, &subnet->hold[i]);
	svb_unlock(&subnet->lock);
}

static bool svb_hold_add(struct svb_subnet *subnet, struct svb_subnet_join *join,
			 uint32_t place)
{
	struct svb_hold *hold;
	uint32_t i;

	for (i = 0; i < subnet->holds && subnet->hold[i].token; i++)
		;
	if (i == SVB_MAX_HOLDS)
		return false;
	hold = &subnet->hold[i];
	hold->group = (uint16_t)place;
	hold->port = (uint8_t)join->port;
	hold->state = (uint8_t)join->state;
	__atomic_store_n(&hold->token, svb_lock_token, __ATOMIC_RELEASE);
	if (i == subnet->holds)
		subnet->holds++;
	join->handle = (uint64_t)subnet->era << 32 | (i + 1);
	return true;
}

void svb_subnet_release(uint64_t handle)
{
	struct svb_subnet *subnet = handle ? svb_subnet_lock() : NULL;
	const uint32_t at = (uint32_t)handle - 1;

	if (!subnet)
		return;
	if (handle >> 32 == subnet->era && subnet->hold[at].token == svb_lock_token)
		svb_hold_drop(subnet, &subnet->hold[at]);
	svb_subnet_unlock(subnet);
}

/* The place of the group, which is made if it may be; -1 and why not. */
static int svb_join_place(struct svb_subnet *subnet, const struct svb_subnet_join *join,
			  enum svb_sa_status *status)
{
	int place = svb_subnet_find(&join->mgid);

	*status = SVB_SA_OK;
	if (place >= 0) {
		if (join->suits && !join->suits(&subnet->group[place].attr, join->arg))
			*status = SVB_SA_REQ_INVALID;
		return place;
	}
	/* o15-0.1.9: only a full member makes one. */
	if (!(join->state & SVB_JOIN_KEEPS))
		*status = SVB_SA_REQ_INVALID;
	else if (!join->create)
		*status = SVB_SA_INSUFFICIENT;
	if (*status)
		return -1;
	place = svb_group_add(subnet, &join->mgid, join->create, false);
	if (place < 0)
		*status = SVB_SA_NO_RESOURCES;
	return place;
}

static enum svb_sa_status svb_join_at(struct svb_subnet *subnet,
				      struct svb_subnet_join *join, uint32_t place)
{
	if (join->by_cm) {
		if (!svb_hold_add(subnet, join, place)) {
			svb_group_changed(subnet, place);
			return SVB_SA_NO_RESOURCES;
		}
		subnet->group[place].by_cm[join->port] |= (uint8_t)join->state;
	} else {
		subnet->group[place].by_mad[join->port] |= (uint8_t)join->state;
	}
	svb_group_changed(subnet, place);
	return SVB_SA_OK;
}

enum svb_sa_status svb_subnet_join(struct svb_subnet_join *join, struct svb_group *group,
				   uint32_t *place)
{
	struct svb_subnet *subnet = svb_subnet_lock();
	enum svb_sa_status status;
	int at;

	if (!subnet)
		return SVB_SA_NO_RESOURCES;
	at = svb_join_place(subnet, join, &status);
	if (!status)
		status = svb_join_at(subnet, join, (uint32_t)at);
	if (!status && group)
		*group = subnet->group[at];
	if (!status && place)
		*place = (uint32_t)at;
	svb_subnet_unlock(subnet);
	return status;
}

/* What rdma_cm holds goes as well: the SA knows of one member a port. */
static void svb_member_drop(struct svb_subnet *subnet, uint32_t place, uint32_t port,
			    uint8_t state)
{
	struct svb_hold *hold;
	uint32_t i;

	subnet->group[place].by_mad[port] &= (uint8_t)~state;
	for (i = 0; i < subnet->holds; i++) {
		hold = &subnet->hold[i];
		if (hold->group == place && hold->port == port)
			hold->state &= (uint8_t)~state;
	}
	svb_holds_count(subnet, place, port);
}

enum svb_sa_status svb_subnet_leave(const union ibv_gid *mgid, uint32_t port,
				    uint32_t state, struct svb_group *group)
{
	struct svb_subnet *subnet = svb_subnet_lock();
	enum svb_sa_status status = SVB_SA_REQ_INVALID;
	struct svb_group *found;
	int place;

	if (!subnet)
		return SVB_SA_NO_RESOURCES;
	place = svb_subnet_find(mgid);
	found = place >= 0 ? &subnet->group[place] : NULL;
	if (found && (svb_group_state(found, port) & state) == state && state) {
		*group = *found;
		svb_member_drop(subnet, (uint32_t)place, port, (uint8_t)state);
		status = SVB_SA_OK;
	}
	svb_subnet_unlock(subnet);
	return status;
}
