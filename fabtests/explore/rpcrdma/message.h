/* SPDX-License-Identifier: BSD-2-Clause */
/* The bytes of what the programs say: each message is known by its serial number. */
#ifndef XRP_MESSAGE_H
#define XRP_MESSAGE_H

#include "scenario.h"

#define CALL_WORDS 11u /* RFC 5531 section 9, and which it is */
#define REPLY_WORDS 7u
#define REPLY_LEN 32u
#define WRAP_LEN 8u /* of a short message of wrap mode */

uint8_t xrp_serial_of(unsigned int side, unsigned int call);
size_t xrp_call_len(const struct plan_call *plan);
size_t xrp_reply_len(const struct plan_call *plan);
/* Of that number of the side. */
void xrp_make_call(uint8_t *to, unsigned int side, unsigned int number);
void xrp_make_reply(uint8_t *to, unsigned int caller, unsigned int number);
uint32_t xrp_word(const uint8_t *from, unsigned int word);
bool xrp_filled(const uint8_t *at, size_t len, uint8_t with);
/* The number of the call; CALLS: the message has none. */
unsigned int xrp_number_of(unsigned int caller, uint32_t serial);

#endif
