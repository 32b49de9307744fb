/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_cairn_file: one file in chunks from the client to the server, a window of them in
 * flight.
 */
#ifndef FCT_FILE_H
#define FCT_FILE_H

#include <openssl/evp.h>

#include "fct_fabric.h"

#define FILE_DIGEST_LEN 32
#define FILE_MAX_WINDOW 256u

enum file_mode { FILE_MSG, FILE_WRITE, FILE_READ };

/* What the client tells the server before the connection is made. */
struct file_job {
	uint64_t size;
	uint32_t chunk;
	uint32_t window;
	uint32_t mode;
	uint32_t padding;
};

/* Client to server, with RMA: chunk seq of len bytes is there to be used. */
struct file_note {
	uint64_t seq;
	uint64_t len;
};

/* Server to client: so many chunks are done with. */
struct file_credit {
	uint64_t done;
};

enum file_op { FILE_OP_DATA, FILE_OP_NOTE, FILE_OP_CREDIT };

/*
 * One side's buffers: `window` slots, chunk n in slot n % window. With FI_MSG the data
 * memory is what is sent and received; with RMA it is the ring that one side exposes, and
 * what the other side writes from or reads into.
 */
struct file_ring {
	struct fct_link l;
	struct file_job job;
	uint64_t chunks; /* of the whole file */
	int fd;		 /* the input, or the output or -1 */
	const char *path;
	bool created; /* the output */
	struct fct_mem data, notes, credits;
	struct fct_target remote; /* the exposed ring of the peer */
	struct fct_ctx data_ctx[FILE_MAX_WINDOW];
	struct fct_ctx note_ctx[FILE_MAX_WINDOW];
	struct fct_ctx credit_ctx[FILE_MAX_WINDOW];
	EVP_MD_CTX *md;
	uint64_t start_ns, shown_ns;
};

/* file.c */

/* The slot a completion's context belongs to; the window: none. */
uint32_t fct_file_context_slot(const struct file_ring *r, const struct fct_ctx *ctx);
void fct_file_progress(struct file_ring *r, uint64_t done);

static inline size_t file_len(const struct file_ring *r, uint64_t chunk)
{
	uint64_t at = chunk * r->job.chunk;

	return r->job.size - at < r->job.chunk ? (size_t)(r->job.size - at)
					       : r->job.chunk;
}

static inline uint8_t *file_slot(const struct file_ring *r, uint64_t chunk)
{
	return r->data.buf + (size_t)(chunk % r->job.window) * r->job.chunk;
}

/* Both sides between connected and done; 0 or < 0 (recorded). */
int fct_file_send(struct file_ring *r);
int fct_file_receive(struct file_ring *r);

#endif
