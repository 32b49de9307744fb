/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which field is where: a list of F(byte, kind, field) for each message and for each
 * entry of a list, which covers all of its bytes. U* are numbers of so many bits, B* so
 * many bytes as they are, Z* so many that are reserved.
 */
#ifndef RTE_FIELDS_H
#define RTE_FIELDS_H

/* clang-format off */
#define RTE_PREAMBLE_FIELDS(F) \
	F(4, U8, major) \
	F(5, U8, minor_max) \
	F(6, U8, role) \
	F(7, U8, flags) \
	F(8, U64, node) \
	F(16, U64, nonce) \
	F(24, U32, as) \
	F(28, U32, subnet)

/* From the second byte on. */
#define RTE_HEAD_FIELDS(F) \
	F(1, U8, minor) \
	F(2, U8, type) \
	F(3, U8, flags) \
	F(4, U16, hlen) \
	F(6, U8, credit[RTE_REQUESTS]) \
	F(7, U8, credit[RTE_RESPONSES]) \
	F(8, U32, vc) \
	F(12, U32, plen) \
	F(16, U64, seq)

#define RTE_HOP_FIELDS(F) \
	F(0, U64, router) \
	F(8, U32, scope_as) \
	F(12, U32, subnet)

#define RTE_PROBE_FIELDS(F) \
	F(0, U32, queued) \
	F(4, U32, connections) \
	F(8, U64, arena)

#define RTE_HELLO_FIELDS(F) \
	F(24, U64, features) \
	F(32, U64, epoch) \
	F(40, U32, frag_max) \
	F(44, U32, eager_max) \
	F(48, U16, recv_slots[RTE_REQUESTS]) \
	F(50, U16, recv_slots[RTE_RESPONSES]) \
	F(52, U16, land_slots[RTE_REQUESTS]) \
	F(54, U16, land_slots[RTE_RESPONSES]) \
	F(56, U32, hb_ms) \
	F(60, U32, status)

#define RTE_AUTH_FIELDS(F) \
	F(24, U32, key_id) \
	F(28, U8, step) \
	F(29, Z1, ) \
	F(30, Z2, ) \
	F(32, B32, hmac)

#define RTE_BYE_FIELDS(F) \
	F(24, U32, status) \
	F(28, Z4, )

#define RTE_HEARTBEAT_FIELDS(F) \
	F(24, U64, hash) \
	F(32, U64, stamp) \
	F(40, U64, echo) \
	F(48, U32, held) \
	F(52, U32, count)

#define RTE_LSA_KEYS_FIELDS(F) \
	F(24, U32, count) \
	F(28, Z4, )

#define RTE_LSA_KEY_FIELDS(F) \
	F(0, U32, as) \
	F(4, Z4, ) \
	F(8, U64, router) \
	F(16, U64, epoch) \
	F(24, U64, seq)

#define RTE_REACH_FIELDS(F) \
	F(24, U32, as) \
	F(28, U32, count) \
	F(32, U64, router) \
	F(40, U64, epoch) \
	F(48, U64, seq)

#define RTE_REACH_ENTRY_FIELDS(F) \
	F(0, U32, scope_as) \
	F(4, U32, subnet) \
	F(8, U64, cost) \
	F(16, U32, hops) \
	F(20, Z4, )

#define RTE_LSA_PIECE_FIELDS(F) \
	F(24, U32, as) \
	F(28, U32, flags) \
	F(32, U64, router) \
	F(40, U64, epoch) \
	F(48, U64, seq) \
	F(56, U32, lifetime) \
	F(60, U32, load) \
	F(64, U32, total) \
	F(68, U32, offset) \
	F(72, U16, links) \
	F(74, Z2, ) \
	F(76, Z4, )

/* A link begins with these; struct rte_link_head of links.c. */
#define RTE_LINK_HEAD_FIELDS(F) \
	F(0, U32, subnet) \
	F(4, U32, scope_as) \
	F(8, U64, rate) \
	F(16, U32, latency) \
	F(20, U32, cost) \
	F(24, U32, frag_max) \
	F(28, U16, caps) \
	F(30, U8, state) \
	F(31, Z1, ) \
	F(32, U16, neighbours) \
	F(34, U8, uri_len) \
	F(35, Z1, ) \
	F(36, U32, length)

