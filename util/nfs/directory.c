/* SPDX-License-Identifier: BSD-2-Clause */
/* READDIR (RFC 8881 section 18.23), whose Reply is a chunk. */
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "ops.h"

/* What is around the entries: the head of the Reply, results before. */
#define AROUND 512u

struct place {
	u64 cookie;
	verifier4 verifier;
	bool end;
};

static int some(struct nfc_session *session, const struct nfc_handle *dir, uint8_t *reply,
		uint32_t room, COMPOUND4res *res, const struct place *place)
{
	struct nfc_call *call = nfc_slot_call(session, 0);
	struct nfc_compound compound;
	READDIR4args *args;
	int ret;

	nfc_begin(session, &compound, false);
	nfc_add_putfh(&compound, dir);
	args = &nfc_add(&compound, OP_READDIR)->nfs_argop4_u.readdir;
	args->cookie = place->cookie;
	memcpy(args->verifier, place->verifier, sizeof(args->verifier));
	args->dircount = args->maxcount = room - AROUND;
	call->answer = reply;
	call->answer_room = room;
	ret = nfc_run(session, &compound, res);
	call->answer = NULL;
	return nfc_said(session, ret, "READDIR");
}

static int hand_on(const READDIR4resok *ok, struct place *place,
		   int (*each)(void *arg, const char *name, size_t len), void *arg)
{
	const entry4 *entry;
	int ret = 0;

	memcpy(place->verifier, ok->verifier, sizeof(place->verifier));
	place->end = ok->eof;
	for (entry = ok->entries; entry && !ret; entry = entry->next) {
		place->cookie = entry->cookie;
		if (entry->name.text4_len)
			ret = each(arg, entry->name.text4_val, entry->name.text4_len);
	}
	return ret;
}

/* A server that says neither an entry nor the end would be asked for ever. */
static int list(struct nfc_session *session, const struct nfc_handle *dir, uint8_t *reply,
		uint32_t room, int (*each)(void *arg, const char *name, size_t len),
		void *arg)
{
	struct place place = {.end = false};
	nfs_resop4 *result;
	COMPOUND4res res;
	bool any = true;
	int ret = 0;

	while (!ret && !place.end) {
		ret = some(session, dir, reply, room, &res, &place);
		if (ret)
			return ret;
		result = nfc_result(&res, 2, OP_READDIR);
		if (!result)
			return nfc_lacks(session, &res);
		any = result->nfs_resop4_u.readdir.READDIR4res_u.ok.entries;
		ret = hand_on(&result->nfs_resop4_u.readdir.READDIR4res_u.ok, &place,
			      each, arg);
		nfc_free_reply(&res);
		if (!any && !place.end)
			ret = lnk_fail(&session->conn.link, -FI_EIO,
				       "READDIR without an entry and without the end");
	}
	return ret;
}

int nfc_list(struct nfc_session *session, const struct nfc_handle *dir, uint32_t room,
	     int (*each)(void *arg, const char *name, size_t len), void *arg)
{
	uint8_t *reply = malloc(room);
	int ret;

	if (!reply || room <= 2 * AROUND)
		ret = lnk_failed(&session->conn.link, "READDIR", -FI_ENOMEM);
	else
		ret = list(session, dir, reply, room, each, arg);
	free(reply);
	return ret;
}
