/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups of an IPoIB link by subnet administration (draft-ietf-ipoib-link-multicast): the
 * link is looked for when the first of its groups is joined, and who joins waits for it.
 * groups/ keeps memberships, and says where datagrams go.
 */
#include <arpa/inet.h>
#include <string.h>
#include "linked.h"

/* ms: pauses of what failed, and how it is spread when a subnet manager begins anew. */
#define LINK_AGAIN_MIN 100u
#define LINK_AGAIN_MAX 10000u
#define LINK_SPREAD 200u
/* ms: so often a membership that another program made is looked for. */
#define LINK_CHECK 10000u

void pvb_mc_link_init(struct pvb_mc_on_link *on, struct pvb_mc_port *port)
{
	on->port = port;
	crn_list_init(&on->waiting);
	crn_list_init(&on->members);
}

static struct pvb_mc *linked_of(struct pvb_group_user *user)
{
	return crn_container_of(user, struct pvb_mc, user);
}

static void linked_place(const struct pvb_mc *mc, const struct pvb_mcm *mcm,
			 struct pvb_mc_to *to)
{
	const struct pvb_ud_path *path = &mc->ep->domain->ud->path;
	struct ibv_ah_attr *ah = &to->ah;

	memset(to, 0, sizeof(*to));
	to->qkey = mcm->qkey;
	ah->dlid = mcm->mlid;
	ah->sl = mcm->sl;
	ah->static_rate = mcm->rate;
	ah->is_global = 1;
	ah->port_num = path->port;
	memcpy(ah->grh.dgid.raw, mcm->mgid, sizeof(ah->grh.dgid.raw));
	ah->grh.sgid_index = path->sgid_index;
	ah->grh.flow_label = mcm->flow_label;
	ah->grh.hop_limit = mcm->hop_limit;
	ah->grh.traffic_class = mcm->tclass;
}

/* It is no user of the link's groups, or no more. */
static void linked_end(struct pvb_mc *mc, int err, int status)
{
	crn_list_del(&mc->on_entry);
	mc->on = NULL;
	pvb_mc_fail(mc, err, status);
}

/* What its device cannot do ends one membership alone. */
static void linked_fail(struct pvb_mc *mc, int err)
{
	pvb_groups_leave(&mc->on->groups, &mc->user, crn_now_ms());
	linked_end(mc, err, 0);
}

static void linked_joined(void *arg, struct pvb_group_user *user,
			  const struct pvb_mcm *record)
{
	struct pvb_mc *mc = linked_of(user);
	struct pvb_mc_to to;
	int err = 0;

	if (record && !mc->failed) {
		linked_place(mc, record, &to);
		err = pvb_mc_attach(mc, &to.ah);
	}
	if (err)
		linked_fail(mc, err);
	else
		pvb_mc_joined(mc, PVB_MC_BY_SA);
}

static void linked_route(void *arg, struct pvb_group_user *user,
			 const struct pvb_group_route *route)
{
	struct pvb_mc *mc = linked_of(user);
	struct pvb_mc_to to, copy;
	int err;

	if (mc->failed)
		return;
	if (route->to)
		linked_place(mc, route->to, &to);
	if (route->copy)
		linked_place(mc, route->copy, &copy);
	if (route->to)
		err = pvb_mc_route_to(mc, &to, route->copy ? &copy : NULL);
	else
		err = pvb_mc_route_drop(mc);
	if (err)
		linked_fail(mc, err);
}

/* Without its device nothing is as it was. */
static int linked_error(const struct pvb_mc *mc, int err)
{
	return mc->on->port->umad.gone ? FI_ENODEV : -err;
}

static void linked_lost(void *arg, struct pvb_group_user *user, int err, uint16_t status)
{
	struct pvb_mc *mc = linked_of(user);

	/* pvb_mc_link_gone ends the membership and reports that. */
	if (mc->on->port->umad.gone)
		return;
	if (!(mc->parts & PVB_MC_BY_CM))
		pvb_mc_detach(mc);
	pvb_mc_lost(mc, PVB_MC_BY_SA, -err, status);
}

static void linked_failed(void *arg, struct pvb_group_user *user, int err,
			  uint16_t status)
{
	struct pvb_mc *mc = linked_of(user);

	linked_end(mc, linked_error(mc, err), status);
}