#define RTE_CONN_REQ_FIELDS(F) \
	F(24, B16, id) \
	F(40, U32, source.as) \
	F(44, U32, source.subnet) \
	F(48, U32, source.host) \
	F(52, U16, source.port) \
	F(54, U8, source.transport) \
	F(55, Z1, ) \
	F(56, U32, target.as) \
	F(60, U32, target.subnet) \
	F(64, U32, target.host) \
	F(68, U16, target.port) \
	F(70, U8, target.transport) \
	F(71, Z1, ) \
	F(72, U8, ttl) \
	F(73, Z1, ) \
	F(74, Z2, ) \
	F(76, U32, frag) \
	F(80, U32, eager) \
	F(84, U32, timeout) \
	F(88, U64, features) \
	F(96, U64, rate) \
	F(104, U32, latency) \
	F(108, Z4, )

#define RTE_CONN_REP_FIELDS(F) \
	F(24, B16, id) \
	F(40, U32, status) \
	F(44, U8, verdict) \
	F(45, Z1, ) \
	F(46, Z2, ) \
	F(48, U64, router) \
	F(56, U64, features) \
	F(64, U64, rate) \
	F(72, U32, latency) \
	F(76, U32, frag) \
	F(80, U32, eager) \
	F(84, Z4, )

#define RTE_CONN_ACK_FIELDS(F) \
	F(24, B16, id) \
	F(40, U32, status) \
	F(44, Z4, )

#define RTE_SHUTDOWN_FIELDS(F) \
	F(24, B16, id) \
	F(40, U64, router) \
	F(48, U32, status) \
	F(52, Z4, )

/* Where every body of data has its slot. */
#define RTE_SLOT_AT RTE_HEAD_LEN

#define RTE_MSG_FIELDS(F) \
	F(24, U32, slot) \
	F(28, U32, crc) \
	F(32, U64, length) \
	F(40, U64, offset) \
	F(48, U64, cq_data)

#define RTE_WRITE_FIELDS(F) \
	F(24, U32, slot) \
	F(28, U32, crc) \
	F(32, U64, length) \
	F(40, U64, offset) \
	F(48, U64, cq_data) \
	F(56, U64, addr) \
	F(64, U64, key)

#define RTE_READ_REQ_FIELDS(F) \
	F(24, U64, length) \
	F(32, U64, addr) \
	F(40, U64, key) \
	F(48, U32, window) \
	F(52, U32, frag)

#define RTE_READ_FRAG_FIELDS(F) \
	F(24, U32, slot) \
	F(28, U32, crc) \
	F(32, U64, length) \
	F(40, U64, offset) \
	F(48, U64, request)

#define RTE_GRANT_FIELDS(F) \
	F(24, U32, count) \
	F(28, U8, lane) \
	F(29, Z1, ) \
	F(30, Z2, )

#define RTE_SLOT_FIELDS(F) \
	F(0, U64, addr) \
	F(8, U64, key) \
	F(16, U32, id) \
	F(20, U32, len)

#define RTE_ACK_FIELDS(F) F(24, U64, request)

#define RTE_NACK_FIELDS(F) \
	F(24, U64, request) \
	F(32, U64, router) \
	F(40, U32, status) \
	F(44, U32, prov_status)

#define RTE_KEEPALIVE_FIELDS(F) \
	F(24, U64, stamp) \
	F(32, U64, echo)

#define RTE_RECEIVES_FIELDS(F) \
	F(24, U8, lane) \
	F(25, U8, given) \
	F(26, U16, more) \
	F(28, U16, asked) \
	F(30, Z2, )

#define RTE_MR_RESOLVE_FIELDS(F) F(24, U64, key)

#define RTE_MR_INFO_FIELDS(F) \
	F(24, U64, request) \
	F(32, U64, key) \
	F(40, U64, lower_key) \
	F(48, U64, base) \
	F(56, U64, length) \
	F(64, U64, epoch) \
	F(72, U32, access) \
	F(76, U8, persist) \
	F(77, Z1, ) \
	F(78, Z2, ) \
	F(80, U32, status) \
	F(84, Z4, )

#define RTE_MR_INVAL_FIELDS(F) \
	F(24, U64, key) \
	F(32, U64, epoch)
/* clang-format on */

#endif
