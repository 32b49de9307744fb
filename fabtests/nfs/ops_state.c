/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OPEN, CLOSE and DELEGRETURN. A read delegation goes with each OPEN that does not refuse
 * it; an OPEN for writing by another session is delayed until that is returned.
 */
#include <string.h>

#include "nfd.h"

#define DELEGATIONS 64
#define STATES 65536u
#define CLAIM_FH 4u

static struct {
	struct nfd_session *session; /* NULL: free */
	const struct nfd_node *node;
	stateid4 stateid;
	bool recalled;
} given[DELEGATIONS];
static uint32_t states;
static bool closed[STATES];

static void new_stateid(stateid4 *stateid)
{
	states++;
	stateid->seqid = 1;
	memset(stateid->other, 0, sizeof(stateid->other));
	memcpy(stateid->other, &states, sizeof(states));
}

/* 0: it was never given. */
static uint32_t number_of(const stateid4 *stateid)
{
	static const char zeros[sizeof(stateid->other) - sizeof(states)];
	uint32_t number;

	memcpy(&number, stateid->other, sizeof(number));
	if (number > states ||
	    memcmp(stateid->other + sizeof(number), zeros, sizeof(zeros)) != 0)
		return 0;
	return number;
}

bool nfd_stateid(const stateid4 *stateid)
{
	const uint32_t number = number_of(stateid);

	return number && !closed[number];
}

static uint32_t close_file(const stateid4 *stateid, stateid4 *ok)
{
	if (!nfd_stateid(stateid))
		return NFC_BAD_STATEID;
	closed[number_of(stateid)] = true;
	*ok = *stateid;
	return NFC_OK;
}

static void give(struct nfd_request *request, open_delegation4 *to)
{
	int i;

	for (i = 0; i < DELEGATIONS && given[i].session; i++)
		;
	if (i == DELEGATIONS || !request->session->peer)
		return;
	given[i].session = request->session;
	given[i].node = request->node;
	given[i].recalled = false;
	new_stateid(&given[i].stateid);
	to->type = OPEN_DELEGATE_READ;
	to->open_delegation4_u.read.stateid = given[i].stateid;
}

/* True: another session has to return one first, and has been asked to. */
static bool conflict(struct nfd_request *request)
{
	bool any = false;
	char bytes[8];
	nfs_fh4 fh;

	for (int i = 0; i < DELEGATIONS; i++) {
		if (!given[i].session || given[i].session == request->session ||
		    given[i].node != request->node)
			continue;
		any = true;
		nfd_fh(given[i].node, &fh, bytes);
		if (!given[i].recalled)
			nfd_recall(given[i].session, &given[i].stateid, &fh);
		given[i].recalled = true;
	}
	return any;
}

static uint32_t open_file(struct nfd_request *request, const OPEN4args *args,
			  OPEN4resok *ok)
{
	const uint32_t access = args->share_access;
	struct stat st;
	uint32_t status =
		args->claim.claim == CLAIM_FH
			? NFC_OK
			: nfd_lookup(request->node, &args->claim.open_claim4_u.file,
				     args->openhow.create == 1, &request->node);

	if (!status)
		status = nfd_stat(request->node, &st);
	if (status)
		return status;
	if (S_ISDIR(st.st_mode))
		return NFC_ISDIR;
	if (access & OPEN4_SHARE_ACCESS_WRITE && conflict(request))
		return NFC_DELAY;
	if (states + 2 >= STATES)
		return NFC_IO;
	new_stateid(&ok->stateid);
	if (!(access & (OPEN4_SHARE_ACCESS_WRITE | OPEN4_SHARE_ACCESS_WANT_NO_DELEG)))
		give(request, &ok->delegation);
	return NFC_OK;
}

static uint32_t delegreturn(const stateid4 *stateid)
{
	for (int i = 0; i < DELEGATIONS; i++) {
		if (!given[i].session || memcmp(given[i].stateid.other, stateid->other,
						sizeof(stateid->other)) != 0)
			continue;
		given[i].session = NULL;
		return NFC_OK;
	}
	return NFC_INVAL;
}

uint32_t nfd_state_op(struct nfd_request *request, const nfs_argop4 *arg, nfs_resop4 *res)
{
	switch (arg->op) {
	case OP_OPEN:
		return open_file(request, &arg->nfs_argop4_u.open,
				 &res->nfs_resop4_u.open.OPEN4res_u.ok);
	case OP_CLOSE:
		return close_file(&arg->nfs_argop4_u.close.stateid,
				  &res->nfs_resop4_u.close.CLOSE4res_u.ok);
	default:
		return delegreturn(&arg->nfs_argop4_u.delegreturn);
	}
}
