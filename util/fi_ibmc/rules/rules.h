/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which sentences of draft-ietf-ipoib-link-multicast-00 what the subnet administrator
 * holds violates. Pure. Rows are those of doc/multicast-coverage.md.
 */
#ifndef IMC_RULES_RULES_H
#define IMC_RULES_RULES_H

#include "model/model.h"
#include "options.h"

#define IMC_FINDING_SIZE 320

enum imc_level {
	IMC_SHOULD, /* SHOULD, and what is recommended */
	IMC_MUST,   /* MUST, SHALL, and what is required */
};

struct imc_finding {
	const char *row;     /* "R8", or "" of a sentence that has none */
	const char *section; /* of the draft */
	enum imc_level level;
	const struct imc_link *link;   /* or NULL */
	const struct imc_group *group; /* or NULL */
	char what[IMC_FINDING_SIZE];
	/* Of an all-node group that is not as it has to be (section 10): who can have
	 * made it. Else "". */
	char maker[IMC_FINDING_SIZE];
};

struct imc_report {
	struct imc_finding *finding;
	uint32_t findings;
	uint32_t violated[IMC_MUST + 1]; /* by level */
	bool no_memory;
};

/* expected: attributes that the all-node groups should have, if any. -FI_ENOMEM. */
int imc_rules(const struct imc_subnet *subnet, const struct imc_attrs *expected,
	      struct imc_report *report);
void imc_report_free(struct imc_report *report);

/* Who can have made a group, as a sentence: the administrator does not keep it. */
const char *imc_maker(const struct imc_subnet *subnet, const struct imc_group *group,
		      char text[IMC_FINDING_SIZE]);

/* Within this folder. */
struct imc_where {
	const char *row;
	const char *section;
	enum imc_level level;
	const struct imc_link *link;
	const struct imc_group *group;
};
__attribute__((format(printf, 3, 4))) void imc_find(struct imc_report *report,
						    const struct imc_where *where,
						    const char *format, ...);
/* Adds to a list of what differs; hex: both are shown so. */
void imc_differs(char text[IMC_FINDING_SIZE], const char *name, bool hex, uint32_t is,
		 uint32_t should);
void imc_rules_link(const struct imc_subnet *subnet, const struct imc_link *link,
		    struct imc_report *report);
void imc_rules_ports(const struct imc_subnet *subnet, const struct imc_link *link,
		     struct imc_report *report);
void imc_rules_group(const struct imc_subnet *subnet, const struct imc_link *link,
		     const struct imc_group *group, struct imc_report *report);
void imc_rules_mlids(const struct imc_subnet *subnet, struct imc_report *report);

#endif
