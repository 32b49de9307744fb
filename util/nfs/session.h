/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session of NFSv4.1 (RFC 8881 section 2.10): slots, and compounds in them. Functions
 * return 0, an NFS4ERR_* status (positive) or a negative FI_E* code, and the sentence is
 * in conn.link.why. One thread.
 */
#ifndef NFC_SESSION_H
#define NFC_SESSION_H

#include "callback.h"
#include "conn.h"

#define NFC_SLOTS 32u

struct nfc_slot {
	uint32_t sequence; /* of the last compound that the server has executed */
	bool busy;	   /* a compound is between nfc_submit and nfc_finish */
};

struct nfc_session {
	struct nfc_conn conn;
	struct nfc_callbacks callbacks;
	struct nfc_slot slots[NFC_SLOTS];
	unsigned int count; /* slots that the server gives */
	uint64_t clientid;
	uint32_t create_sequence; /* of CREATE_SESSION */
	sessionid4 id;
	bool named;	       /* the server knows the client */
	bool lasts;	       /* and the session */
	uint32_t dir;	       /* CDFC4_*, asked for when another connection is bound */
	bool back;	       /* the session has a back channel on this connection */
	uint32_t status_flags; /* SEQ4_STATUS_*, of the last SEQUENCE */
	uint32_t request;      /* bytes of the largest request */
	uint32_t response;     /* and of the largest reply */
	unsigned int losses;   /* of the connection, since a compound has succeeded */
};

/* Connects and makes a session; it has to be closed also after a failure. */
int nfc_session_open(struct nfc_session *session, const struct nfc_where *where);
/* Ends the session at the server as well, as far as it answers. */
void nfc_session_close(struct nfc_session *session);
/* Binds the connection to the session again: 0 or a negative FI_E* code. */
int nfc_session_bind(struct nfc_session *session);
/* Connects again and binds the connection to the session, for a while if need be. */
int nfc_session_reconnect(struct nfc_session *session);
/*
 * BIND_CONN_TO_SESSION by conn, which is connected: dir is CDFC4_*, *got CDFS4_*. The
 * sentence of an error is in session->conn.link.why in any case.
 */
int nfc_bind(struct nfc_session *session, struct nfc_conn *conn, uint32_t dir,
	     uint32_t *got);

/* An empty compound with SEQUENCE; kept: the server is to keep its Reply. */
void nfc_begin(struct nfc_session *session, struct nfc_compound *compound, bool kept);
/* The call of a slot, whose data, result and answer may be set before nfc_submit. */
struct nfc_call *nfc_slot_call(struct nfc_session *session, unsigned int slot);
int nfc_submit(struct nfc_session *session, unsigned int slot,
	       struct nfc_compound *compound);
/*
 * Waits for the slot's Reply, and connects again if the connection ends before it. With
 * 0 *res is to be freed by nfc_free_reply.
 */
int nfc_finish(struct nfc_session *session, unsigned int slot, COMPOUND4res *res);
/*
 * Waits for the Replies of all slots, whatever they say, so that slot 0 is free again.
 * -FI_ENOTCONN: there is no server to wait for.
 */
int nfc_settle(struct nfc_session *session);
/* A status after which the same compound is to be submitted once more. */
bool nfc_again(int status);
/*
 * Submits and finishes in slot 0, until another status comes or the timeout is over, or
 * once, if the connection's where says so.
 */
int nfc_run(struct nfc_session *session, struct nfc_compound *compound,
	    COMPOUND4res *res);

/* Says WHAT and the status by name in link.why, keeps why after an FI_E*. Returns ret. */
int nfc_said(struct nfc_session *session, int ret, const char *what);

#endif
