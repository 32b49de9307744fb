/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of any type, for unit tests and fuzz targets: what the functions of each have
 * in common, and its fields by name, from the codec's own lists of them. */
#ifndef ROUTE_WIRE_ANY_H
#define ROUTE_WIRE_ANY_H

#include "wire/wire.h"

struct any {
	struct rte_packet packet;
	union {
		struct rte_hello hello;
		struct rte_auth_proof auth_proof;
		struct rte_bye bye;
		struct rte_heartbeat heartbeat;
		struct rte_lsa_keys lsa_keys;
		struct rte_reach reach;
		struct rte_lsa_piece lsa_piece;
		struct rte_conn_req conn_req;
		struct rte_conn_rep conn_rep;
		struct rte_conn_ack conn_ack;
		struct rte_shutdown shutdown;
		struct rte_msg msg;
		struct rte_write write;
		struct rte_read_req read_req;
		struct rte_read_frag read_frag;
		struct rte_grant grant;
		struct rte_ack ack;
		struct rte_nack nack;
		struct rte_keepalive keepalive;
		struct rte_receives receives;
		struct rte_mr_resolve mr_resolve;
		struct rte_mr_info mr_info;
		struct rte_mr_inval mr_inval;
	} body;
};

struct any_field {
	const char *name; /* "": reserved */
	uint16_t at;
	uint16_t size;
};

struct any_kind {
	uint8_t type; /* enum rte_message */
	const struct any_field *fields;
	size_t count;
	/* Of a list's entries; NULL: it is none. */
	const struct any_field *entry;
	size_t entry_count;
	size_t entry_len;
	enum rte_bad (*parse)(struct any *any);
	ssize_t (*pack)(const struct any *any, void *buf, size_t size);
	/* NULL, or the name of a field in which they differ. */
	const char *(*differ)(const struct any *a, const struct any *b);
};

extern const struct any_kind any_kinds[];
extern const size_t any_kind_count;
/* NULL: none is of that type. */
const struct any_kind *any_kind(uint8_t type);

/* Packet and body. */
enum rte_bad any_parse(struct any *any, const void *bytes, size_t len);
ssize_t any_pack(const struct any *any, void *buf, size_t size);
/* And the payload of data behind it, as a Send would have it. */
ssize_t any_pack_all(const struct any *any, void *buf, size_t size);
/* What counts in header, TLVs, body and payload. NULL: it is the same, or a name. */
const char *any_differ(const struct any *a, const struct any *b);
/* The first bytes of a message, up to its TLVs, without what is reserved. */
size_t any_without_reserved(uint8_t type, const uint8_t *bytes, uint8_t *out);

#endif
