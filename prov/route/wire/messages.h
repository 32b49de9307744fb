/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages; a part of wire.h, which is what to include. */
#ifndef RTE_MESSAGES_H
#define RTE_MESSAGES_H

#include "wire.h"

/*
 * Of each type below:
 *
 *	enum rte_bad rte_X_parse(struct rte_X *, const struct rte_packet *);
 *	ssize_t rte_X_pack(const struct rte_packet *, const struct rte_X *, void *buf,
 *			   size_t size);
 *
 * Packed are the header as packet->head has it, whose type is the message's, body, TLVs
 * and payload. The payload of MSG, WRITE and READ_FRAG is the caller's to send: behind
 * these bytes, or through the slot; head.plen is its length.
 *
 * status is 0 or FI_E*, by Linux's numbers; RTE_ERR says that it is not 0.
 */
#define RTE_MESSAGE(name)                                                      \
	enum rte_bad rte_##name##_parse(struct rte_##name *message,            \
					const struct rte_packet *packet);      \
	ssize_t rte_##name##_pack(const struct rte_packet *packet,             \
				  const struct rte_##name *message, void *buf, \
				  size_t size)

/* --- Two ends of a lower connection (hello.c) --- */

enum rte_feature {
	RTE_FEATURE_RMA = 1 << 0,
	RTE_FEATURE_CRC = 1 << 1,     /* fragments have a CRC32C */
	RTE_FEATURE_COMMIT = 1 << 2,  /* RTE_COMMIT, which each piece of a write has */
	RTE_FEATURE_DELIVER = 1 << 3, /* RTE_DELIVER */
	/*
	 * Of a CONN_REQ alone: nothing is to be connected. The router that would deliver
	 * it to the target answers RTE_ACCEPTED, the one that its ttl ends at RTE_FAILED
	 * with ETIME; each answer of a router has TLV PROBE. Its target's port is 0, so
	 * that routers which know no probes do not reach anybody either.
	 */
	RTE_FEATURE_PROBE = 1 << 4,
	/* Of an end, to the other end itself: it answers MR_RESOLVE, and requests of the
	 * other need not have all numbers. */
	RTE_FEATURE_BYPASS = 1 << 5,
	/* The same, between an end and the router next to it, which executes writes of
	 * the end's regions itself. */
	RTE_FEATURE_LASTHOP = 1 << 6,
	/* Of a HELLO: RTE_RECEIVES. Where both have it, recv_slots are receives at most,
	 * and each lane begins with RTE_RECEIVES_FIRST of them. */
	RTE_FEATURE_ELASTIC = 1 << 7,
};

#define RTE_RECEIVES_FIRST 1u

/* HELLO, HELLO_ACK. Flags: ERR. TLVs: URI, NAME, WHY. */
struct rte_hello {
	uint64_t features;		/* 24: enum rte_feature */
	uint64_t epoch;			/* 32: of the node's start */
	uint32_t frag_max;		/* 40: bytes of a landing slot that it fills */
	uint32_t eager_max;		/* 44: bytes of data in a Send to it */
	uint16_t recv_slots[RTE_LANES]; /* 48: receives posted, or at most */
	uint16_t land_slots[RTE_LANES]; /* 52: landing slots at most */
	uint32_t hb_ms;			/* 56: between two heartbeats; 0: none */
	uint32_t status;		/* 60: HELLO: 0 */
};
RTE_MESSAGE(hello);

#define RTE_HMAC_LEN 32u

/*
 * AUTH: the sender has that key. Where one of the preambles has RTE_PREAMBLE_AUTH, both
 * prove themselves: who connected, once it has HELLO_ACK, then who accepted, by the same
 * key. Nothing but HELLO, HELLO_ACK, AUTH and BYE is heard before. auth/auth.h has what
 * the HMAC-SHA256 is over. A proof that is none is answered with BYE, FI_EACCES.
 */
