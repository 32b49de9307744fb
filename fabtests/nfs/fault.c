/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "nfd.h"

#define FAULTS 8

static const struct {
	const char *name;
	enum nfd_fault what;
} faults[] = {
	{"status", NFD_STATUS},	  {"short", NFD_SHORT},
	{"drop", NFD_DROP},	  {"mute", NFD_MUTE},
	{"garbage", NFD_GARBAGE}, {"system_err", NFD_SYSTEM_ERR},
	{"denied", NFD_DENIED},	  {"change", NFD_CHANGE},
	{"hold", NFD_HOLD},	  {"callbacks", NFD_CALLBACKS},
	{"eof", NFD_EOF},	  {"more", NFD_MORE},
	{"other", NFD_OTHER},
};

static struct {
	unsigned int op;
	unsigned int nth, seen;
	enum nfd_fault what;
	uint32_t value;
} wanted[FAULTS];
static size_t count;

bool nfd_fault_add(const char *text)
{
	char op[32], what[32];
	unsigned int nth, value = 0;

	if (count == FAULTS ||
	    sscanf(text, "%31[a-z_]:%u:%31[a-z_]=%u", op, &nth, what, &value) < 3)
		return false;
	wanted[count].nth = nth;
	wanted[count].value = value;
	wanted[count].op = nfd_op_number(op);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (!strcmp(faults[i].name, what))
			wanted[count].what = faults[i].what;
	return wanted[count].op && wanted[count++].what;
}

enum nfd_fault nfd_fault_at(unsigned int op, uint32_t *value)
{
	enum nfd_fault what = NFD_NONE;

	for (size_t i = 0; i < count; i++) {
		if (wanted[i].op != op)
			continue;
		wanted[i].seen++;
		if (wanted[i].nth && wanted[i].nth != wanted[i].seen)
			continue;
		what = wanted[i].what;
		*value = wanted[i].value;
	}
	return what;
}
