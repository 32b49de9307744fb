/* SPDX-License-Identifier: BSD-2-Clause */
/* What recovery must find. */
#include <stdio.h>
#include <string.h>
#include <rdma/fabric.h>
#include "check.h"
#include "image.h"
#include "model/model.h"
#include "state.h"
#include "target.h"
#include "world.h"

static uint32_t found; /* those in the replay format that recovery found, bits */

static bool all_there(const uint8_t *medium, uint32_t number)
{
	uint32_t at = xpv_image.range[number].at, end = at + xpv_image.range[number].len;

	if (xpv_image.range[number].replay_format)
		return found >> number & 1;
	for (; at < end; at++)
		if (!image_has(at, medium[at], number + 1, xpv_image.count))
			return false;
	return !xpv_image.range[number].fleeting;
}

static bool some_there(const uint8_t *medium, uint32_t number)
{
	uint32_t at = xpv_image.range[number].at, end = at + xpv_image.range[number].len;

	if (xpv_image.range[number].replay_format)
		return found >> number & 1;
	for (; at < end; at++)
		if (image_has(at, medium[at], number + 1, xpv_image.count) &&
		    !image_has(at, medium[at], 0, number))
			return true;
	return false;
}

static bool each_there(const uint8_t *medium, uint32_t numbers)
{
	for (uint32_t i = 0; i < xpv_image.count; i++)
		if (numbers >> i & 1 && !all_there(medium, i))
			return false;
	return true;
}

/* Has the target been told of something that it does not have? It knows by itself which
 * of its receives are not persistent, and what it refused; what recovery looks for it has
 * when it sees it. */
static bool told_early(const uint8_t *medium, uint32_t number)
{
	return xpv_program.received >> number & 1 && !xpv_image.range[number].fleeting &&
	       !xpv_image.range[number].refused &&
	       (xpv_image.range[number].claims >> number & 1 ||
		(xpv_image.range[number].replay_format && xpv_world_requests())) &&
	       !all_there(medium, number);
}

/* What is wrong when recovery finds that. */
static unsigned int check_medium(const uint8_t *medium)
{
	unsigned int wrong = 0;

	found = xpv_target_recover(medium, &wrong);
	for (uint32_t i = 0; i < xpv_image.count; i++) {
		if (xpv_program.reported >> i & 1 &&
		    !each_there(medium,
				xpv_image.range[i].claims & ~xpv_program.known[i]))
			wrong |= WRONG_EARLY;
		if (told_early(medium, i))
			wrong |= WRONG_TARGET;
		if (xpv_image.range[i].after && some_there(medium, i) &&
		    !each_there(medium, xpv_image.range[i].after & ~xpv_program.known[i]))
			wrong |= WRONG_COMPOUND;
	}
	return wrong;
}

unsigned int xpv_check_power(void (*each)(const void *medium))
{
	unsigned int wrong = 0;

	svb_model_fail();
	do {
		wrong |= check_medium(svb_model_medium());
		each(svb_model_medium());
	} while (svb_model_fail_next());
	return wrong;
}

unsigned int xpv_check_end(void)
{
	const bool replay = xpv_world.machine->receives == RECEIVES_REPLAY;
	unsigned int wrong;

	/* What failed may have happened or not. */
	if (xpv_program.failed)
		return 0;
	/* Behind that is the target's own. */
	if (memcmp(xpv_world.pm, xpv_image.after[xpv_image.count],
		   replay ? APPLIED_AT : xpv_world.pm_size) != 0)
		return WRONG_END;
	found = xpv_target_recover(xpv_world.pm, &wrong);
	for (uint32_t i = 0; i < xpv_image.count; i++)
		if (xpv_image.range[i].replay_format && !(found >> i & 1))
			wrong |= WRONG_END;
	return wrong;
}

const char *xpv_wrong_text(unsigned int wrong, char *text, size_t size)
{
	static const char *const names[31] = {
		"reported too early",
		"reported too early at the target",
		"compound torn apart",
		"not as posted",
		"order of completions",
		"stuck",
		"failed",
		"refused",
		[9] = "recovered wrongly",
	};

	return xpl_words(names, wrong, text, size);
}
