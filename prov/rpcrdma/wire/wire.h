/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RPC-over-RDMA version 1 on the wire: the transport header (RFC 8166 section 4), the
 * first words of an RPC message (RFC 5531 section 9), and the private data of a
 * connection (RFC 8797). Pure functions over bytes: no allocation, no log, no state.
 *
 * All numbers are 32-bit words, big endian, but for offsets with 64 bits.
 */
#ifndef RPR_WIRE_H
#define RPR_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RPR_VERSION 1
/* The shortest header: four fixed words and three empty lists. */
#define RPR_HEADER_MIN 28
/* An RDMA_ERROR of each kind. */
#define RPR_ERR_CHUNK_LEN 20
#define RPR_ERR_VERS_LEN 28

/* rdma_proc, RFC 8166 section 4.2.4 */
enum rpr_proc {
	RPR_MSG = 0,   /* an RPC message follows the header */
	RPR_NOMSG = 1, /* it is in a chunk */
	RPR_MSGP = 2,  /* reserved: never sent */
	RPR_DONE = 3,  /* reserved: never sent */
	RPR_ERROR = 4,
};

/* rdma_err, RFC 8166 section 4.5 */
enum rpr_errcode {
	RPR_ERR_VERS = 1,
	RPR_ERR_CHUNK = 2,
};

/*
 * Bounds of what is accepted; the version has none. A list beyond them is RPR_BAD_CHUNK,
 * like one that ends too early.
 */
#define RPR_CHUNK_SEGS 16  /* segments of a Write or Reply chunk */
#define RPR_READ_SEGS 32   /* entries of a Read list */
#define RPR_WRITE_CHUNKS 4 /* chunks of a Write list */

/* A registered part of a peer's memory, "HLOO" of RFC 8166. */
struct rpr_seg {
	uint32_t handle;
	uint32_t length; /* bytes */
	uint64_t offset;
};

/* An entry of a Read list; entries of the same position are one chunk. */
struct rpr_read {
	uint32_t position; /* bytes into the unreduced message; 0: the message itself */
	struct rpr_seg seg;
};

/* A Write or Reply chunk. */
struct rpr_chunk {
	uint32_t count; /* of segs; 0: an empty chunk */
	struct rpr_seg seg[RPR_CHUNK_SEGS];
};

/* A transport header. Of arrays, what the counts say; of the rest, what proc says. */
struct rpr_header {
	uint32_t xid;
	uint32_t vers;
	uint32_t credit;
	uint32_t proc;
	/* RPR_MSG and RPR_NOMSG */
	uint32_t read_count;
	uint32_t write_count;
	bool has_reply; /* a Reply chunk is there, which may be empty */
	/* RPR_ERROR */
	uint32_t err;
	uint32_t vers_low; /* RPR_ERR_VERS */
	uint32_t vers_high;
	struct rpr_read read[RPR_READ_SEGS];
	struct rpr_chunk write[RPR_WRITE_CHUNKS];
	struct rpr_chunk reply;
};

/* What is wrong with a header: what an endpoint has to do about it. */
enum rpr_bad {
	RPR_OK,
	/* Too short to be one, RFC 8166 section 4.5: dropped. An RDMA_ERROR that is
	 * shorter than its kind is of this sort as well. */
	RPR_BAD_SHORT,
	/* rdma_vers is not 1; xid, vers and credit are set, and nothing else. */
	RPR_BAD_VERS,
	/* rdma_proc is none of the five, or reserved; the fixed words are set. */
	RPR_BAD_PROC,
	/* A list ends too early, has a discriminator that is neither 0 nor 1, or is
	 * beyond the bounds; the fixed words are set. */
	RPR_BAD_CHUNK,
};

/*
 * Parses the header at the begin of len bytes. *used becomes the bytes of the header: of
 * RPR_MSG, where the RPC message begins. Only what is present in *header is written.
 * RPR_MSGP and RPR_DONE are RPR_BAD_PROC with header->proc set.
 */
enum rpr_bad rpr_header_parse(struct rpr_header *header, const void *bytes, size_t len,
			      size_t *used);

/*
 * Packs a header of any kind. The bytes used, or -FI_ETOOSMALL: not enough room.
 * Counts beyond the bounds are -FI_EINVAL.
 */
ssize_t rpr_header_pack(const struct rpr_header *header, void *buf, size_t size);

/* Bytes that rpr_header_pack would use, with room; 0: counts beyond the bounds. */
size_t rpr_header_len(const struct rpr_header *header);

/* The short form, RPR_HEADER_MIN bytes: RPR_MSG without a chunk. */
void rpr_header_pack_short(uint8_t buf[RPR_HEADER_MIN], uint32_t xid, uint32_t credit);

/*
 * Is the header of a message that is so begun (RPR_HEADER_MIN bytes at least) the short
 * form of version 1? Sets *xid and *credit then. Else rpr_header_parse is to be asked.
 */
bool rpr_header_is_short(const uint8_t *bytes, size_t len, uint32_t *xid,
			 uint32_t *credit);

/* ---- the RPC message ---- */

enum rpr_direction { RPR_CALL = 0, RPR_REPLY = 1 };

/*
 * The first two words of an RPC message. False: fewer than 8 bytes, or msg_type is
 * neither CALL nor REPLY.
 */
bool rpr_message_parse(const void *bytes, size_t len, uint32_t *xid,
		       enum rpr_direction *direction);

/*
 * The flavor of a Call's credentials: RPCSEC_GSS (6) with integrity or privacy forbids
 * reduction (RFC 8166 section 8.2.2.3). False: bytes are no Call as long as that.
 */
bool rpr_message_flavor(const void *bytes, size_t len, uint32_t *flavor);

/* ---- connections, RFC 8797 ---- */

#define RPR_PRIVATE_LEN 8

struct rpr_private {
	bool remote_invalidate; /* R */
	uint32_t send_size;	/* bytes, 1024 to 262144 in steps of 1024 */
	uint32_t recv_size;
};

/* Sizes are rounded down to what can be said, at least 1024. */
void rpr_private_pack(const struct rpr_private *priv, uint8_t buf[RPR_PRIVATE_LEN]);

/*
 * Finds the magic at any offset (section 5.2), version 1. Returns where what follows the
 * eight bytes begins. 0: there is none, and *priv is what section 4 says for that: no
 * remote invalidation, 1024 bytes each way. tail: at offset 0 also without its first
 * byte, which some peers' stacks eat (7 bytes: 0xab first).
 */
size_t rpr_private_find(struct rpr_private *priv, const void *bytes, size_t len,
			bool tail);

#endif