static const struct pvb_groups_calls linked_calls = {
	.joined = linked_joined,
	.route = linked_route,
	.lost = linked_lost,
	.failed = linked_failed,
};

static int link_groups_open(struct pvb_mc_on_link *on)
{
	struct pvb_groups_config config = {
		.copy = pvb_params.link_copy,
		.wait_ms = pvb_mc_port_wait(),
		.tries = pvb_mc_port_tries(),
		.join_ms = (uint32_t)pvb_params.join_timeout,
		.again_min_ms = LINK_AGAIN_MIN,
		.again_max_ms = LINK_AGAIN_MAX,
		.spread_ms = LINK_SPREAD,
		.look_ms = PVB_MC_LOOK_GROUP,
		.check_ms = LINK_CHECK,
		.calls = &linked_calls,
		.arg = on,
	};
	int ret;

	memcpy(config.port_gid, on->port->umad.port.gid, sizeof(config.port_gid));
	ret = pvb_groups_open(&on->groups, &on->link, &config);
	if (ret)
		return ret;
	on->state = PVB_MC_LINK_FOUND;
	if (on->port->reported)
		pvb_groups_subscribed(&on->groups, crn_now_ms());
	return 0;
}

/* The link's own MTU stays where a router says what it cannot be. */
static void link_set_mtu(struct pvb_mc_on_link *on)
{
	const int mtu = pvb_params.link_mtu;
	const int ret = mtu ? pvb_link_set_mtu(&on->link, (uint32_t)mtu) : 0;

	if (ret)
		PVB_WARN(FI_LOG_EP_CTRL,
			 "FI_PVERBS_LINK_MTU=%d is not used: the MTU of the link is %u "
			 "bytes, and may be made smaller, to what IP needs\n",
			 mtu, on->link.mtu);
}

static void link_log(const struct pvb_mc_on_link *on)
{
	const struct pvb_link *link = &on->link;

	PVB_INFO(FI_LOG_EP_CTRL,
		 "%s port %d: IPoIB link of P_Key 0x%04x for %s: scope %u, MTU %u, Q_Key "
		 "0x%x\n",
		 on->port->umad.port.ca, on->port->umad.port.number, link->map.pkey,
		 link->config.family == AF_INET ? "IPv4" : "IPv6", link->map.scope,
		 link->mtu, link->group.qkey);
}

/* All queue pairs of a link have its Q_Key (draft section 6.2). */
static int linked_check_qkey(const struct pvb_mc *mc)
{
	const uint32_t own = mc->ep->dgram->qkey, qkey = mc->on->link.group.qkey;

	if (own == qkey)
		return 0;
	PVB_WARN(FI_LOG_EP_CTRL,
		 "the IPoIB link has Q_Key 0x%x, the endpoint 0x%x: set "
		 "FI_PVERBS_QKEY=0x%x\n",
		 qkey, own, qkey);
	return -FI_EINVAL;
}

static int linked_mgid(const struct pvb_mc *mc, uint8_t mgid[16])
{
	const struct pvb_mc_link *map = &mc->on->link.map;
	struct in6_addr in6;
	struct in_addr in;

	memcpy(&in, mc->name.bytes, sizeof(in));
	memcpy(&in6, mc->name.bytes, sizeof(in6));
	switch (mc->name.family) {
	case AF_INET:
		return pvb_mc_map4(map, in, mgid);
	case AF_INET6:
		return pvb_mc_map6(map, &in6, mgid);
	default:
		memcpy(mgid, mc->name.bytes, 16);
		return 0;
	}
}

/*
 * Who receives is the kernel's member on its own link: it counts the members of all
 * programs and of its interface, and those of a program that was killed end with it.
 */
static int linked_join(struct pvb_mc *mc, const uint8_t mgid[16])
{
	const bool by_cm = mc->recv && mc->on->port->kernel;
	struct pvb_mc_name name = {.family = AF_IB};
	int ret = 0;

	memcpy(name.bytes, mgid, sizeof(name.bytes));
	mc->parts = by_cm ? PVB_MC_BY_CM : 0;
	if (mc->send || !by_cm)
		mc->parts |= PVB_MC_BY_SA;
	if (by_cm)
		ret = pvb_mc_group_get(mc, &name);
	if (!ret && mc->parts & PVB_MC_BY_SA)
		ret = pvb_groups_join(&mc->on->groups, &mc->user, mgid,
				      mc->recv && !by_cm, mc->send, crn_now_ms());
	return ret;
}

