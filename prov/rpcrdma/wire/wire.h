/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RPC-over-RDMA version 1 on the wire: the transport header (RFC 8166 section 4), the
 * first words of an RPC message (RFC 5531 section 9), and the private data of a
 * connection (RFC 8797). Pure functions over bytes: no allocation, no log, no state, any
 * thread, any alignment.
 *
 * Numbers are big endian: 32 bits, offsets 64, sizes in private data 8.
 */
#ifndef RPR_WIRE_H
#define RPR_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RPR_VERSION 1
/* Bytes of the shortest header: four fixed words and three empty lists. */
#define RPR_HEADER_MIN 28
/* Bytes of an RDMA_ERROR of each kind. */
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

/* Bounds of what is accepted, and packed; the protocol has none. */
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
	uint32_t count; /* of seg; 0: an empty chunk, RFC 8166 section 4.3.2.3 */
	struct rpr_seg seg[RPR_CHUNK_SEGS];
};

/*
 * A transport header. Of arrays, the first so many elements as their count says mean
 * anything; of the other fields, those of proc.
 */
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
	uint32_t vers_low; /* of RPR_ERR_VERS: the versions supported, inclusive */
	uint32_t vers_high;
	struct rpr_read read[RPR_READ_SEGS];
	struct rpr_chunk write[RPR_WRITE_CHUNKS];
	struct rpr_chunk reply;
};

/*
 * What is wrong with a header: what an endpoint has to do about it (RFC 8166 section
 * 4.5). The first that applies, in this order.
 */
enum rpr_bad {
	RPR_OK,
	/*
	 * Dropped, no field of the header means anything: it is shorter than
	 * RPR_HEADER_MIN (an ERR_CHUNK: than RPR_ERR_CHUNK_LEN), or an RDMA_ERROR whose
	 * rdma_err is neither of the two.
	 */
	RPR_BAD_SHORT,
	/*
	 * rdma_vers is not 1: ERR_VERS, unless proc is RPR_ERROR. This and what follows
	 * sets xid, vers, credit and proc, whose places are fixed for all versions; no
	 * other field means anything.
	 */
	RPR_BAD_VERS,
	/* rdma_proc is none of the five, or reserved: RPR_MSGP, RPR_DONE. */
	RPR_BAD_PROC,
	/*
	 * A list ends too early, is beyond the bounds, or has a discriminator that is
	 * neither 0 nor 1; or an RDMA_NOMSG has neither list nor Reply chunk.
	 */
	RPR_BAD_CHUNK,
};

/*
 * Parses the header at the beginning of len bytes. *used becomes the length of the
 * header, which is where the RPC message of an RPR_MSG begins; it is set with RPR_OK
 * only. What follows the header is not looked at. Array elements beyond the counts are
 * left as they were.
 *
 * Whether positions, lengths and combinations of chunks make sense is the caller's to
 * judge, as is whether the RPC message has the same XID.
 */
enum rpr_bad rpr_header_parse(struct rpr_header *header, const void *bytes, size_t len,
			      size_t *used);

/*
 * Packs a header that rpr_header_parse accepts, or would if vers were 1: an ERR_VERS has
 * the version of what it answers. Returns the bytes used, or
 *	-FI_ETOOSMALL: there is not enough room; what is in buf means nothing
 *	-FI_EINVAL: counts beyond the bounds, a proc or err that is not sent, an RPR_NOMSG
 *		without anything in it
 */
ssize_t rpr_header_pack(const struct rpr_header *header, void *buf, size_t size);

/* The bytes that rpr_header_pack uses, given room; 0: it returns -FI_EINVAL. */
size_t rpr_header_len(const struct rpr_header *header);

/* Packs the short form: RPR_MSG, version 1, without a chunk. */
void rpr_header_pack_short(uint8_t buf[RPR_HEADER_MIN], uint32_t xid, uint32_t credit);

/*
 * True: the len bytes begin with the short form, *xid and *credit are set, and the RPC
 * message begins at RPR_HEADER_MIN. False: rpr_header_parse knows what it is.
 */
bool rpr_header_is_short(const void *bytes, size_t len, uint32_t *xid, uint32_t *credit);

/* ---- the RPC message ---- */

enum rpr_direction { RPR_CALL = 0, RPR_REPLY = 1 };

/*
 * The first two words of an RPC message. False: there are fewer than 8 bytes, or msg_type
 * is neither CALL nor REPLY; what is set means nothing.
 */
bool rpr_message_parse(const void *bytes, size_t len, uint32_t *xid,
		       enum rpr_direction *direction);

/*
 * May chunks carry parts of this Call and of its Reply? Not under the integrity or
 * privacy service of RPCSEC_GSS (RFC 8166 section 8.2.2.3), and not if bytes are no Call,
 * end within its credentials, or have RPCSEC_GSS credentials of another version than 1.
 * The bytes up to the end of the credentials (RFC 5531 section 9) suffice.
 */
bool rpr_message_reducible(const void *bytes, size_t len);

/* ---- connections, RFC 8797 ---- */

#define RPR_PRIVATE_LEN 8

struct rpr_private {
	bool remote_invalidate; /* R */
	uint32_t send_size;	/* bytes, 1024 to 262144 in steps of 1024 */
	uint32_t recv_size;	/* the same */
};

/*
 * Sizes are rounded down to what can be said: to a multiple of 1024, at most 262144.
 * Below 1024 they become 1024, which is the least that the protocol allows.
 */
void rpr_private_pack(const struct rpr_private *priv, uint8_t buf[RPR_PRIVATE_LEN]);

/*
 * Finds the first message of version 1 at any offset (section 5.2): the eight bytes of
 * section 4, all of them within len. Returns the offset of what follows it. 0: there is
 * none, and *priv is what section 5.1 says for that: no remote invalidation, 1024 bytes
 * each way.
 *
 * tail: without one, the last seven of the eight bytes at offset 0 will do. Stock
 * libfabric's verbs provider takes the first byte of private data for a length.
 */
size_t rpr_private_find(struct rpr_private *priv, const void *bytes, size_t len,
			bool tail);

#endif
