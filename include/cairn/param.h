/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parameters of a provider that the user sets in the environment, as a table: what
 * libfabric is told of them (fi_info -e), the defaults, the check of what was set, and
 * the log lines come from it. The manual page is compared with what fi_info -e prints
 * (util/lib/test-params.sh).
 *
 *	static const struct crn_param params[] = {
 *		CRN_PARAM_SIZE("tx_size", &my.tx_size, 256, 1, 65536,
 *			       "Operations in flight per endpoint"),
 *		CRN_PARAM_WORD("fence", &my.fence, 2, my_fence_words,
 *			       "How FI_FENCE is kept"),
 *	};
 *
 *	crn_params_read(&my_prov, params, CRN_COUNT(params));
 */
#ifndef CRN_PARAM_H
#define CRN_PARAM_H

#include <stddef.h>
#include <rdma/fabric.h>
#include <rdma/providers/fi_prov.h>

struct crn_param {
	const char *name;	 /* lower case; libfabric makes FI_PROVIDER_NAME of it */
	enum fi_param_type type; /* INT, SIZE_T, BOOL or STRING */
	/*
	 * Where the value is stored: int for INT, BOOL and words, size_t for SIZE_T,
	 * char * for STRING (which libfabric owns; NULL: not set).
	 */
	void *value;
	long long fallback;	  /* the default; of words, its index; of STRING, NULL */
	long long min, max;	  /* of numbers; 0 and 1 of BOOL */
	const char *const *words; /* up to a NULL: a STRING that is one of them, of which
				     value becomes the index; NULL: it is none of these */
	const char *help;	  /* without the default and the range, which are added */
	const char *unset;	  /* text for the default, which a STRING needs; NULL:
				   * made from the other fields */
};

#define CRN_PARAM_INT(name_, value_, fallback_, min_, max_, help_)                     \
	{                                                                              \
		.name = (name_), .type = FI_PARAM_INT, .value = (value_),              \
		.fallback = (fallback_), .min = (min_), .max = (max_), .help = (help_) \
	}
#define CRN_PARAM_SIZE(name_, value_, fallback_, min_, max_, help_)                    \
	{                                                                              \
		.name = (name_), .type = FI_PARAM_SIZE_T, .value = (value_),           \
		.fallback = (fallback_), .min = (min_), .max = (max_), .help = (help_) \
	}
#define CRN_PARAM_BOOL(name_, value_, fallback_, help_)                    \
	{                                                                  \
		.name = (name_), .type = FI_PARAM_BOOL, .value = (value_), \
		.fallback = (fallback_), .max = 1, .help = (help_)         \
	}
/* unset_: what holds when it is not set, such as "all". */
#define CRN_PARAM_STRING(name_, value_, unset_, help_)                       \
	{                                                                    \
		.name = (name_), .type = FI_PARAM_STRING, .value = (value_), \
		.help = (help_), .unset = (unset_)                           \
	}
#define CRN_PARAM_WORD(name_, value_, fallback_, words_, help_)              \
	{                                                                    \
		.name = (name_), .type = FI_PARAM_STRING, .value = (value_), \
		.fallback = (fallback_), .words = (words_), .help = (help_)  \
	}

/*
 * Defines each parameter and reads it: every value becomes its default, or what the user
 * set. What is out of range is ignored, with one log line that names the variable, the
 * value and what it may be. Returns how many were ignored, for a provider that refuses
 * to start then. Not thread safe; for the time when libfabric loads the provider.
 */
size_t crn_params_read(struct fi_provider *prov, const struct crn_param *params,
		       size_t count);

#endif
