/* SPDX-License-Identifier: BSD-2-Clause */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <netinet/in.h>
#include <rdma/fi_errno.h>

#include "session.h"

#define RECORD_MEMBER (PVB_MCM_HAS_MGID | PVB_MCM_HAS_PORT_GID | PVB_MCM_HAS_JOIN_STATE)
/* Specification 15.2.5.17.2: what creates a group. */
#define RECORD_CREATES                                                              \
	(RECORD_MEMBER | PVB_MCM_HAS_QKEY | PVB_MCM_HAS_TCLASS | PVB_MCM_HAS_PKEY | \
	 PVB_MCM_HAS_SL | PVB_MCM_HAS_FLOW_LABEL | PVB_MCM_HAS_HOP_LIMIT |          \
	 PVB_MCM_HAS_MTU_SELECTOR | PVB_MCM_HAS_MTU)

struct found {
	bool done;
	int err;
	uint16_t status;
};

static void link_done(void *arg, struct pvb_link *link, int err, uint16_t status)
{
	struct found *found = arg;

	*found = (struct found){.done = true, .err = err, .status = status};
}

/* What of a link is wrong for this port is the draft's to say. */
static int link_failed(const struct imc_session *session, int family,
		       const struct found *found)
{
	char what[IMC_TEXT];

	if (found->err == -FI_EADDRNOTAVAIL)
		return IMC_NOT_THERE;
	snprintf(what, sizeof(what), "the link of P_Key 0x%04x", session->options->pkey);
	if (found->err == -FI_EMSGSIZE) {
		fprintf(stderr, "fi_ibmc: %s: its MTU is above the port's, %u%s\n", what,
			imc_mtu_bytes(session->port_mtu),
			family == AF_INET ? ": this port cannot be on it (draft 7: R16)"
					  : ", or below the 1280 bytes of IPv6 (draft "
					    "6.1, 7: R7, R16)");
		return IMC_FAILED;
	}
	return imc_failed(session, what, found->status ? 0 : found->err, found->status);
}

int imc_find_link(struct imc_session *session, int family, struct pvb_link *link)
{
	struct pollfd wait = {.fd = pvb_umad_fd(&session->umad), .events = POLLIN};
	struct found found = {0};
	const struct pvb_link_config config = {.profile = session->options->profile,
					       .family = family,
					       .pkey = session->options->pkey,
					       .port_mtu = session->port_mtu,
					       .wait_ms = session->options->timeout_ms,
					       .tries = session->options->tries,
					       .done = link_done,
					       .arg = &found};
	struct pvb_sa_client *client = &session->umad.client;

	found.err = pvb_link_open(link, client, &config, pvb_umad_now());
	while (!found.err && !found.done) {
		poll(&wait, 1, pvb_umad_timeout(&session->umad));
		/* When the device is gone it ends all requests. */
		pvb_umad_progress(&session->umad);
	}
	return found.err ? link_failed(session, family, &found) : IMC_DONE;
}

static int ask_member(struct imc_session *session, uint8_t method, uint64_t mask,
		      uint64_t sm_key, const struct pvb_mcm *mcm,
		      struct pvb_sa_reply *reply)
{
	uint8_t record[PVB_MCM_SIZE];
	struct pvb_sa_request request = {.method = method,
					 .attr = PVB_SA_MCMEMBER_RECORD,
					 .comp_mask = mask,
					 .sm_key = sm_key,
					 .data = record,
					 .len = sizeof(record)};

	pvb_mcm_pack(record, mcm);
	return imc_ask(session, &request, reply);
}

/* Who asks, and for what. */
static struct pvb_mcm begin(const struct imc_session *session, const uint8_t mgid[16],
			    uint8_t state)
{
	struct pvb_mcm mcm = {.join_state = state};

	memcpy(mcm.mgid, mgid, sizeof(mcm.mgid));
	memcpy(mcm.port_gid, session->umad.port.gid, sizeof(mcm.port_gid));
	return mcm;
}

/* The record of a reply, which is freed. */
static int take(struct imc_session *session, const char *what, int err,
		struct pvb_sa_reply *reply, struct pvb_mcm *mcm)
{
	const uint16_t status = reply->status;

	if (!err && !status && pvb_mcm_unpack(reply->data, reply->len, mcm))
		err = -FI_EINVAL;
	pvb_sa_reply_free(reply);
	return err || status ? imc_failed(session, what, err, status) : IMC_DONE;
}

static const char *text_of(const char *what, const uint8_t mgid[16],
			   char text[2 * IMC_TEXT])
{
	char gid[IMC_TEXT];

	snprintf(text, 2 * IMC_TEXT, "%s%s", what, imc_gid_text(mgid, gid));
	return text;
}

