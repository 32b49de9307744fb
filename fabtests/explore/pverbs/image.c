/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <rdma/fabric.h>
#include "image.h"
#include "world.h"

struct image image;

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
	const uint8_t *from = world.source[number];
	uint64_t sum, more;

	if (call->kind != CALL_ADD) {
		memcpy(to, from, image.range[number].len);
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
	const uint32_t p = call->pair,
		       receive = world.srx ? sent[0] + sent[1] : p * RECEIVES + sent[p];

	image.range[number].at = call->at;
	image.range[number].len = call->kind == CALL_READ ? 0 : call->len;
	image.range[number].fleeting = false;
	image.range[number].sealed = false;
	if (call_sends(call)) {
		image.range[number].at = RECEIVE_AT + receive * LEN_MAX;
		image.range[number].fleeting =
			world.machine->receives == RECEIVES_VOLATILE;
		image.range[number].sealed = world.machine->receives == RECEIVES_REPLAY;
	}
	if (image.range[number].fleeting || image.range[number].sealed)
		image.range[number].len = 0;
	sent[p] += call_announces(call);
}

void image_begin(const struct scenario *scenario)
{
	const struct call *call = scenario->call;
	uint32_t sent[PAIRS] = {0}, i;

	memset(image.after[0], 0, world.pm_size);
	for (i = 0; i < CALLS && call[i].kind; i++) {
		place(&call[i], i, sent);
		image.range[i].pair = call[i].pair;
		image.range[i].refused = call[i].refused;
		image.range[i].claims = call[i].claims;
		image.range[i].after = call[i].after;
		if (call[i].flags & FI_COMMIT_COMPLETE) {
			image.range[i].claims |= 1u << i;
			if (call[i].flags & FI_FENCE) {
				image.range[i].claims |= all_before(call, i);
				image.range[i].after |= all_before(call, i) & ~(1u << i);
			}
		} else if (call[i].flags & FI_FENCE) {
			/* It begins when those before it have ended: durable, if that is
			 * what they were to be. */
			image.range[i].after |= durable_before(call, i);
		}
		memcpy(image.after[i + 1], image.after[i], world.pm_size);
		apply(&call[i], i, image.after[i + 1] + image.range[i].at);
	}
	image.count = i;
}

bool image_seen(unsigned int number)
{
	uint32_t i, at;

	for (i = 0; i < number; i++)
		for (at = image.range[i].at;
		     image.range[i].pair == image.range[number].pair &&
		     at < image.range[i].at + image.range[i].len;
		     at++)
			if (!image_has(at, world.pm[at], i + 1, image.count))
				return false;
	return true;
}

bool image_read(unsigned int number, const uint8_t *result, unsigned int len)
{
	uint32_t at = image.range[number].at, i;

	for (i = 0; i < len; i++)
		if (!image_has(at + i, result[i], number, image.count))
			return false;
	return true;
}
