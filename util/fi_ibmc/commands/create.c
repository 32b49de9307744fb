/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The groups that an administrator makes for a link (draft sections 4, 6, 7). Who creates
 * a group is its full member, and the group is there as long as it has one: the port
 * stays a member when the tool has ended.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "print/print.h"
#include "rules/rules.h"

/* The controlled one that draft sections 6.2 and 10 recommend, of the number that opensm
 * and Linux use. */
#define QKEY_DEFAULT 0x80000b1bu
#define QKEY_CONTROLLED 0x80000000u
#define MTU_DEFAULT 4 /* 2048 */
#define MTU_OF_IPV6 4 /* the least code with 1280 bytes */
#define LINK_LOCAL 2
#define HOP_LIMIT_WIDER 255
#define PKEY_FULL 0x8000

/* What is made, for the end of the line or the object. */
struct made {
	json_t *array;
	int status;
};

static void tell(const struct imc_session *session, struct made *made,
		 const struct pvb_mcm *mcm, bool created)
{
	static const struct imc_subnet nothing;
	char address[IMC_TEXT], gid[IMC_TEXT];
	struct imc_one one;
	json_t *object;

	imc_one_of(mcm, &one);
	if (session->options->json) {
		object = imc_group_json(&nothing, &one.group);
		json_object_set_new(object, "created", json_boolean(created));
		json_array_append_new(made->array, object);
		return;
	}
	printf("%s %s (%s), MLID 0x%04x: ", created ? "Created" : "Is there:",
	       imc_gid_text(mcm->mgid, gid), imc_address_text(&one.record.name, address),
	       mcm->mlid);
	imc_print_attrs(mcm, stdout);
}

static int end(const struct imc_session *session, struct made *made)
{
	if (!session->options->json) {
		json_decref(made->array);
		return made->status;
	}
	if (imc_written(imc_json_print(json_pack("{s:o}", "groups", made->array), false,
				       stdout)))
		return IMC_FAILED;
	return made->status;
}

/* It is there: fine, if it is what was asked for. */
static int compare(struct imc_session *session, const struct pvb_mcm *is,
		   const struct pvb_mcm *want, struct made *made)
{
	char text[IMC_FINDING_SIZE] = "", gid[IMC_TEXT];

	imc_differs(text, "MTU", false, imc_mtu_bytes(is->mtu), imc_mtu_bytes(want->mtu));
	imc_differs(text, "Q_Key", true, is->qkey, want->qkey);
	imc_differs(text, "TClass", false, is->tclass, want->tclass);
	imc_differs(text, "FlowLabel", false, is->flow_label, want->flow_label);
	imc_differs(text, "HopLimit", false, is->hop_limit, want->hop_limit);
	imc_differs(text, "SL", false, is->sl, want->sl);
	imc_differs(text, "partition", true, is->pkey & IMC_PKEY_PARTITION,
		    want->pkey & IMC_PKEY_PARTITION);
	if (session->options->attrs.set & IMC_RATE)
		imc_differs(text, "rate", false, is->rate, want->rate);
	if (!text[0]) {
		tell(session, made, is, false);
		return IMC_DONE;
	}
	fprintf(stderr,
		"fi_ibmc: %s is there, with %s (draft 10): \"show\" tells its members\n",
		imc_gid_text(is->mgid, gid), text);
	return IMC_FAILED;
}

static int create(struct imc_session *session, const uint8_t mgid[16],
		  const struct pvb_mcm *want, struct made *made)
{
	struct pvb_mcm is;
	int status = imc_get_group(session, mgid, &is);

	if (!status)
		return compare(session, &is, want, made);
	if (status != IMC_NOT_THERE)
		return status;
	status = imc_join_group(session, mgid, PVB_MCM_FULL, want, &is);
	if (!status)
		tell(session, made, &is, true);
	return status;
}

static int refuse(const char *why)
{
	fprintf(stderr, "fi_ibmc: %s\n", why);
	return IMC_FAILED;
}

/* What the draft forbids, and the administrator lets pass. */
static int refuse_attrs(const struct imc_session *session, const struct pvb_mcm *want,
			int family)
{
	if (!pvb_umad_pkey(&session->umad, want->pkey))
		return refuse("--pkey: this port has no P_Key of that partition (draft "
			      "6: R4)");
	if (want->mtu > session->port_mtu)
		return refuse("--mtu: above that of this port (draft 6.1: R5)");
	if (family == AF_INET6 && want->mtu < MTU_OF_IPV6)
		return refuse("--mtu: a link of IPv6 has at least 1280 bytes, so 2048; "
			      "-4 makes one of IPv4 alone (draft 6.1: R7)");
	return IMC_DONE;
}