/* The link is there. */
static void linked_enter(struct pvb_mc *mc)
{
	uint8_t mgid[16];
	int ret = linked_check_qkey(mc);

	crn_list_add_tail(&mc->on->members, &mc->on_entry);
	mc->mtu = mc->on->link.mtu;
	if (!ret)
		ret = linked_mgid(mc, mgid);
	if (!ret)
		ret = linked_join(mc, mgid);
	if (ret)
		linked_end(mc, -ret, 0);
}

static struct pvb_mc *link_first(const struct crn_list *list)
{
	return crn_container_of(list->next, struct pvb_mc, on_entry);
}

static void link_fail_all(struct crn_list *list, int err, uint16_t status)
{
	while (!crn_list_empty(list))
		linked_end(link_first(list), err, status);
}

static void link_failed(struct pvb_mc_on_link *on, int err, uint16_t status)
{
	on->state = PVB_MC_LINK_NONE;
	PVB_WARN(FI_LOG_EP_CTRL,
		 "%s port %d: no IPoIB link of P_Key 0x%04x: %s, status 0x%04x\n",
		 on->port->umad.port.ca, on->port->umad.port.number, on->link.map.pkey,
		 fi_strerror(-err), status);
	link_fail_all(&on->waiting, on->port->umad.gone ? FI_ENODEV : -err, status);
}

static void link_done(void *arg, struct pvb_link *link, int err, uint16_t status)
{
	struct pvb_mc_on_link *on = arg;
	struct pvb_mc *mc;

	/* Closed while it was looked for: nobody waits. */
	if (on->state == PVB_MC_LINK_NONE)
		return;
	if (!err)
		link_set_mtu(on);
	if (!err)
		err = link_groups_open(on);
	if (err) {
		link_failed(on, err, status);
		return;
	}
	link_log(on);
	while (!crn_list_empty(&on->waiting)) {
		mc = link_first(&on->waiting);
		crn_list_del(&mc->on_entry);
		linked_enter(mc);
	}
}

typedef void link_done_fn(void *arg, struct pvb_link *link, int err, uint16_t status);

static int link_ask(struct pvb_mc_on_link *on, struct pvb_link *link, link_done_fn *done)
{
	const struct pvb_ud_domain *ud = on->port->domain->ud;
	const struct pvb_link_config config = {
		.profile = (enum pvb_mc_profile)ud->link.profile,
		.family = on == &on->port->link[0] ? AF_INET : AF_INET6,
		.pkey = ud->link.pkey,
		.port_mtu = pvb_link_mtu_code(ud->path.mtu),
		.wait_ms = pvb_mc_port_wait(),
		.tries = pvb_mc_port_tries(),
		.done = done,
		.arg = on,
	};

	return pvb_link_open(link, &on->port->umad.client, &config, crn_now_ms());
}

static int link_look(struct pvb_mc_on_link *on)
{
	const int ret = link_ask(on, &on->link, link_done);

	if (!ret)
		on->state = PVB_MC_LINK_ASKED;
	return ret;
}

/* Of the family of a name; NULL: of none. */
static struct pvb_mc_on_link *link_of(struct pvb_mc_port *port,
				      const struct pvb_mc_name *name)
{
	struct pvb_mc_addr addr = {.family = name->family};

	if (name->family == AF_IB && pvb_mc_unmap(name->bytes, &addr))
		return NULL;
	return &port->link[addr.family == AF_INET ? 0 : 1];
}

bool pvb_mc_linked_join(struct pvb_mc *mc)
{
	struct pvb_mc_port *port = mc->ep->dgram->mcs.port;
	struct pvb_mc_on_link *on = port->open ? link_of(port, &mc->name) : NULL;
	int ret = 0;

	if (!on)
		return false;
	mc->on = on;
	if (on->state == PVB_MC_LINK_FOUND) {
		linked_enter(mc);
	} else {
		crn_list_add_tail(&on->waiting, &mc->on_entry);
		if (on->state == PVB_MC_LINK_NONE)
			ret = port->gone ? -FI_ENODEV : link_look(on);
		if (ret)
			linked_end(mc, -ret, 0);
	}
	pvb_mc_port_arm(port);
	return true;
}

