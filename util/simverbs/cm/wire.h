/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of the connection manager between two processes: the ones of the InfiniBand
 * Architecture Specification, volume 1, section 12.6, with the fields that a software
 * device needs. Packing and parsing are pure.
 */
#ifndef SVB_CM_WIRE_H
#define SVB_CM_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum svb_cm_type {
	SVB_CM_REQ = 1,
	SVB_CM_REP,
	SVB_CM_RTU,
	SVB_CM_REJ,
	SVB_CM_DREQ,
	SVB_CM_DREP,
	SVB_CM_SIDR_REQ,
	SVB_CM_SIDR_REP,
	SVB_CM_TYPES
};

/* Private data that rdma_cm leaves to the program: its header takes 36 bytes of a
 * request. */
#define SVB_CM_REQ_DATA 56
#define SVB_CM_REP_DATA 196
#define SVB_CM_REJ_DATA 148
#define SVB_CM_SIDR_REQ_DATA 180
#define SVB_CM_SIDR_REP_DATA 136
/* iWARP: whatever struct rdma_conn_param can name. */
#define SVB_CM_MAX_DATA 255

/* Reasons of a rejection (section 12.6.7.2), and of SIDR (12.11.2.1). */
#define SVB_CM_REJ_TIMEOUT 4
#define SVB_CM_REJ_NOBODY 8
#define SVB_CM_REJ_CONSUMER 28
#define SVB_CM_SIDR_NOBODY 1
#define SVB_CM_SIDR_REJECT 2

enum svb_cm_family { SVB_CM_INET, SVB_CM_INET6, SVB_CM_IB };

struct svb_cm_wire_addr {
	uint8_t family;	  /* enum svb_cm_family */
	uint16_t port;	  /* host byte order */
	uint32_t scope;	  /* AF_IB: the P_Key */
	uint8_t addr[16]; /* network byte order; IPv4 in the first four */
};

struct svb_cm_msg {
	enum svb_cm_type type;
	uint32_t from; /* tokens of processes (shared/registry.h) */
	uint32_t to;
	uint32_t from_id; /* handles of ids */
	uint32_t to_id;
	uint32_t ps; /* enum rdma_port_space */
	uint32_t qpn;
	uint32_t psn;
	uint32_t qkey;
	uint32_t reason; /* of a rejection or of SIDR; 0: accepted */
	uint32_t ece_vendor;
	uint32_t ece_options;
	uint8_t responder_resources; /* from the sender's point of view */
	uint8_t initiator_depth;
	uint8_t retry_count;
	uint8_t rnr_retry_count;
	uint8_t flow_control;
	uint8_t srq;
	struct svb_cm_wire_addr src; /* requests */
	struct svb_cm_wire_addr dst;
	uint8_t data_len;
	uint8_t data[SVB_CM_MAX_DATA];
};

/* Bytes of the longest message. */
#define SVB_CM_MSG_MAX (4 + 11 * 4 + 6 + 2 * 23 + 1 + SVB_CM_MAX_DATA)

/* Returns the length. */
size_t svb_cm_pack(uint8_t buf[SVB_CM_MSG_MAX], const struct svb_cm_msg *msg);

/* False for anything that svb_cm_pack would not have made. */
bool svb_cm_parse(struct svb_cm_msg *msg, const uint8_t *buf, size_t len);

/* Most private data of a type of message. */
uint8_t svb_cm_data_max(enum svb_cm_type type, bool iwarp);

#endif