struct rte_auth_proof {
	uint32_t key_id;	    /* 24 */
	uint8_t step;		    /* 28: 1: of who connected, 2: of who accepted */
	uint8_t hmac[RTE_HMAC_LEN]; /* 32 */
};
RTE_MESSAGE(auth_proof);

/* BYE: the lower connection ends. Flags: ERR. TLVs: WHY. */
struct rte_bye {
	uint32_t status; /* 24: 0: in order */
};
RTE_MESSAGE(bye);

/*
 * HEARTBEAT. To a neighbour: rte_lsdb_hash of what the sender knows, and how many entries
 * that is. To a border: rte_key_hash of the AS_REACH that the sender has from it, and 1;
 * or 0 and 0.
 */
struct rte_heartbeat {
	uint64_t hash;	/* 24 */
	uint64_t stamp; /* 32: the sender's clock, ns */
	uint64_t echo;	/* 40: the newest stamp that the sender received, and ... */
	uint32_t held;	/* 48: ... us since then */
	uint32_t count; /* 52 */
};
RTE_MESSAGE(heartbeat);

/* --- What routers know (digest.c) --- */

struct rte_lsa_key {
	uint32_t as;	 /* 0 */
	uint64_t router; /* 8 */
	uint64_t epoch;	 /* 16 */
	uint64_t seq;	 /* 24 */
};

/*
 * DIGEST: all that is known, in as many messages as it takes, the last of which has
 * RTE_LAST. LSREQ: what is wanted; epoch and seq as the digest had them, or 0 and 0:
 * whatever there is. In ascending order of (AS, router). Flags of a DIGEST: LAST. The
 * payload is the keys.
 */
struct rte_lsa_keys {
	uint32_t count; /* 24 */
	struct rte_lsa_key key[RTE_LSA_KEYS_MAX];
};
RTE_MESSAGE(lsa_keys);

/* What it costs to come from a WAN into an AS, milli-units; or RTE_REACH_NONE. */
struct rte_reach_entry {
	uint32_t scope_as; /* 0: RTE_AS_WAN, or whom the WAN is private with */
	uint32_t subnet;   /* 4 */
	uint64_t cost;	   /* 8 */
	uint32_t hops;	   /* 16 */
};

/* AS_REACH: over which WANs a border router's own AS is reached; none: over none. The
 * newer of two has the higher (epoch, seq). The payload is the entries. */
struct rte_reach {
	uint32_t as;	 /* 24 */
	uint32_t count;	 /* 28 */
	uint64_t router; /* 32 */
	uint64_t epoch;	 /* 40 */
	uint64_t seq;	 /* 48 */
	struct rte_reach_entry entry[RTE_REACH_MAX];
};
RTE_MESSAGE(reach);

/* --- LSA (lsa.c, links.c, join.c) --- */

/*
 * LSA: a list of links, or a piece of one that is too long for a receive. The key (AS,
 * router, epoch, seq) is in each of them, so that what is no news needs no memory. Flags:
 * FIRST, LAST. The payload is the bytes of the list from offset on. A link of the list:
 *
 *	0  u32 subnet		16 u32 latency		32 u16 neighbours
 *	4  u32 scope_as		20 u32 cost		34 u8  length of the URI
 *	8  u64 rate		24 u32 frag_max		36 u32 length of all this
 *				28 u16 caps		40 neighbours, u64 each
 *				30 u8  state: 1: up	then the URI, and at least one 0
 *
 * and TLVs, none of which has a meaning. This is the document's Table III: AS ID (here
 *24, and scope_as), Subnet ID, Instance (epoch and seq), Rate (bit/s here), Caps, URI
 *Len, URI. Flags and caps without a name are handed on: they are the LSA's contents.
 */
struct rte_lsa_piece {
	uint32_t as;	   /* 24 */
	uint32_t flags;	   /* 28: enum rte_lsa_flag */
	uint64_t router;   /* 32 */
	uint64_t epoch;	   /* 40 */
	uint64_t seq;	   /* 48 */
	uint32_t lifetime; /* 56: ms */
	uint32_t load;	   /* 60: connections */
	uint32_t total;	   /* 64: bytes of the list */
	uint32_t offset;   /* 68 */
	uint16_t links;	   /* 72 */
};
RTE_MESSAGE(lsa_piece);

