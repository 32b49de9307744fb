/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Management datagrams (MADs) of subnet administration (SA), InfiniBand specification 1.7
 * volume 1: pure functions from bytes to structures and back. A MAD has 256 bytes,
 * numbers are big endian:
 *
 *	  0  24  MAD header (13.4.2)
 *	 24  12  RMPP header (13.6.2.1)
 *	 36  20  SA header (15.2.1.1): SM_Key, attribute offset, component mask
 *	 56 200  data: one record, or a segment of a table
 *
 * Structures have numbers in host byte order, GIDs as bytes. Unpacking takes any bytes.
 */
#ifndef PVB_SA_SA_MAD_H
#define PVB_SA_SA_MAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PVB_MAD_SIZE 256
#define PVB_MAD_TID_AT 8
#define PVB_SA_DATA_AT 56
#define PVB_SA_DATA_SIZE 200

#define PVB_MAD_BASE_VERSION 1
#define PVB_SA_CLASS 0x03
#define PVB_SA_CLASS_VERSION 2

/* Section 13.4.5 and table 185: what is asked, and answers, which have bit 7. */
enum pvb_sa_method {
	PVB_SA_GET = 0x01,
	PVB_SA_SET = 0x02,
	PVB_SA_REPORT = 0x06,
	PVB_SA_GET_TABLE = 0x12,
	PVB_SA_DELETE = 0x15,
	PVB_SA_RESPONSE = 0x80,
};

/* Section 15.2.5. */
enum pvb_sa_attr {
	PVB_SA_NOTICE = 0x02,
	PVB_SA_INFORM_INFO = 0x03,
	PVB_SA_PORT_INFO_RECORD = 0x12,
	PVB_SA_SM_INFO_RECORD = 0x18,
	PVB_SA_PATH_RECORD = 0x35,
	PVB_SA_MCMEMBER_RECORD = 0x38,
};

/* Tables 112 and 187: the low byte is of all classes, bits 8 to 14 of SA. */
enum pvb_sa_status {
	PVB_SA_OK = 0,
	PVB_SA_BUSY = 0x0001,
	PVB_SA_NO_RESOURCES = 0x0100,
	PVB_SA_REQ_INVALID = 0x0200,
	PVB_SA_NO_RECORDS = 0x0300,
	PVB_SA_TOO_MANY_RECORDS = 0x0400,
	PVB_SA_INVALID_GID = 0x0500,
	PVB_SA_INSUFFICIENT_COMPONENTS = 0x0600,
	PVB_SA_REQ_DENIED = 0x0700,
};

/* Section 13.6.2.1. */
enum pvb_rmpp_type {
	PVB_RMPP_NONE = 0,
	PVB_RMPP_DATA = 1,
	PVB_RMPP_ACK = 2,
	PVB_RMPP_STOP = 3,
	PVB_RMPP_ABORT = 4,
};

#define PVB_RMPP_VERSION 1
#define PVB_RMPP_ACTIVE 0x01
#define PVB_RMPP_FIRST 0x02
#define PVB_RMPP_LAST 0x04

/* The three headers. */
struct pvb_sa_hdr {
	uint8_t method; /* enum pvb_sa_method, with PVB_SA_RESPONSE or not */
	uint16_t status;
	uint64_t tid;
	uint16_t attr; /* enum pvb_sa_attr */
	uint32_t attr_mod;
	uint8_t rmpp_version;
	uint8_t rmpp_type;   /* enum pvb_rmpp_type */
	uint8_t rmpp_flags;  /* PVB_RMPP_*, 3 bits, in the low bits of the byte */
	uint8_t rmpp_time;   /* RRespTime, 5 bits, above them */
	uint8_t rmpp_status; /* of ABORT and STOP */
	uint32_t segment;    /* number of the segment, from 1 */
	uint32_t length;     /* payload length of DATA; last segment expected, of ACK */
	uint64_t sm_key;
	uint16_t attr_offset; /* from record to record, in units of 8 bytes */
	uint64_t comp_mask;
};

/* Writes the headers and zeros for the data. mad has PVB_MAD_SIZE bytes. */
void pvb_sa_pack(uint8_t *mad, const struct pvb_sa_hdr *hdr);
/* 0, or -FI_EINVAL: shorter than the headers, or of another class or version. libibumad
 * leaves out what is behind the record. */
int pvb_sa_unpack(const void *mad, size_t len, struct pvb_sa_hdr *hdr);

