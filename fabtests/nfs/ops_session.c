/* SPDX-License-Identifier: BSD-2-Clause */
/* Operations about clients and sessions (RFC 8881 section 18.34 to 18.51). */
#include <string.h>

#include "nfd.h"

static struct nfd_session sessions[NFD_SESSIONS];
static uint64_t clients, made;

struct nfd_session *nfd_session(const char *id)
{
	for (size_t i = 0; i < NFD_SESSIONS; i++)
		if (sessions[i].clientid &&
		    !memcmp(sessions[i].id, id, sizeof(sessions[i].id)))
			return &sessions[i];
	return NULL;
}

void nfd_sessions_leave(const struct nfd_peer *peer)
{
	for (size_t i = 0; i < NFD_SESSIONS; i++)
		if (sessions[i].peer == peer)
			sessions[i].peer = NULL;
}

static uint32_t exchange_id(EXCHANGE_ID4resok *ok)
{
	ok->clientid = ++clients;
	ok->sequenceid = 1;
	ok->flags = EXCHGID4_FLAG_USE_NON_PNFS;
	ok->owner.major_id = nfc_text("fi_cairn_nfsd");
	ok->scope = nfc_text("test");
	return NFC_OK;
}

static void limit(channel_attrs4 *channel)
{
	if (channel->maxrequests > NFD_SLOTS)
		channel->maxrequests = NFD_SLOTS;
	if (channel->maxresponsesize_cached > NFD_CACHED)
		channel->maxresponsesize_cached = NFD_CACHED;
	channel->rdma_ird.rdma_ird_len = 0;
}

static void have_back(struct nfd_session *session, struct nfd_peer *peer)
{
	session->peer = peer;
	nfd_ready(peer);
}

static uint32_t create_session(struct nfd_request *request,
			       const CREATE_SESSION4args *args, CREATE_SESSION4resok *ok)
{
	struct nfd_session *session = &sessions[made % NFD_SESSIONS];

	memset(session, 0, sizeof(*session));
	made++;
	memcpy(session->id, &made, sizeof(made));
	session->clientid = args->clientid;
	if (args->sec.sec_len)
		session->back_flavor = args->sec.sec_val[0].flavor;
	if (args->flags & CREATE_SESSION4_FLAG_CONN_BACK_CHAN)
		have_back(session, request->peer);
	memcpy(ok->sessionid, session->id, sizeof(ok->sessionid));
	ok->sequence = args->sequence;
	ok->flags = args->flags & CREATE_SESSION4_FLAG_CONN_BACK_CHAN;
	ok->fore = args->fore;
	ok->back = args->back;
	limit(&ok->fore);
	limit(&ok->back);
	session->slots_count = ok->fore.maxrequests;
	return NFC_OK;
}

static uint32_t bind_conn(struct nfd_request *request, const conn_to_session4 *args,
			  conn_to_session4 *ok)
{
	struct nfd_session *session = nfd_session(args->sessionid);

	if (!session)
		return NFC_BADSESSION;
	*ok = *args;
	ok->dir = args->dir & (CDFS4_FORE | CDFS4_BACK);
	if (ok->dir & CDFS4_BACK)
		have_back(session, request->peer);
	return NFC_OK;
}

/* FNV-1a of the Call behind its XID, data included. */
static uint64_t digest(const struct nfd_request *request)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = sizeof(uint32_t); i < request->len; i++)
		sum = (sum ^ request->bytes[i]) * 0x100000001b3;
	return sum;
}

/* A Call that comes again is the same one (section 2.10.6.1.3.1, RFC 8167 section 5.4).
 */
static void judge_again(const struct nfd_request *request, const struct nfd_slot *slot)
{
	if (digest(request) != slot->digest)
		nfd_broken("a slot's number is that of another Call (RFC 8881 section "
			   "2.10.6.1.3.1)");
	else if (memcmp(request->bytes, &slot->xid, sizeof(slot->xid)) != 0)
		nfd_broken("a Call comes again with another XID (RFC 8167 section 5.4)");
}

static void judge_slots(const struct nfd_session *session, const SEQUENCE4args *args)
{
	if (args->highest_slotid >= session->slots_count)
		nfd_broken("there is no such highest_slotid (RFC 8881 section 18.46.3)");
	if (args->slotid > args->highest_slotid)
		nfd_broken("the slot is above highest_slotid (RFC 8881 section 18.46.3)");
}

/* The next number of the slot, or the last one again (section 2.10.6.1.3). */
static uint32_t sequence(struct nfd_request *request, const SEQUENCE4args *args,
			 SEQUENCE4resok *ok)
{
	struct nfd_slot *slot;

	request->session = nfd_session(args->sessionid);
	if (!request->session)
		return NFC_BADSESSION;
	if (args->slotid >= NFD_SLOTS)
		return NFC_BADSLOT;
	judge_slots(request->session, args);
	slot = &request->session->slots[args->slotid];
	if (args->sequenceid == slot->sequence) {
		judge_again(request, slot);
		request->replay = slot->cached_len > 0;
		request->slot = slot;
		return request->replay ? NFC_OK : NFC_RETRY_UNCACHED_REP;
	}
	if (args->sequenceid != slot->sequence + 1)
		return NFC_SEQ_MISORDERED;
	slot->sequence = args->sequenceid;
	slot->digest = digest(request);
	memcpy(&slot->xid, request->bytes, sizeof(slot->xid));
	slot->cached_len = 0;
	request->slot = slot;
	request->kept = args->cachethis;
	memcpy(ok->sessionid, args->sessionid, sizeof(ok->sessionid));
	ok->sequenceid = args->sequenceid;
	ok->slotid = args->slotid + (request->fault == NFD_OTHER);
	ok->highest_slotid = ok->target_highest_slotid = NFD_SLOTS - 1;
	if (!request->session->peer)
		ok->status_flags = SEQ4_STATUS_CB_PATH_DOWN_SESSION;
	return NFC_OK;
}

static uint32_t destroy(const char *id)
{
	struct nfd_session *session = nfd_session(id);

	if (!session)
		return NFC_BADSESSION;
	memset(session, 0, sizeof(*session));
	return NFC_OK;
}

uint32_t nfd_session_op(struct nfd_request *request, const nfs_argop4 *arg,
			nfs_resop4 *res)
{
	switch (arg->op) {
	case OP_EXCHANGE_ID:
		return exchange_id(&res->nfs_resop4_u.exchange_id.EXCHANGE_ID4res_u.ok);
	case OP_CREATE_SESSION:
		return create_session(
			request, &arg->nfs_argop4_u.create_session,
			&res->nfs_resop4_u.create_session.CREATE_SESSION4res_u.ok);
	case OP_BIND_CONN_TO_SESSION:
		return bind_conn(request, &arg->nfs_argop4_u.bind,
				 &res->nfs_resop4_u.bind.BIND_CONN_TO_SESSION4res_u.ok);
	case OP_SEQUENCE:
		return sequence(request, &arg->nfs_argop4_u.sequence,
				&res->nfs_resop4_u.sequence.SEQUENCE4res_u.ok);
	case OP_DESTROY_SESSION:
		return destroy(arg->nfs_argop4_u.destroy_session);
	default: /* RECLAIM_COMPLETE, DESTROY_CLIENTID */
		return NFC_OK;
	}
}
