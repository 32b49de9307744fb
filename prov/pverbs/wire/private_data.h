/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The private data of rdma_cm messages, byte by byte. Pure functions over byte ranges.
 *
 * An rdma_cm request carries 56 bytes, padded with zeros by the wire format, so the
 * length of the application's part has to be sent:
 *
 *   byte 0      length of the application's data (as the stock verbs provider has it)
 *   bytes 1-32  the application's data
 *   bytes 33-55 trailer of pverbs: magic 'C' 'r' 'n', version, flags;
 *               38-40: number of the sender's control queue pair, 41-43: its first
 *               packet sequence number (flag 2; with flag 4 atomics may go to
 *               its area), else zero;
 *               44-51: address, 52-55: rkey of the sender's word (flag 1); big-endian
 *
 * On iWARP the control queue pair has a connection of its own, which the requester of the
 * first one makes to the same port. With flag 8, instead of flag 2, a request offers to
 * make one, and an answer takes the offer: 38-43 is a cookie, a number that nobody
 * guesses. The request of the control connection shows it: flag 16 and no other, 38-43.
 *
 * The stock verbs provider may use bytes 1-55 for its application; then there is no
 * trailer. Answers (accept, reject) have the same layout.
 */
#ifndef PVB_WIRE_PRIVATE_DATA_H
#define PVB_WIRE_PRIVATE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PVB_CM_REQ_SIZE 56 /* private data of an rdma_cm request over IP */
#define PVB_CM_APP_SIZE 32 /* what an application may send beside a trailer */
#define PVB_CM_TRAILER_AT 33
/* 2: its control queue pair takes PVB_WIRE_MESSAGES (message.h). */
#define PVB_CM_VERSION 2
#define PVB_CM_WORD 1	  /* flag: the sender has a word */
#define PVB_CM_CONTROL 2  /* flag: and a control queue pair: the word begins its area */
#define PVB_CM_SEQ_WORD 4 /* flag: which takes atomics */
#define PVB_CM_CONTROL_CONN \
	8		 /* flag: the word begins an area, a control connection follows */
#define PVB_CM_COOKIE 16 /* flag: this is the control connection */
#define PVB_CM_COOKIE_BITS 48

/*
 * Eight bytes of the sender's that the receiver may read. A read executes after the
 * writes and sends before it: its answer says that they are delivered.
 */
struct pvb_cm_word {
	uint64_t addr;
	uint32_t rkey;
};

/* A queue pair of the sender's for durable operations: persist/control/control.h. 24 bits
 * each.
 */
struct pvb_cm_control {
	uint32_t qp_num;
	uint32_t psn;
	bool seq_word; /* its area takes atomics */
};

/* The sender's part of the private data. */
struct pvb_cm_offer {
	struct pvb_cm_word word;
	struct pvb_cm_control control; /* qp_num 0: none */
	bool control_conn;	       /* instead of control */
	uint64_t cookie;	       /* with control_conn, of an answer */
};

/* Private data taken apart. */
struct pvb_cm_data {
	const uint8_t *app;	       /* into the bytes given to the parser */
	uint8_t app_len;	       /* bytes */
	bool trailer;		       /* the peer is pverbs */
	uint8_t version;	       /* of the trailer */
	uint8_t flags;		       /* of the trailer; unknown bits are kept */
	struct pvb_cm_word word;       /* with PVB_CM_WORD */
	struct pvb_cm_control control; /* with PVB_CM_CONTROL */
	bool control_conn;	       /* PVB_CM_CONTROL_CONN */
	bool shows;		       /* PVB_CM_COOKIE: this is the control connection */
	uint64_t cookie;	       /* of either; 0: none */
};

/*
 * Fills out (PVB_CM_REQ_SIZE bytes) with the application's data and our trailer; offer:
 * ours, or NULL. Returns the bytes to send, or 0 when app_len > PVB_CM_APP_SIZE.
 */
size_t pvb_cm_pack(uint8_t out[PVB_CM_REQ_SIZE], const void *app, size_t app_len,
		   const struct pvb_cm_offer *offer);

/* The request of a control connection, PVB_CM_REQ_SIZE bytes: no data of an
 * application's.
 */
void pvb_cm_pack_cookie(uint8_t out[PVB_CM_REQ_SIZE], uint64_t cookie);

/*
 * Takes len bytes apart, whatever they are: a length byte that points past the end is cut
 * to what is there, a trailer is recognised by its magic and only where the application's
 * data leaves room for it. Never fails.
 */
void pvb_cm_parse(struct pvb_cm_data *data, const void *bytes, size_t len);
/* The same; with raw, all of it is the application's. data->app points into bytes. */
void pvb_cm_app_data(bool raw, const uint8_t *bytes, uint8_t len,
		     struct pvb_cm_data *data);

#endif
