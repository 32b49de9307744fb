/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Management datagrams as they lie on the wire: IBA volume 1, 13.4.3 (common header),
 * 13.6.2.1 (RMPP), 15.2.1 (subnet administration), 14.2 (subnet management). Written
 * for the side that answers.
 */
#ifndef SVB_SA_MAD_H
#define SVB_SA_MAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SVB_MAD_SIZE 256u

/* Offsets of the common header. */
#define SVB_MAD_CLASS 1
#define SVB_MAD_CLASS_VERSION 2
#define SVB_MAD_METHOD 3
#define SVB_MAD_STATUS 4
#define SVB_MAD_HOPS 7 /* directed route: how many hops; 6: how many are done */
#define SVB_MAD_TID 8
#define SVB_MAD_ATTR 16
#define SVB_MAD_MOD 20
/* Of RMPP. */
#define SVB_RMPP_VERSION 24
#define SVB_RMPP_TYPE 25
#define SVB_RMPP_FLAGS 26
#define SVB_RMPP_SEGMENT 28
#define SVB_RMPP_LENGTH 32
/* Of subnet administration. */
#define SVB_SA_KEY 36
#define SVB_SA_OFFSET 44 /* of the next record, in units of 8 bytes */
#define SVB_SA_MASK 48
#define SVB_SA_DATA 56
#define SVB_SA_DATA_SIZE 200u
/* Of subnet management. */
#define SVB_SMP_DATA 64

enum {
	SVB_CLASS_SMP = 0x01,
	SVB_CLASS_SA = 0x03,
	SVB_CLASS_SMP_DIRECTED = 0x81,
};

enum {
	SVB_METHOD_GET = 0x01,
	SVB_METHOD_SET = 0x02,
	SVB_METHOD_REPORT = 0x06,
	SVB_METHOD_GET_TABLE = 0x12,
	SVB_METHOD_DELETE = 0x15,
	SVB_METHOD_RESPONSE = 0x80, /* added to a request's */
	SVB_METHOD_REPORT_RESP = 0x86,
};

enum {
	SVB_ATTR_CLASS_PORT_INFO = 0x01,
	SVB_ATTR_NOTICE = 0x02,
	SVB_ATTR_INFORM_INFO = 0x03,
	SVB_ATTR_NODE_DESCRIPTION = 0x10,
	SVB_ATTR_NODE = 0x11, /* NodeInfo; NodeRecord of the SA */
	SVB_ATTR_PORT_RECORD = 0x12,
	SVB_ATTR_PORT_INFO = 0x15,
	SVB_ATTR_PKEYS = 0x16,
	SVB_ATTR_SM_RECORD = 0x18,
	SVB_ATTR_SM_INFO = 0x20,
	SVB_ATTR_PKEY_RECORD = 0x33,
	SVB_ATTR_PATH = 0x35,
	SVB_ATTR_MCMEMBER = 0x38,
};

/* 13.4.7: bits of the status that every class has. */
#define SVB_MAD_BAD_METHOD 0x0008u
#define SVB_MAD_BAD_METHOD_ATTR 0x000cu

static inline uint64_t svb_mad_get(const uint8_t *mad, size_t at, unsigned int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | mad[at++];
	return value;
}

static inline void svb_mad_put(uint8_t *mad, size_t at, unsigned int bytes,
			       uint64_t value)
{
	while (bytes--) {
		mad[at + bytes] = (uint8_t)value;
		value >>= 8;
	}
}

#define SVB_BIT(n) (1ull << (n))

#endif
