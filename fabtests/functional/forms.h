/* SPDX-License-Identifier: BSD-2-Clause */
/* One operation at a time, in one call form, of every size and in both directions. */
#ifndef FCT_FORMS_H
#define FCT_FORMS_H

#include "fct_op.h"

struct form {
	enum fct_form form;
	uint64_t flags;	    /* of a message form */
	enum fct_form recv; /* of the receive, where form sends; 0: fi_recv */
};

/* A case: messages, or remote reads and writes with a message behind each. */
int fct_form_case(const struct form *f);

#endif
