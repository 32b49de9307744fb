/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include "machine.h"

/* The last digit of a number, which loses it. */
static unsigned int digit(unsigned int *number, unsigned int base)
{
	unsigned int last = *number % base;

	*number /= base;
	return last;
}

bool xpv_machine_at(unsigned int number, struct machine *m)
{
	static const char *const domains[] = {"dmp", "mhp", "wsp"};

	*m = (struct machine){.ddio = digit(&number, 2),
			      .iwarp = digit(&number, 2),
			      .receives = (enum receives)digit(&number, RECEIVES_KINDS),
			      .flush = !digit(&number, 2),
			      .pairs = 1 + digit(&number, PAIRS),
			      .special = (enum special)digit(&number, SPECIALS)};
	if (number >= 3)
		return false;
	m->domain = domains[number];
	return true;
}

void xpv_machine_text(const struct machine *m, char *text, size_t size)
{
	static const char *const specials[SPECIALS] = {
		"",	   ", relaxed",	    ", a liar",	       ", by message",
		", short", ", counted",	    ", shared",	       ", one receive",
		", wide",  ", two regions", ", mixed regions", ", writes unordered",
	};
	static const char *const receives[RECEIVES_KINDS] = {
		"",
		", receives in pm",
		", replay",
	};

	snprintf(text, size, "%s ddio %s, %s%s%s%s%s", m->domain, m->ddio ? "on" : "off",
		 m->iwarp ? "iwarp" : "ib", m->flush ? "" : ", no flush",
		 receives[m->receives], m->pairs > 1 ? ", two connections" : "",
		 specials[m->special]);
}