/*
 * Records. pack writes all bytes of the record, from the start of the data of a MAD
 * (pvb_sa_data). unpack reads as many; -FI_EINVAL: len is less. Packing leaves out bits
 * that a field does not have.
 */
static inline uint8_t *pvb_sa_data(uint8_t *mad)
{
	return mad + PVB_SA_DATA_AT;
}

/* What a selector says of MTU, rate and packet lifetime; table 190 ff. */
enum pvb_sa_selector {
	PVB_SA_GREATER = 0,
	PVB_SA_LESS = 1,
	PVB_SA_EXACTLY = 2,
	PVB_SA_LARGEST = 3,
};

/* Section 15.2.5.17. */
#define PVB_MCM_SIZE 52
#define PVB_MCM_FULL 0x1
#define PVB_MCM_NON_MEMBER 0x2
#define PVB_MCM_SEND_ONLY_NON_MEMBER 0x4
#define PVB_MCM_SEND_ONLY_FULL 0x8

#define PVB_MCM_HAS_MGID (1u << 0)
#define PVB_MCM_HAS_PORT_GID (1u << 1)
#define PVB_MCM_HAS_QKEY (1u << 2)
#define PVB_MCM_HAS_MLID (1u << 3)
#define PVB_MCM_HAS_MTU_SELECTOR (1u << 4)
#define PVB_MCM_HAS_MTU (1u << 5)
#define PVB_MCM_HAS_TCLASS (1u << 6)
#define PVB_MCM_HAS_PKEY (1u << 7)
#define PVB_MCM_HAS_RATE_SELECTOR (1u << 8)
#define PVB_MCM_HAS_RATE (1u << 9)
#define PVB_MCM_HAS_LIFE_SELECTOR (1u << 10)
#define PVB_MCM_HAS_LIFE (1u << 11)
#define PVB_MCM_HAS_SL (1u << 12)
#define PVB_MCM_HAS_FLOW_LABEL (1u << 13)
#define PVB_MCM_HAS_HOP_LIMIT (1u << 14)
#define PVB_MCM_HAS_SCOPE (1u << 15)
#define PVB_MCM_HAS_JOIN_STATE (1u << 16)
#define PVB_MCM_HAS_PROXY_JOIN (1u << 17)

struct pvb_mcm {	       /* at, of bytes */
	uint8_t mgid[16];      /*  0 */
	uint8_t port_gid[16];  /* 16 */
	uint32_t qkey;	       /* 32 */
	uint16_t mlid;	       /* 36 */
	uint8_t mtu_selector;  /* 38, bits 7-6 */
	uint8_t mtu;	       /* 38, bits 5-0: IBV_MTU_* */
	uint8_t tclass;	       /* 39 */
	uint16_t pkey;	       /* 40 */
	uint8_t rate_selector; /* 42, bits 7-6 */
	uint8_t rate;	       /* 42, bits 5-0: IBV_RATE_* */
	uint8_t life_selector; /* 43, bits 7-6 */
	uint8_t life;	       /* 43, bits 5-0: 4.096 us * 2^life */
	uint8_t sl;	       /* 44, 4 bits */
	uint32_t flow_label;   /* 44, 20 bits */
	uint8_t hop_limit;     /* 47 */
	uint8_t scope;	       /* 48, bits 7-4 */
	uint8_t join_state;    /* 48, bits 3-0: PVB_MCM_FULL ... */
	bool proxy_join;       /* 49, bit 7 */
};

void pvb_mcm_pack(uint8_t *data, const struct pvb_mcm *mcm);
int pvb_mcm_unpack(const void *data, size_t len, struct pvb_mcm *mcm);

/* Section 15.2.5.16. */
#define PVB_PATH_SIZE 64
#define PVB_PATH_HAS_DGID (1u << 2)
#define PVB_PATH_HAS_SGID (1u << 3)
#define PVB_PATH_HAS_DLID (1u << 4)
#define PVB_PATH_HAS_SLID (1u << 5)
#define PVB_PATH_HAS_REVERSIBLE (1u << 11)
#define PVB_PATH_HAS_NUMB_PATH (1u << 12)
#define PVB_PATH_HAS_PKEY (1u << 13)