void pvb_mc_linked_leave(struct pvb_mc *mc)
{
	struct pvb_mc_on_link *on = mc->on;

	if (on->state == PVB_MC_LINK_FOUND)
		pvb_groups_leave(&on->groups, &mc->user, crn_now_ms());
	crn_list_del(&mc->on_entry);
	mc->on = NULL;
	pvb_mc_detach(mc);
	pvb_mc_port_arm(on->port);
}

void pvb_mc_link_close(struct pvb_mc_on_link *on)
{
	if (on->state == PVB_MC_LINK_FOUND)
		pvb_groups_close(&on->groups, crn_now_ms());
	on->state = PVB_MC_LINK_NONE;
}

void pvb_mc_link_gone(struct pvb_mc_on_link *on)
{
	pvb_mc_link_close(on);
	link_fail_all(&on->waiting, FI_ENODEV, 0);
	link_fail_all(&on->members, FI_ENODEV, 0);
}

void pvb_mc_link_progress(struct pvb_mc_on_link *on)
{
	if (on->state == PVB_MC_LINK_FOUND)
		pvb_groups_progress(&on->groups, crn_now_ms());
}

bool pvb_mc_link_waits(const struct pvb_mc_on_link *on)
{
	return on->state == PVB_MC_LINK_FOUND && !crn_list_empty(&on->groups.queue);
}

int pvb_mc_link_timeout(const struct pvb_mc_on_link *on)
{
	return on->state == PVB_MC_LINK_FOUND
		       ? pvb_groups_timeout(&on->groups, crn_now_ms())
		       : -1;
}

void pvb_mc_link_notice(struct pvb_mc_on_link *on, const struct pvb_notice *notice)
{
	if (on->state == PVB_MC_LINK_FOUND)
		pvb_groups_notice(&on->groups, notice, crn_now_ms());
}

void pvb_mc_link_reported(struct pvb_mc_on_link *on)
{
	if (on->state == PVB_MC_LINK_FOUND)
		pvb_groups_subscribed(&on->groups, crn_now_ms());
}

/* --- A subnet manager that begins anew */

static void link_join_again(struct pvb_mc_on_link *on)
{
	pvb_groups_restarted(&on->groups, crn_now_ms());
	/* Since the restart, perhaps. */
	if (on->port->reported)
		pvb_groups_subscribed(&on->groups, crn_now_ms());
}

/* Groups that are created from now on are as it is now. */
static void link_renew(struct pvb_mc_on_link *on)
{
	struct crn_list *entry;

	on->link.group = on->anew.group;
	on->link.mtu = on->anew.mtu;
	link_set_mtu(on);
	crn_list_for_each (entry, &on->members)
		crn_container_of(entry, struct pvb_mc, on_entry)->mtu = on->link.mtu;
}

/* Its groups have other names, or its queue pairs another Q_Key: what was joined is not
 * of it. Who joins next looks for it. */
static void link_replaced(struct pvb_mc_on_link *on)
{
	const bool other_qkey = on->anew.group.qkey != on->link.group.qkey;

	PVB_WARN(FI_LOG_EP_CTRL,
		 "%s port %d: the IPoIB link has scope %u and Q_Key 0x%x now, it had "
		 "scope %u and Q_Key 0x%x: its groups end. Join them again, with "
		 "endpoints of that Q_Key\n",
		 on->port->umad.port.ca, on->port->umad.port.number, on->anew.map.scope,
		 on->anew.group.qkey, on->link.map.scope, on->link.group.qkey);
	pvb_mc_link_close(on);
	link_fail_all(&on->members, other_qkey ? FI_EINVAL : FI_EADDRNOTAVAIL, 0);
}

/* Without an answer it is taken to be as it was. */
static void link_anew_done(void *arg, struct pvb_link *anew, int err, uint16_t status)
{
	struct pvb_mc_on_link *on = arg;

	on->looking = false;
	if (on->state != PVB_MC_LINK_FOUND)
		return;
	if (!err && (anew->map.scope != on->link.map.scope ||
		     anew->group.qkey != on->link.group.qkey)) {
		link_replaced(on);
		return;
	}
	if (!err)
		link_renew(on);
	link_join_again(on);
}

void pvb_mc_link_restarted(struct pvb_mc_on_link *on)
{
	if (on->state != PVB_MC_LINK_FOUND || on->looking)
		return;
	on->looking = !link_ask(on, &on->anew, link_anew_done);
	if (!on->looking)
		link_join_again(on);
}