static void fill(const struct imc_session *session, uint8_t scope, struct pvb_mcm *mcm)
{
	const struct imc_options *options = session->options;
	const struct imc_attrs *attrs = &options->attrs;

	*mcm = (struct pvb_mcm){
		.qkey = attrs->set & IMC_QKEY ? attrs->qkey : QKEY_DEFAULT,
		.mtu = attrs->set & IMC_MTU		 ? attrs->mtu
		       : session->port_mtu < MTU_DEFAULT ? session->port_mtu
							 : MTU_DEFAULT,
		.tclass = attrs->tclass,
		.flow_label = attrs->flow_label,
		.hop_limit = attrs->set & IMC_HOP_LIMIT ? attrs->hop_limit
			     : scope > LINK_LOCAL	? HOP_LIMIT_WIDER
							: 0,
		.sl = attrs->sl,
		.rate = attrs->rate,
		.pkey = options->pkey | (options->profile == PVB_MC_RFC ? PKEY_FULL : 0),
		.scope = scope};
}

/* Of both families, or of one; the groups that are named, in that order. */
static int create_both(struct imc_session *session, const struct pvb_mc_link *map,
		       struct in_addr v4, const struct in6_addr *v6,
		       const struct pvb_mcm *want, struct made *made)
{
	const struct imc_options *options = session->options;
	uint8_t mgid[16];
	int status = IMC_DONE;

	if (options->v4 || !options->v6) {
		pvb_mc_map4(map, v4, mgid);
		status = create(session, mgid, want, made);
	}
	if (!status && (options->v6 || !options->v4)) {
		pvb_mc_map6(map, v6, mgid);
		status = create(session, mgid, want, made);
	}
	return status;
}

int imc_create_link(struct imc_session *session)
{
	const struct in_addr broadcast = {htonl(INADDR_BROADCAST)};
	const struct in6_addr all_nodes = {{{0xff, 2, [15] = 1}}};
	const struct imc_options *options = session->options;
	const struct pvb_mc_link map = {.profile = options->profile,
					.pkey = options->pkey,
					.scope = options->scope ? options->scope
								: LINK_LOCAL};
	struct made made = {0};
	struct pvb_mcm want;

	fill(session, map.scope, &want);
	made.status = refuse_attrs(session, &want,
				   options->v6 || !options->v4 ? AF_INET6 : AF_INET);
	if (made.status)
		return made.status;
	if (!(want.qkey & QKEY_CONTROLLED))
		fprintf(stderr,
			"fi_ibmc: any program may send with Q_Key 0x%08x: one with the "
			"high bit is recommended (draft 6.2, 10: R8)\n",
			want.qkey);
	made.array = json_array();
	made.status = create_both(session, &map, broadcast, &all_nodes, &want, &made);
	return end(session, &made);
}

/* With the attributes of the link, which the draft recommends (section 8). */
static int create_router(struct imc_session *session, int family, struct made *made)
{
	const struct in_addr routers = {htonl(0xe0000002)};
	const struct in6_addr all_routers = {{{0xff, 2, [15] = 2}}};
	struct pvb_link link;
	uint8_t mgid[16];
	const int status = imc_find_link(session, family, &link);

	if (status == IMC_NOT_THERE)
		fprintf(stderr, "fi_ibmc: P_Key 0x%04x has no IPoIB link of IPv%d\n",
			session->options->pkey, family == AF_INET ? 4 : 6);
	if (status)
		return status;
	if (family == AF_INET)
		pvb_mc_map4(&link.map, routers, mgid);
	else
		pvb_mc_map6(&link.map, &all_routers, mgid);
	return create(session, mgid, &link.group, made);
}

int imc_create_routers(struct imc_session *session)
{
	const struct imc_options *options = session->options;
	struct made made = {.array = json_array()};
	int status;

	if (options->v4 || !options->v6)
		made.status = create_router(session, AF_INET, &made);
	if (options->v6 || !options->v4) {
		status = create_router(session, AF_INET6, &made);
		made.status = made.status ? made.status : status;
	}
	return end(session, &made);
}
