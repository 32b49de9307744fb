/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What endpoints and routers of route say to each other, byte by byte: the preamble in
 * the private data of a lower connection, and the messages that travel in its Sends.
 * Seed document "Routing Heterogeneous CCI Subnets", section VII, with the deviations
 * that fi_route(7) lists. Pure functions over bytes: no allocation, no log, no clock, no
 * state, any thread, any alignment.
 *
 * Numbers are little endian. A message is
 *
 *	common header (24 bytes) | body (of the type's size) | TLVs | payload
 *
 * in which hlen bytes come before the payload, and plen are the payload; headers, bodies
 * and TLVs take multiples of 8 bytes. The number at the beginning of a field's comment is
 * the byte of the message, or of the entry of a list, where it begins; as many bytes as
 * its type has are its own. Bytes that belong to no field, bits without a name, and flags
 * that a type does not have are reserved: 0 when sent, ignored when received.
 *
 * Versions: the major version of both ends must be the same, and of the minor ones the
 * lower is spoken (rte_preamble_minor). A later minor version adds types, TLVs, flags and
 * meanings of reserved bits, and never changes a body's size. Unknown TLVs are passed
 * over, those with the critical bit refused. A router that packs a message again leaves
 * out what it does not know: what the whole path has to know is in effect only if all of
 * it does.
 *
 * Functions that parse return what is wrong (enum rte_bad), and then the rest of what
 * they set means nothing. Pointers that they set point into the bytes. Functions that
 * pack return the bytes used, or
 *	-FI_EINVAL: the message would not be accepted
 *	-FI_ETOOSMALL: there is not enough room; what is in buf means nothing
 */
#ifndef RTE_WIRE_H
#define RTE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "topo/topo.h"

#define RTE_MAJOR 1u
#define RTE_MINOR 0u /* the newest that is spoken here */

/* Bounds of what is accepted, and packed. */
#define RTE_HEAD_LEN 24u
#define RTE_HLEN_MAX 4096u
#define RTE_EAGER_MAX 65536u	 /* bytes of data in a Send */
#define RTE_FRAG_MIN 4096u	 /* bytes of data in a slot: the largest of one who ... */
#define RTE_FRAG_MAX 16777216u	 /* ... can little, and of anybody */
#define RTE_SLOTS_MAX 4096u	 /* landing slots of a lane, and receives */
#define RTE_PARAM_MAX 1024u	 /* bytes of CM data of the application */
#define RTE_TTL_MAX 16u		 /* routers on a path */
#define RTE_TEXT_MAX 255u	 /* bytes of a text, without the final 0 */
#define RTE_TIME_MAX 3600000u	 /* ms */
#define RTE_STATUS_MAX 4095u	 /* FI_E* */
#define RTE_LSA_KEYS_MAX 256u	 /* entries of a DIGEST or an LSREQ */
#define RTE_REACH_MAX 64u	 /* entries of an AS_REACH */
#define RTE_GRANT_MAX 64u	 /* slots of a GRANT */
#define RTE_LSA_LIST_MAX 327680u /* bytes of the links of an LSA */
#define RTE_LSA_NEIGHBOURS 32768u /* of all links of an LSA */
#define RTE_SLOT_NONE UINT32_MAX  /* the data is in the Send */
#define RTE_REACH_NONE UINT64_MAX /* a cost: not reachable */

/* What is wrong with bytes. */
enum rte_bad {
	RTE_OK,
	RTE_MORE,	  /* nothing: pieces are missing (rte_join_put) */
	RTE_BAD_SHORT,	  /* end before their lengths say so */
	RTE_BAD_MAGIC,	  /* are not of this protocol */
	RTE_BAD_MAJOR,	  /* another major version */
	RTE_BAD_MINOR,	  /* a minor version above RTE_MINOR */
	RTE_BAD_TYPE,	  /* no such message, or not the one that is parsed */
	RTE_BAD_HLEN,	  /* hlen: no multiple of 8, too short for the body, too long */
	RTE_BAD_PLEN,	  /* plen: not what comes with the message, or what it lists */
	RTE_BAD_FLAGS,	  /* contradict each other, or the body */
	RTE_BAD_TLV,	  /* a TLV that ends too late, comes twice, or is malformed */
	RTE_BAD_CRITICAL, /* an unknown TLV with the critical bit */
	RTE_BAD_TEXT,	  /* a text without its end, or not of printable ASCII */
	RTE_BAD_LIMIT,	  /* a number beyond its bound */
	RTE_BAD_RANGE,	  /* offsets and lengths that do not go together */
	RTE_BAD_ORDER,	  /* a list out of order, or with something twice */
	RTE_BAD_VALUE,	  /* a number without a meaning */
	RTE_BAD_PIECE,	  /* not the piece that comes next (rte_join_put) */
	RTE_BADS,
};

/* For a log: "it ends too early". */
const char *rte_bad_text(enum rte_bad bad);

/* --- The preamble (preamble.c): private data of a lower connection, both ways, and of a
 * reject that says more than that it is one --- */

#define RTE_PREAMBLE_LEN 32u

enum rte_role { RTE_CLIENT = 1, RTE_ROUTER = 2, RTE_TARGET = 3 };

enum rte_preamble_flag {
	RTE_PREAMBLE_AUTH = 1 << 0, /* speaks to nobody who does not send AUTH */
	RTE_PREAMBLE_FULL = 1 << 1, /* of who rejects: it has no room now */
	/* Of a router: a connection follows that it passes on, and no adjacency. Not said
	 * by routers that do not know it. */
	RTE_PREAMBLE_CONN = 1 << 2,
	/* Has a key, and proves itself by AUTH where one of both has RTE_PREAMBLE_AUTH.
	 * Not said by those that do not know AUTH. */
	RTE_PREAMBLE_KEY = 1 << 3,
	/* Of who rejects: there will be no proof, of one or the other. */
	RTE_PREAMBLE_DENIED = 1 << 4,
	RTE_PREAMBLE_FLAGS = (1 << 5) - 1,
};

/* Bytes 0 to 3 are "FRT1". */
struct rte_preamble {
	uint8_t major;	   /* 4 */
	uint8_t minor_max; /* 5 */
	uint8_t role;	   /* 6: enum rte_role */
	uint8_t flags;	   /* 7: enum rte_preamble_flag */
	uint64_t node;	   /* 8: the router's id, or a random one; not 0 */
	uint64_t nonce;	   /* 16: another one for each connection */
	uint32_t as;	   /* 24: of the device */
	uint32_t subnet;   /* 28: of the device */
};

void rte_preamble_pack(const struct rte_preamble *preamble,
		       uint8_t buf[RTE_PREAMBLE_LEN]);
/* What follows the 32 bytes is not looked at: lower providers fill up with zeros. With
 * RTE_BAD_MAJOR, major is set. */
enum rte_bad rte_preamble_parse(struct rte_preamble *preamble, const void *bytes,
				size_t len);
/* The minor version that is spoken with that peer by one who speaks up to mine. */
uint8_t rte_preamble_minor(const struct rte_preamble *peer, uint8_t mine);

/* --- Every message (packet.c, tlv.c) --- */

enum rte_message {
	RTE_HELLO = 0x01,
	RTE_HELLO_ACK = 0x02,
	RTE_AUTH = 0x03,
	RTE_DIGEST = 0x10,
	RTE_LSREQ = 0x11,
	RTE_LSA = 0x12,
	RTE_AS_REACH = 0x13,
	RTE_HEARTBEAT = 0x14,
	RTE_BYE = 0x15,
	RTE_CONN_REQ = 0x20,
	RTE_CONN_REP = 0x21,
	RTE_CONN_ACK = 0x22,
	RTE_SHUTDOWN = 0x23,
	RTE_MSG = 0x30,
	RTE_WRITE = 0x31,
	RTE_READ_REQ = 0x32,
	RTE_READ_FRAG = 0x33,
	RTE_GRANT = 0x34,
	RTE_ACK = 0x35,
	RTE_NACK = 0x36,
	RTE_MR_RESOLVE = 0x37,
	RTE_MR_INFO = 0x38,
	RTE_MR_INVAL = 0x39,
	RTE_KEEPALIVE = 0x3a,
	RTE_RECEIVES = 0x3b,
	RTE_TYPES = 0x40,
};

/*
 * Who is to acknowledge an operation: with RTE_ACKREQ the last router, once the lower
 * provider says that it has arrived; with RTE_DELIVER or RTE_COMMIT as well, the target.
 * The ACK of a write with RTE_COMMIT says that it is persistent; with both, that
 * everything is which the connection has delivered, up to that write.
 */
enum rte_flag {
	RTE_FIRST = 1 << 0,   /* the first part of something */
	RTE_LAST = 1 << 1,    /* the last part of something */
	RTE_ACKREQ = 1 << 2,  /* an ACK or an answer is asked for */
	RTE_CQDATA = 1 << 3,  /* cq_data means something */
	RTE_ERR = 1 << 4,     /* status is not 0 */
	RTE_CRC = 1 << 5,     /* crc means something */
	RTE_COMMIT = 1 << 6,  /* of writes; needs RTE_ACKREQ */
	RTE_DELIVER = 1 << 7, /* needs RTE_ACKREQ */
};

/*
 * The two lanes of a connection in each direction, with credits and slots of their own:
 * requests wait for receives of the application, and responses never do.
 */
enum rte_lane { RTE_REQUESTS, RTE_RESPONSES, RTE_LANES };

/* Byte 0 is 0xc9. */
struct rte_head {
	uint8_t minor; /* 1: that was agreed on */
	uint8_t type;  /* 2: enum rte_message */
	uint8_t flags; /* 3: enum rte_flag */
	uint16_t hlen; /* 4: bytes before the payload; pack sets it */
	/* 6: credits returned, of each lane: the sender has posted so many more receives
	 * since it last said so. */
	uint8_t credit[RTE_LANES];
	uint32_t vc; /* 8: the connection, as the receiver numbers it; 0: none */
	/* 12: bytes of payload, which follow or are in a slot; pack sets it where it
	 * packs the payload itself */
	uint32_t plen;
	/* 16: number of the request on its connection and direction, 1, 2, ...: all parts
	 * of it have the same, and routers hand it on; 0: it is none */
	uint64_t seq;
};

/*
 * TLVs: type (2 bytes; bit 15: critical), length of the value (2), the value, zeros up to
 * a multiple of 8. In any order, none of them twice. One of type 0 fills up. A text is 1
 * to RTE_TEXT_MAX bytes of printable ASCII, and a final 0.
 */
enum rte_tlv {
	RTE_TLV_ACK = 1,    /* critical. u64: what an ACK says, on the way back */
	RTE_TLV_PATH = 2,   /* critical. 1 to RTE_TTL_MAX struct rte_hop */
	RTE_TLV_URI = 3,    /* critical. Text: where somebody is reached */
	RTE_TLV_NAME = 4,   /* text: who that is, for people */
	RTE_TLV_WHY = 5,    /* text: what happened, for people */
	RTE_TLV_SOURCE = 6, /* critical. Text: the address that host is an alias of */
	RTE_TLV_TARGET = 7, /* critical. Text: the same, of the target */
	RTE_TLV_PROBE = 8,  /* struct rte_probe: who answers a probe */
	RTE_TLVS = 9,
};

/* How a router is that answers a probe. */
struct rte_probe {
	uint32_t queued;      /* 0: messages that wait to be sent on */
	uint32_t connections; /* 4 */
	uint64_t arena;	      /* 8: bytes of its memory for messages that are in use */
};

/* A router of a path, and the subnet on which it goes on. */
struct rte_hop {
	uint64_t router;   /* 0 */
	uint32_t scope_as; /* 8 */
	uint32_t subnet;   /* 12 */
};

/* What present does not name means nothing. */
struct rte_options {
	uint32_t present; /* 1 << RTE_TLV_*, ... */
	uint32_t hops;
	uint64_t ack;
	const char *text[RTE_TLVS]; /* RTE_TLV_URI, ... */
	struct rte_hop hop[RTE_TTL_MAX];
	struct rte_probe probe;
};

/* A message but for its body. */
struct rte_packet {
	struct rte_head head;
	const uint8_t *bytes;	/* parsed: the message */
	const uint8_t *payload; /* head.plen bytes; parsed, and in a slot: NULL */
	struct rte_options options;
};

/*
 * All but the body and the entries of a list; what Send brought is one message, no more
 * and no less. The function of its type follows.
 */
enum rte_bad rte_packet_parse(struct rte_packet *packet, const void *bytes, size_t len);

/* "CONN_REQ"; NULL: there is no such type. */
const char *rte_message_name(uint8_t type);
/* RTE_LANES: it belongs to no connection, or makes and ends one. */
enum rte_lane rte_message_lane(uint8_t type);

#include "messages.h"

#endif