/* Gets the record of asked; IMC_NOT_THERE: there is none. */
static int get(struct imc_session *session, const struct pvb_mcm *asked, uint64_t mask,
	       uint64_t sm_key, struct pvb_mcm *mcm)
{
	struct pvb_sa_reply reply;
	char text[2 * IMC_TEXT];
	const int err = ask_member(session, PVB_SA_GET, mask, sm_key, asked, &reply);

	if (!err && reply.status == PVB_SA_NO_RECORDS) {
		pvb_sa_reply_free(&reply);
		return IMC_NOT_THERE;
	}
	return take(session, text_of("", asked->mgid, text), err, &reply, mcm);
}

int imc_get_group(struct imc_session *session, const uint8_t mgid[16],
		  struct pvb_mcm *mcm)
{
	const struct pvb_mcm asked = begin(session, mgid, 0);

	return get(session, &asked, PVB_MCM_HAS_MGID, 0, mcm);
}

int imc_get_member(struct imc_session *session, const uint8_t mgid[16],
		   struct pvb_mcm *mcm)
{
	const struct pvb_mcm asked = begin(session, mgid, 0);
	const uint64_t mask = PVB_MCM_HAS_MGID | PVB_MCM_HAS_PORT_GID;
	struct pvb_mcm told;
	int status = get(session, &asked, mask, 0, mcm);

	/* opensm tells the state to who knows the SM_Key. */
	if (status || mcm->join_state || !session->options->sm_key)
		return status;
	status = get(session, &asked, mask, session->options->sm_key, &told);
	if (!status)
		*mcm = told;
	return status == IMC_NOT_THERE ? status : IMC_DONE;
}

int imc_join_group(struct imc_session *session, const uint8_t mgid[16], uint8_t state,
		   const struct pvb_mcm *attrs, struct pvb_mcm *mcm)
{
	struct pvb_mcm asked = begin(session, mgid, state);
	uint64_t mask = RECORD_MEMBER;
	struct pvb_sa_reply reply;
	char text[2 * IMC_TEXT];
	int err;

	if (attrs) {
		asked = *attrs;
		memcpy(asked.mgid, mgid, sizeof(asked.mgid));
		memcpy(asked.port_gid, session->umad.port.gid, sizeof(asked.port_gid));
		asked.join_state = state;
		asked.mtu_selector = asked.rate_selector = PVB_SA_EXACTLY;
		mask = RECORD_CREATES;
		/* Without one the administrator chooses what all ports can. */
		if (asked.rate)
			mask |= PVB_MCM_HAS_RATE_SELECTOR | PVB_MCM_HAS_RATE;
	}
	err = ask_member(session, PVB_SA_SET, mask, 0, &asked, &reply);
	return take(session, text_of(attrs ? "creating " : "joining ", mgid, text), err,
		    &reply, mcm);
}

int imc_leave_group(struct imc_session *session, const uint8_t mgid[16], uint8_t state)
{
	const struct pvb_mcm asked = begin(session, mgid, state);
	struct pvb_sa_reply reply;
	char text[2 * IMC_TEXT];
	struct pvb_mcm mcm;
	const int err =
		ask_member(session, PVB_SA_DELETE, RECORD_MEMBER, 0, &asked, &reply);

	return take(session, text_of("leaving ", mgid, text), err, &reply, &mcm);
}

void imc_undo_join(struct imc_session *session, const uint8_t mgid[16], uint8_t state)
{
	const struct pvb_mcm asked = begin(session, mgid, state);
	struct pvb_sa_reply reply;

	ask_member(session, PVB_SA_DELETE, RECORD_MEMBER, 0, &asked, &reply);
	pvb_sa_reply_free(&reply);
}

static int family_of(const struct imc_name *name)
{
	return name->ip ? name->addr.family : AF_INET;
}

/* Mapped with some scope it says of which family it is, or that it is none. */
int imc_find_name(struct imc_session *session, const char *word, struct imc_name *name,
		  struct pvb_link *link)
{
	const struct imc_options *options = session->options;
	struct pvb_mc_link map = {.profile = options->profile,
				  .pkey = options->pkey,
				  .scope = options->scope ? options->scope : 2};
	struct pvb_link own;
	const char *why;
	int ret;

	if (imc_name_parse(word, &map, options->mgid, name, &why)) {
		fprintf(stderr, "fi_ibmc: %s: %s\n", word, why);
		return IMC_FAILED;
	}
	if (options->scope || options->mgid || imc_name_is_mgid(word))
		return IMC_DONE;
	ret = imc_find_link(session, family_of(name), link ? link : &own);
	if (ret == IMC_NOT_THERE)
		fprintf(stderr, "fi_ibmc: %s: P_Key 0x%04x has no IPoIB link of IPv%d\n",
			word, options->pkey, family_of(name) == AF_INET ? 4 : 6);
	if (ret)
		return ret;
	map = (link ? link : &own)->map;
	return imc_name_parse(word, &map, false, name, &why) ? IMC_FAILED : IMC_DONE;
}
