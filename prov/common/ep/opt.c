/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <stdalign.h>
#include <string.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <cairn/opt.h>

static const struct crn_opt *opt_find(const struct crn_opt *table, size_t count,
				      int level, int name)
{
	size_t i;

	for (i = 0; level == FI_OPT_ENDPOINT && i < count; i++) {
		if (table[i].name == name)
			return &table[i];
	}
	return NULL;
}

/* The program's buffer may lie anywhere: values go through one that is aligned. */
int crn_opt_get(const struct crn_opt *table, size_t count, void *object, int level,
		int name, void *optval, size_t *optlen)
{
	const struct crn_opt *opt = opt_find(table, count, level, name);
	alignas(max_align_t) unsigned char value[CRN_OPT_MAX];
	const size_t room = *optlen;
	int ret;

	if (!opt)
		return -FI_ENOPROTOOPT;
	if (!opt->get)
		return -FI_EOPNOTSUPP;
	assert(opt->size <= sizeof(value));
	*optlen = opt->size;
	if (room < opt->size)
		return -FI_ETOOSMALL;
	ret = opt->get(object, value);
	if (!ret)
		memcpy(optval, value, opt->size);
	return ret;
}

int crn_opt_set(const struct crn_opt *table, size_t count, void *object, int level,
		int name, const void *optval, size_t optlen)
{
	const struct crn_opt *opt = opt_find(table, count, level, name);
	alignas(max_align_t) unsigned char value[CRN_OPT_MAX];

	if (!opt)
		return -FI_ENOPROTOOPT;
	if (!opt->set)
		return -FI_EOPNOTSUPP;
	if (optlen != opt->size)
		return -FI_EINVAL;
	assert(opt->size <= sizeof(value));
	memcpy(value, optval, opt->size);
	return opt->set(object, value);
}
