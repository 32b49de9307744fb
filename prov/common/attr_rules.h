/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules of fi_getinfo(3) as data: attr_rules.c has the rows, attr.c walks them. */
#ifndef CRN_ATTR_RULES_H
#define CRN_ATTR_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The structure that a field is in. */
enum crn_attr_part {
	CRN_ATTR_INFO,
	CRN_ATTR_TX,
	CRN_ATTR_RX,
	CRN_ATTR_EP,
	CRN_ATTR_DOMAIN,
	CRN_ATTR_FABRIC,
};

/* An unsigned integer, enum or string pointer of 4 or 8 bytes. */
struct crn_attr_field {
	enum crn_attr_part part;
	size_t offset;
	size_t size;
};

struct crn_attr_rule {
	bool (*allows)(uint64_t asked, uint64_t offered);
	const char *relation; /* of asked to offered, for the log line */
	bool zero_counts;     /* 0 is a wish like any other (mode bits), not "no wish" */
};

/* How a value is written in a log line: an fi_type for fi_tostr, or one of these. */
enum { CRN_TEXT_NUMBER = -1, CRN_TEXT_NAME = -2 };

struct crn_attr_row {
	const char *name;
	struct crn_attr_field asked;   /* of the hints */
	struct crn_attr_field offered; /* of the offer; mostly the same field */
	struct crn_attr_rule rule;
	bool echo; /* the answer has the value that was asked for */
	int text;
};

extern const struct crn_attr_row crn_attr_rows[];
extern const size_t crn_attr_row_count;

#endif
