/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <rdma/fabric.h>
#include "image.h"
#include "world.h"

struct image xpv_image;

/* Earlier calls of the same connection, and itself. */
static uint32_t all_before(const struct call *call, uint32_t number)
{
	uint32_t i, bits = 0;

	for (i = 0; i <= number; i++)
		bits |= (uint32_t)(call[i].pair == call[number].pair) << i;
	return bits;
}

static uint32_t durable_before(const struct call *call, uint32_t number)
{
	uint32_t i, bits = 0;

	for (i = 0; i < number; i++)
		bits |= (uint32_t)(call[i].pair == call[number].pair &&
				   call[i].flags & FI_COMMIT_COMPLETE)
			<< i;
	return bits;
}

static void apply(const struct call *call, uint32_t number, uint8_t *to)
{
	const uint8_t *from = xpv_world.source[number];
	uint64_t sum, more;

	if (call->kind != CALL_ADD) {
		memcpy(to, from, xpv_image.range[number].len);
		return;
	}
	memcpy(&sum, to, sizeof(sum));
	memcpy(&more, from, sizeof(more));
	sum += more;
	memcpy(to, &sum, sizeof(sum));
}

/* Where in persistent memory it goes. */
static void place(const struct call *call, uint32_t number, uint32_t *sent)
{
	const uint32_t p = call->pair, receive = xpv_world.srx ? sent[0] + sent[1]
							       : p * RECEIVES + sent[p];

	xpv_image.range[number].at = call->at;
	xpv_image.range[number].len = call->kind == CALL_READ ? 0 : call->len;
	xpv_image.range[number].fleeting = false;
	xpv_image.range[number].replay_format = false;
	if (call_sends(call)) {
		xpv_image.range[number].at = RECEIVE_AT + receive * LEN_MAX;
		xpv_image.range[number].fleeting =
			xpv_world.machine->receives == RECEIVES_VOLATILE;
		xpv_image.range[number].replay_format =
			xpv_world.machine->receives == RECEIVES_REPLAY;
	}
	if (xpv_image.range[number].fleeting || xpv_image.range[number].replay_format)
		xpv_image.range[number].len = 0;
	sent[p] += call_announces(call);
}

void xpv_image_begin(const struct scenario *scenario)
{
	const struct call *call = scenario->call;
	uint32_t sent[PAIRS] = {0}, i;

	memset(xpv_image.after[0], 0, xpv_world.pm_size);
	for (i = 0; i < CALLS && call[i].kind; i++) {
		place(&call[i], i, sent);
		xpv_image.range[i].pair = call[i].pair;
		xpv_image.range[i].refused = call[i].refused;
		xpv_image.range[i].claims = call[i].claims;
		xpv_image.range[i].after = call[i].after;
		if (call[i].flags & FI_COMMIT_COMPLETE) {
			xpv_image.range[i].claims |= 1u << i;
			if (call[i].flags & FI_FENCE) {
				xpv_image.range[i].claims |= all_before(call, i);
				xpv_image.range[i].after |=
					all_before(call, i) & ~(1u << i);
			}
		} else if (call[i].flags & FI_FENCE) {
			/* It begins when those before it have ended: durable, if that is
			 * what they were to be. */
			xpv_image.range[i].after |= durable_before(call, i);
		}
		memcpy(xpv_image.after[i + 1], xpv_image.after[i], xpv_world.pm_size);
		apply(&call[i], i, xpv_image.after[i + 1] + xpv_image.range[i].at);
	}
	xpv_image.count = i;
}

bool xpv_image_seen(unsigned int number)
{
	for (uint32_t i = 0; i < number; i++)
		for (uint32_t at = xpv_image.range[i].at;
		     xpv_image.range[i].pair == xpv_image.range[number].pair &&
		     at < xpv_image.range[i].at + xpv_image.range[i].len;
		     at++)
			if (!image_has(at, xpv_world.pm[at], i + 1, xpv_image.count))
				return false;
	return true;
}

bool xpv_image_read(unsigned int number, const uint8_t *result, unsigned int len)
{
	uint32_t at = xpv_image.range[number].at, i;

	for (i = 0; i < len; i++)
		if (!image_has(at + i, result[i], number, xpv_image.count))
			return false;
	return true;
}
