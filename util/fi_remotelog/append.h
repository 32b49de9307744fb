/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client's appends: each is a sequence of acts (method.h), of which it posts what has
 * to wait for nothing; what it waits for is told by the client's completions and
 * messages. One thread.
 */
#ifndef RLG_APPEND_H
#define RLG_APPEND_H

#include "link.h"
#include "output.h"
#include "rpma.h"
#include "wire.h"

/* One of those in flight. */
struct rlg_append {
	uint64_t number;
	uint64_t started; /* ns */
	int act;	  /* the next to be posted; of them all that is before is done */
	bool waits;	  /* for a completion or an answer */
	uint8_t *message; /* RLG_MESSAGE bytes, then the record */
	uint8_t *tail;
};

struct rlg_client {
	struct rlg_link link;
	struct rlg_rpma *rpma; /* NULL but for --method librpma */
	const struct rlg_options *options;
	const uint8_t *acts;
	struct rlg_welcome log;
	uint64_t head; /* as the server last said */
	struct rlg_append *appends;
	struct rlg_memory out;
	struct rlg_memory in;
	uint8_t *sink;	/* of reads */
	uint64_t begun; /* appends */
	uint64_t done;	/* of them acknowledged */
	bool pong, welcome, refused;
	struct rlg_result result;
};

struct rlg_piece {
	void *from;
	size_t len;
	size_t at; /* in the file */
};

size_t rlg_record_size(const struct rlg_client *client);
struct rlg_append *rlg_append_of(struct rlg_client *client, uint64_t index);

/* One operation, as fi_writemsg (act is that of a record or a tail), fi_readmsg of the
 * last byte, fi_sendmsg. append: its context, or NULL. */
ssize_t rlg_post_rma(struct rlg_client *client, struct rlg_append *append, uint8_t act,
		     struct rlg_piece piece, uint64_t flags, bool read);
ssize_t rlg_post_send(struct rlg_client *client, struct rlg_append *append, void *from,
		      size_t len, uint64_t flags);

/* Posts what can be posted now, of appends that have begun and of new ones. 0 or an
 * error. */
int rlg_client_post(struct rlg_client *client);
/* What the append waited for has come. 0 or an error. */
int rlg_append_step(struct rlg_client *client, struct rlg_append *append);
void rlg_client_progress(struct rlg_client *client, uint64_t now, bool last);

#endif