/* An LSA that was parsed: memory for as much as one may have. */
struct rte_lsa_room {
	struct rte_lsa lsa;
	struct rte_link link[RTE_LINKS_MAX];
	uint64_t neighbour[RTE_LSA_NEIGHBOURS];
};

/* The bytes that rte_lsa_pack uses; 0: it returns -FI_EINVAL. */
size_t rte_lsa_len(const struct rte_lsa *lsa);
/* One message with the whole list, RTE_FIRST and RTE_LAST: to be sent as it is, or cut.
 */
ssize_t rte_lsa_pack(const struct rte_packet *packet, const struct rte_lsa *lsa,
		     void *buf, size_t size);
/*
 * The next message of at most size bytes. *done is the bytes of whole that are in those
 * before it, 0 at first. Returns 0: that was all; -FI_EINVAL: whole is not what
 * rte_lsa_pack packed; -FI_ETOOSMALL: not even 8 bytes of the list would be in it.
 */
ssize_t rte_lsa_cut(const void *whole, size_t len, size_t *done, void *buf, size_t size);
/*
 * The whole list: the payload of a message with RTE_FIRST and RTE_LAST, or what was
 * joined. The URIs of room->lsa point into it. RTE_BAD_PIECE: it is not whole. Whether
 * what it says makes sense is rte_lsa_check's to judge.
 */
enum rte_bad rte_lsa_parse(struct rte_lsa_room *room, const struct rte_lsa_piece *piece,
			   const void *list, size_t len);

/* Pieces that arrive in order, from one sender; those of one list at a time. */
struct rte_join {
	uint8_t *list; /* the caller's memory */
	size_t size;   /* bytes of it; RTE_LSA_LIST_MAX suffice */
	size_t have;
	struct rte_lsa_piece first; /* what they are pieces of */
};

void rte_join_init(struct rte_join *join, void *list, size_t size);
/*
 * RTE_OK: it was the last one, join->first and join->list are for rte_lsa_parse;
 * RTE_MORE; RTE_BAD_PIECE: it is dropped, as are those before it; RTE_BAD_LIMIT: its list
 * is longer than size. One with RTE_FIRST begins anew.
 */
enum rte_bad rte_join_put(struct rte_join *join, const struct rte_lsa_piece *piece,
			  const struct rte_packet *packet);

/* --- Connections (conn.c) --- */

#define RTE_CONN_ID_LEN 16u

/* An endpoint: what its FI_SOCKADDR_IN6 says. */
struct rte_end {
	uint32_t as;	   /* 0 */
	uint32_t subnet;   /* 4 */
	uint32_t host;	   /* 8: IPv4 address 1.2.3.4: 0x01020304; or an alias */
	uint16_t port;	   /* 12 */
	uint8_t transport; /* 14 */
};

/*
 * CONN_REQ. What a path can do is narrowed from router to router. TLVs: PATH (written by
 * the first router of an AS: all of it, with what was behind it), SOURCE, TARGET. The
 * payload is the application's, at most RTE_PARAM_MAX bytes.
 */
struct rte_conn_req {
	uint8_t id[RTE_CONN_ID_LEN]; /* 24: random */
	struct rte_end source;	     /* 40 */
	struct rte_end target;	     /* 56 */
	uint8_t ttl;		     /* 72: routers that may still follow */
	uint32_t frag;		     /* 76: bytes */
	uint32_t eager;		     /* 80: bytes */
	uint32_t timeout;	     /* 84: ms that are left */
	uint64_t features;	     /* 88: enum rte_feature */
	uint64_t rate;		     /* 96: bit/s, the lowest so far; 0: unknown */
	uint32_t latency;	     /* 104: ns, the sum so far */
};
RTE_MESSAGE(conn_req);

