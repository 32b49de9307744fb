/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <arpa/inet.h>
#include "message.h"
#include "program.h"
#include "world.h"

uint8_t xrp_serial_of(unsigned int side, unsigned int call)
{
	return (uint8_t)(0x10 * (side + 1) + call);
}

size_t xrp_call_len(const struct plan_call *plan)
{
	if (plan->kind == KIND_LONG)
		return LONG_LEN;
	return xrp_running->wrap ? WRAP_LEN : SHORT_LEN;
}

size_t xrp_reply_len(const struct plan_call *plan)
{
	return plan->kind == KIND_REPLY ? LONG_LEN : REPLY_LEN;
}

static void put(uint8_t *to, unsigned int word, uint32_t value)
{
	value = htonl(value);
	memcpy(to + 4 * word, &value, 4);
}

uint32_t xrp_word(const uint8_t *from, unsigned int word)
{
	uint32_t value;

	memcpy(&value, from + 4 * word, 4);
	return ntohl(value);
}

void xrp_make_call(uint8_t *to, unsigned int side, unsigned int number)
{
	const struct plan_call *plan = xrp_plan_of(side, number);
	const uint8_t serial = xrp_serial_of(side, number);

	memset(to, serial, xrp_call_len(plan));
	if (xrp_running->wrap)
		return;
	memset(to, 0, 4 * CALL_WORDS);
	put(to, 0, plan->xid);
	put(to, 2, 2);
	put(to, 3, 0x20000001);
	put(to, 4, 1);
	put(to, CALL_WORDS - 1, serial);
}

void xrp_make_reply(uint8_t *to, unsigned int caller, unsigned int number)
{
	const struct plan_call *plan = xrp_plan_of(caller, number);
	const uint8_t serial = xrp_serial_of(caller, number);

	memset(to, ~serial, xrp_reply_len(plan));
	memset(to, 0, 4 * REPLY_WORDS);
	put(to, 0, plan->xid);
	put(to, 1, 1);
	put(to, REPLY_WORDS - 1, serial);
}

bool xrp_filled(const uint8_t *at, size_t len, uint8_t with)
{
	while (len && *at == with) {
		at++;
		len--;
	}
	return !len;
}

/* The number of the call; CALLS: the message has none. */
unsigned int xrp_number_of(unsigned int caller, uint32_t serial)
{
	const uint32_t number = serial - xrp_serial_of(caller, 0);

	return number < CALLS && xrp_plan_of(caller, number)->xid ? number : CALLS;
}