struct pvb_path_record {
	uint64_t service_id;  /*  0 */
	uint8_t dgid[16];     /*  8 */
	uint8_t sgid[16];     /* 24 */
	uint16_t dlid;	      /* 40 */
	uint16_t slid;	      /* 42 */
	bool raw;	      /* 44, bit 7 */
	uint32_t flow_label;  /* 44, 20 bits that end with 46 */
	uint8_t hop_limit;    /* 47 */
	uint8_t tclass;	      /* 48 */
	bool reversible;      /* 49, bit 7 */
	uint8_t numb_path;    /* 49, bits 6-0 */
	uint16_t pkey;	      /* 50 */
	uint16_t qos_class;   /* 52, 12 bits */
	uint8_t sl;	      /* 53, bits 3-0 */
	uint8_t mtu_selector; /* 54, bits 7-6; mtu: bits 5-0 */
	uint8_t mtu;
	uint8_t rate_selector; /* 55 */
	uint8_t rate;
	uint8_t life_selector; /* 56 */
	uint8_t life;
	uint8_t preference; /* 57; 58 to 63 are reserved */
};

void pvb_path_record_pack(uint8_t *data, const struct pvb_path_record *path);
int pvb_path_record_unpack(const void *data, size_t len, struct pvb_path_record *path);

/* Section 13.4.8.3. */
#define PVB_INFORM_SIZE 36
#define PVB_INFORM_ALL_LIDS 0xffff
#define PVB_INFORM_TYPE_ALL 0xffff
#define PVB_NOTICE_TYPE_INFO 3
#define PVB_PRODUCER_CLASS_MANAGER 4
#define PVB_TRAP_GROUP_CREATED 66
#define PVB_TRAP_GROUP_DELETED 67

struct pvb_inform_info {
	uint8_t gid[16];    /*  0 */
	uint16_t lid_begin; /* 16 */
	uint16_t lid_end;   /* 18; 20 and 21 are reserved */
	bool generic;	    /* 22, a byte */
	bool subscribe;	    /* 23, a byte */
	uint16_t type;	    /* 24 */
	uint16_t trap;	    /* 26 */
	uint32_t qpn;	    /* 28, 24 bits */
	uint8_t resp_time;  /* 31, bits 4-0 */
	uint32_t producer;  /* 33, 24 bits */
};

void pvb_inform_info_pack(uint8_t *data, const struct pvb_inform_info *inform);
int pvb_inform_info_unpack(const void *data, size_t len, struct pvb_inform_info *inform);

/* Section 13.4.8.2. */
#define PVB_NOTICE_SIZE 80

struct pvb_notice {
	bool generic;		/*  0, bit 7 */
	uint8_t type;		/*  0, bits 6-0 */
	uint32_t producer;	/*  1, 24 bits */
	uint16_t trap;		/*  4 */
	uint16_t issuer_lid;	/*  6 */
	bool toggle;		/*  8, bit 15 */
	uint16_t count;		/*  8, bits 14-0 */
	uint8_t details[54];	/* 10 */
	uint8_t issuer_gid[16]; /* 64 */
};

/* Details of traps 64 to 67 (section 14.2.5.1): 6 reserved bytes, then the GID. */
#define PVB_NOTICE_GID_AT 6

void pvb_notice_pack(uint8_t *data, const struct pvb_notice *notice);
int pvb_notice_unpack(const void *data, size_t len, struct pvb_notice *notice);

/* Section 15.2.5.3 and, from 4 on, 14.2.5.6: what of it is used. */
#define PVB_PORT_INFO_SIZE 58
#define PVB_PORT_INFO_HAS_LID (1u << 0)
#define PVB_PORT_INFO_HAS_PORT (1u << 1)

struct pvb_port_info {
	uint16_t lid; /*  0 */
	uint8_t port; /*  2 */
	uint8_t mtu;  /* 40, bits 7-4: the active one, IBV_MTU_* */
};

void pvb_port_info_pack(uint8_t *data, const struct pvb_port_info *info);
int pvb_port_info_unpack(const void *data, size_t len, struct pvb_port_info *info);

/* Section 14.2.5.13: of directed-route and LID-routed SMPs, whose data begin at 64. */
#define PVB_SM_INFO_SIZE 24

struct pvb_sm_info {
	uint64_t guid;	    /*  0 */
	uint64_t sm_key;    /*  8 */
	uint32_t act_count; /* 16: grows while the SM is alive, begins anew with it */
	uint8_t priority;   /* 20, bits 7-4 */
	uint8_t state;	    /* 20, bits 3-0: 3 is master */
};

void pvb_sm_info_pack(uint8_t *data, const struct pvb_sm_info *info);
int pvb_sm_info_unpack(const void *data, size_t len, struct pvb_sm_info *info);

#endif