enum rte_verdict {
	RTE_ACCEPTED = 1,
	RTE_REJECTED = 2, /* by the application; FI_ECONNREFUSED is its alone */
	RTE_FAILED = 3,	  /* on the way, at router */
	RTE_REDIRECT = 4, /* ask who TLV URI says */
};

/*
 * CONN_REP. Flags: ERR. TLVs: PATH, URI, WHY, PROBE. The payload is the application's, at
 * most RTE_PARAM_MAX bytes. status is 0 with RTE_ACCEPTED alone, as what the path can do
 * means something with it alone.
 */
struct rte_conn_rep {
	uint8_t id[RTE_CONN_ID_LEN]; /* 24: of the request */
	uint32_t status;	     /* 40 */
	uint8_t verdict;	     /* 44: enum rte_verdict */
	uint64_t router;   /* 48: who failed, redirects, answers a probe; 0: the target */
	uint64_t features; /* 56 */
	uint64_t rate;	   /* 64: bit/s */
	uint32_t latency;  /* 72: ns */
	uint32_t frag;	   /* 76: bytes */
	uint32_t eager;	   /* 80: bytes */
};
RTE_MESSAGE(conn_rep);

/* CONN_ACK. Flags: ERR: the client has given up. */
struct rte_conn_ack {
	uint8_t id[RTE_CONN_ID_LEN]; /* 24 */
	uint32_t status;	     /* 40 */
};
RTE_MESSAGE(conn_ack);

/* SHUTDOWN. Flags: ERR; LAST: what was still on its way has had its time, so who passes
 * it on waits for nothing more. TLVs: WHY. */
struct rte_shutdown {
	uint8_t id[RTE_CONN_ID_LEN]; /* 24 */
	uint64_t router;	     /* 40: who says so; 0: the other end */
	uint32_t status;	     /* 48: 0: in order */
};
RTE_MESSAGE(shutdown);

/* --- Data (data.c) --- */

/*
 * The parts of one operation. slot says where the payload is: behind the message
 * (RTE_SLOT_NONE, at most RTE_EAGER_MAX bytes), or in that landing slot of the lane, into
 * which it was written before the message (at most RTE_FRAG_MAX bytes). RTE_FIRST: the
 * offset is 0; RTE_LAST: the payload ends where the operation does. None is empty, unless
 * the operation is. crc is the CRC32C of the payload. TLVs: ACK.
 *
 * MSG. Flags: all but ERR.
 */
struct rte_msg {
	uint32_t slot;	  /* 24 */
	uint32_t crc;	  /* 28 */
	uint64_t length;  /* 32: bytes of the whole message */
	uint64_t offset;  /* 40: of the payload in it */
	uint64_t cq_data; /* 48 */
};
RTE_MESSAGE(msg);

/* What comes before the payload of a MSG without TLVs. */
#define RTE_MSG_WHOLE 56u
/*
 * The same bytes as rte_msg_pack of a message that is one part, of at most RTE_EAGER_MAX
 * bytes in its Send, without TLVs and cq_data. flags: FIRST and LAST among them, and
 * those that the message may have.
 */
void rte_msg_whole_pack(uint64_t seq, uint8_t flags, uint32_t length,
			uint8_t buf[RTE_MSG_WHOLE]);

/* WRITE. Flags: all but ERR. */
struct rte_write {
	uint32_t slot;	  /* 24 */
	uint32_t crc;	  /* 28 */
	uint64_t length;  /* 32: bytes of the whole write */
	uint64_t offset;  /* 40: of the payload in it */
	uint64_t cq_data; /* 48 */
	uint64_t addr;	  /* 56: of the write in the region, which begins at 0 */
	uint64_t key;	  /* 64: routed key of the region */
};
RTE_MESSAGE(write);

/* READ_REQ. TLVs: ACK. */
struct rte_read_req {
	uint64_t length; /* 24: bytes, not 0 */
	uint64_t addr;	 /* 32: in the region */
	uint64_t key;	 /* 40 */
	uint32_t window; /* 48: READ_FRAGs that may be outstanding, not 0 */
	uint32_t frag;	 /* 52: bytes of each, at most */
};
RTE_MESSAGE(read_req);

