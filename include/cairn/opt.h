/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_getopt and fi_setopt (fi_endpoint(3)) by a table of options: name, size of the
 * value, functions that read and write it. A provider has one table per kind of
 * endpoint.
 */
#ifndef CRN_OPT_H
#define CRN_OPT_H

#include <stddef.h>
#include <rdma/fabric.h>

struct crn_opt {
	int name;    /* FI_OPT_* of level FI_OPT_ENDPOINT */
	size_t size; /* bytes of its value */
	/* Both are called with the object and a value of size bytes, aligned for any
	 * type. 0 or a negative FI_E* code. NULL: -FI_EOPNOTSUPP. */
	int (*get)(void *object, void *value);
	int (*set)(void *object, const void *value);
};

/* Most bytes of a value. */
#define CRN_OPT_MAX 64

/*
 * *optlen becomes the size of the value, also with -FI_ETOOSMALL, when it does not fit.
 * -FI_ENOPROTOOPT: another level, or a name that the table does not have.
 */
int crn_opt_get(const struct crn_opt *table, size_t count, void *object, int level,
		int name, void *optval, size_t *optlen);

/* -FI_EINVAL: a value of another size. Otherwise as crn_opt_get. */
int crn_opt_set(const struct crn_opt *table, size_t count, void *object, int level,
		int name, const void *optval, size_t optlen);

#endif
