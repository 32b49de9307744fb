/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls over a connection: several outstanding, each with its Reply, the Write chunk of
 * its result, the Read chunk of its data, or a Reply chunk of its own; and the server's
 * Calls in reverse. Functions return 0 or a negative FI_E* code, and the sentence is in
 * link.why. One thread; buffers of a call belong to it until its state is not NFC_SENT.
 */
#ifndef NFC_CONN_H
#define NFC_CONN_H

#include "link/rpc.h"
#include "message.h"

#define NFC_CALLS 33u	 /* of at most 32 slots, and one without */
#define NFC_RECEIVES 48u /* posted: a Reply for each Call, and Calls of the server */
#define NFC_CALL_BYTES 8192u
#define NFC_ANSWER_BYTES 512u

struct nfc_where {
	const char *provider; /* a stack that ends with rpcrdma */
	const char *host, *port;
	int timeout;	/* s, of each wait */
	unsigned slots; /* requests outstanding that are wanted */
	bool once;	/* a status of nfc_again is the caller's, who has more to do */
};

enum nfc_call_state {
	NFC_IDLE,
	NFC_SENT,
	NFC_ANSWERED,
	NFC_LOST,    /* the connection ended */
	NFC_REFUSED, /* RDMA_ERROR came in place of a Reply */
};

/* What an operation's context points to. */
struct nfc_mark {
	enum { NFC_RECEIVE, NFC_SEND, NFC_RESULT, NFC_OWN_REPLY } use;
	void *of; /* a receive's bytes, or the call */
};

struct nfc_call {
	enum nfc_call_state state;
	uint32_t xid;
	bool sending, result_posted, reply_posted;
	struct nfc_mark send, result, reply;
	uint8_t bytes[NFC_CALL_BYTES];
	size_t len;
	const void *data;	  /* a Read chunk's, or NULL */
	size_t data_len, data_at; /* the latter: bytes of the Call before them */
	bool whole;	 /* the data stay in the message, which may make it a Long Call */
	void *result_at; /* a Write chunk's, or NULL */
	size_t result_room, result_len;
	uint8_t *answer; /* the Reply; the caller's own buffer makes a Reply chunk */
	size_t answer_room, answer_len;
	uint8_t *own; /* inline_bytes, of the connection */
};

struct nfc_conn {
	const struct nfc_where *where;
	struct lnk link;
	size_t inline_bytes; /* of the longest message that comes inline */
	struct nfc_call calls[NFC_CALLS];
	struct nfc_mark receives[NFC_RECEIVES];
	uint8_t *memory; /* of Replies and receives */
	uint32_t next_xid;
	unsigned int connections; /* made so far */
	bool lost;
	bool silent; /* the server let a wait for it pass: nothing more is asked of it */
	/* A Call of the server: answer gets the Reply, its length is returned, 0: none.
	 */
	size_t (*serve)(void *arg, const uint8_t *bytes, size_t len, uint8_t *answer,
			size_t room);
	void *serve_arg;
	uint8_t pending[NFC_ANSWER_BYTES]; /* a Reply that found no room yet */
	size_t pending_len;
};

int nfc_conn_open(struct nfc_conn *conn, const struct nfc_where *where);
void nfc_conn_close(struct nfc_conn *conn);
/* The first connection, or another after one was lost: calls outstanding are lost. */
int nfc_conn_connect(struct nfc_conn *conn);

/* A new Call whose bytes, data, result and reply the caller has set, or one again. */
uint32_t nfc_conn_xid(struct nfc_conn *conn);
int nfc_conn_send(struct nfc_conn *conn, struct nfc_call *call);
/* Posts a receive again. */
int nfc_conn_receive(struct nfc_conn *conn, struct nfc_mark *mark);
/* The connection has ended: what was outstanding gets no Reply any more. */
void nfc_conn_lose(struct nfc_conn *conn);
/* One turn, which lasts up to that long if nothing happens. */
int nfc_conn_turn(struct nfc_conn *conn, int timeout_ms);
/* Until it is over: 0: it has its Reply. */
int nfc_conn_wait(struct nfc_conn *conn, struct nfc_call *call);
/* Serves what comes for that long. */
int nfc_conn_rest(struct nfc_conn *conn, int ms);

#endif