/* READ_FRAG. Flags: FIRST, LAST, CRC. */
struct rte_read_frag {
	uint32_t slot;	  /* 24 */
	uint32_t crc;	  /* 28 */
	uint64_t length;  /* 32: bytes of the whole read */
	uint64_t offset;  /* 40: of the payload in it */
	uint64_t request; /* 48: seq of the READ_REQ */
};
RTE_MESSAGE(read_frag);

/* --- Flow (flow.c) --- */

struct rte_grant_slot {
	uint64_t addr; /* 0: at the lower provider */
	uint64_t key;  /* 8: at the lower provider */
	uint32_t id;   /* 16: below RTE_SLOTS_MAX */
	uint32_t len;  /* 20: bytes, not 0 */
};

/* GRANT: landing slots of one lane that may be filled, once each. The payload is the
 * slots. */
struct rte_grant {
	uint32_t count; /* 24 */
	uint8_t lane;	/* 28: enum rte_lane */
	struct rte_grant_slot slot[RTE_GRANT_MAX];
};
RTE_MESSAGE(grant);

/* ACK: all requests up to that one have reached what they asked for. */
struct rte_ack {
	uint64_t request; /* 24: its seq */
};
RTE_MESSAGE(ack);

/* NACK: that request has failed. Flags: ERR. TLVs: WHY. */
struct rte_nack {
	uint64_t request;     /* 24: its seq */
	uint64_t router;      /* 32: where; 0: the target */
	uint32_t status;      /* 40: not 0 */
	uint32_t prov_status; /* 44: the lower provider's code */
};
RTE_MESSAGE(nack);

/* KEEPALIVE: stamps as of a heartbeat, or credits alone. Flags: ACKREQ. */
struct rte_keepalive {
	uint64_t stamp; /* 24: ns */
	uint64_t echo;	/* 32 */
};
RTE_MESSAGE(keepalive);

/*
 * RECEIVES: those of one lane become more or fewer (RTE_FEATURE_ELASTIC). It needs no
 * credit but for `given`, which gives one back: it takes the receive of that credit, and
 * that receive is not posted again.
 */
struct rte_receives {
	uint8_t lane;	/* 24: enum rte_lane */
	uint8_t given;	/* 25: 1: a credit that the other end has asked for */
	uint16_t more;	/* 26: receives that the sender has posted besides */
	uint16_t asked; /* 28: credits that the sender wants back, beside earlier ones */
};
RTE_MESSAGE(receives);

/* --- Memory regions (mr.c) --- */

enum rte_access { RTE_ACCESS_READ = 1 << 0, RTE_ACCESS_WRITE = 1 << 1 };

/* Who says that a region is persistent. */
enum rte_persist { RTE_PERSIST_NONE, RTE_PERSIST_DETECTED, RTE_PERSIST_DECLARED };

/* MR_RESOLVE: what is that key of the target's? */
struct rte_mr_resolve {
	uint64_t key; /* 24: the routed one */
};
RTE_MESSAGE(mr_resolve);

/* MR_INFO. Flags: ERR. */
struct rte_mr_info {
	uint64_t request;   /* 24: seq of the MR_RESOLVE */
	uint64_t key;	    /* 32: the routed one */
	uint64_t lower_key; /* 40 */
	uint64_t base;	    /* 48: lower address of the region's byte 0 */
	uint64_t length;    /* 56: bytes */
	uint64_t epoch;	    /* 64: of this use of the key */
	uint32_t access;    /* 72: enum rte_access */
	uint8_t persist;    /* 76: enum rte_persist */
	uint32_t status;    /* 80 */
};
RTE_MESSAGE(mr_info);

/* MR_INVAL: the key means nothing any more. Flags: ACKREQ: the target, and asks for the
 * same without it, from who has forgotten it. */
struct rte_mr_inval {
	uint64_t key;	/* 24: the routed one */
	uint64_t epoch; /* 32 */
};
RTE_MESSAGE(mr_inval);

#undef RTE_MESSAGE

#endif
