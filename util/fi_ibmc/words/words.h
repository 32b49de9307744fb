/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of subnet administration as text, in the words of infiniband-diags, and what is
 * typed as numbers. Functions that take text[IMC_TEXT] return it.
 */
#ifndef IMC_WORDS_H
#define IMC_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include "sa/mc_map.h"

#define IMC_TEXT 64

/* What a group of an IPoIB link is for. */
enum imc_kind {
	IMC_KIND_OTHER,	     /* of no IPoIB link */
	IMC_KIND_GROUP,	     /* an IP multicast group */
	IMC_KIND_BROADCAST,  /* 255.255.255.255, IPv4's all-node group */
	IMC_KIND_ALL_NODE,   /* FF0X::1 */
	IMC_KIND_ALL_ROUTER, /* 224.0.0.2, FF0X::2 */
};

/* A group, named in any of its ways. */
struct imc_name {
	uint8_t mgid[16];
	bool ip; /* of an IPoIB link: addr is set */
	struct pvb_mc_addr addr;
	enum imc_kind kind;
};

/*
 * An IPv4 or IPv6 multicast address, an MGID of an IPoIB link in IPv6 notation, any MGID
 * as 32 hexadecimal digits, or with raw any in IPv6 notation. link: what an IP address is
 * mapped by. -FI_EINVAL: *why says it.
 */
int imc_name_parse(const char *text, const struct pvb_mc_link *link, bool raw,
		   struct imc_name *name, const char **why);
/* Is it an MGID as it stands there, rather than an IP address? */
bool imc_name_is_mgid(const char *text);
/* Of an MGID. */
void imc_name_of(const uint8_t mgid[16], struct imc_name *name);
/* The IP address, or "". */
const char *imc_address_text(const struct imc_name *name, char text[IMC_TEXT]);
const char *imc_kind_text(enum imc_kind kind);

const char *imc_gid_text(const uint8_t gid[16], char text[IMC_TEXT]);
/* 32 digits. */
const char *imc_hex_text(const uint8_t gid[16], char text[IMC_TEXT]);
/* MTUs are codes 1 to 5 (IBV_MTU_*) for 256 to 4096 bytes; 0: there is no such code or
 * number of bytes. */
uint32_t imc_mtu_bytes(uint8_t code);
uint8_t imc_mtu_code(uint32_t bytes);
/* "10 Gb/s", or "rate 63". */
const char *imc_rate_text(uint8_t code, char text[IMC_TEXT]);
/* "full,send-only"; bits of PVB_MCM_FULL ... */
const char *imc_state_text(uint8_t state, char text[IMC_TEXT]);
/* 0: no such name. */
uint8_t imc_state_parse(const char *text);
/* "link-local", or "" for a scope without a name. */
const char *imc_scope_text(uint8_t scope);
/* 1 to 14, as a number or a name; 0: neither. */
uint8_t imc_scope_parse(const char *text);
/* What the administrator means by it (table 187), and what can be done. */
const char *imc_status_text(uint16_t status);

#endif
