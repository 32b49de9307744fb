/* SPDX-License-Identifier: BSD-2-Clause */
/* How to get to what is wrong, for people. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "way.h"

static void no_outcome(const void *outcome)
{
}

static void tell(const struct xpl_event *event)
{
	if (event->step == XPL_CHOICE)
		xpl_now.model->tell(&event->choice);
	else
		printf("    %s\n", xpl_now.model->step_name[event->step]);
}

/* The same steps from the beginning: what is wrong then? Something else if a state was
 * not taken back as it was. */
static unsigned int again(void)
{
	const struct xpl_model *model = xpl_now.model;
	const struct xpl_event *event;
	unsigned int wrong = 0, noticed = 0;

	xpl_begin();
	for (uint32_t i = 0; i < xpl_now.bad.length; i++) {
		event = &xpl_now.bad.event[i];
		if (event->step == XPL_CHOICE) {
			xpl_apply(&event->choice);
			continue;
		}
		model->step(event->step, &noticed);
		wrong |= noticed;
	}
	return wrong | model->check_end() | model->check(no_outcome);
}

void xpl_tell(void)
{
	for (uint32_t i = 0; i < xpl_now.bad.length; i++)
		tell(&xpl_now.bad.event[i]);
	if (!(again() & xpl_now.bad_wrong))
		printf("    and the second time nothing is wrong: the explorer is\n");
}

const char *xpl_words(const char *const names[31], unsigned int wrong, char *text,
		      size_t size)
{
	const char *name;

	snprintf(text, size, "%s", wrong ? "" : "nothing");
	for (unsigned int i = 0; i < 32; i++) {
		name = i < 31 ? names[i] : "the search is at its end";
		if (wrong >> i & 1 && name)
			snprintf(text + strlen(text), size - strlen(text), "%s%s",
				 *text ? ", " : "", name);
	}
	return text;
}

double xpl_seconds(void)
{
	struct timespec now;

	timespec_get(&now, TIME_UTC);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
