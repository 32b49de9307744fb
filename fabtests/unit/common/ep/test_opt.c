/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_getopt and fi_setopt by a table of options. */
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/opt.h>
#include "cairn_test.h"

struct thing {
	size_t limit;
	int mode;
};

static int get_limit(void *object, void *value)
{
	*(size_t *)value = ((struct thing *)object)->limit;
	return 0;
}

static int set_limit(void *object, const void *value)
{
	if (*(const size_t *)value > 100)
		return -FI_EMSGSIZE;
	((struct thing *)object)->limit = *(const size_t *)value;
	return 0;
}

static int get_mode(void *object, void *value)
{
	*(int *)value = ((struct thing *)object)->mode;
	return ((struct thing *)object)->mode < 0 ? -FI_EOPBADSTATE : 0;
}

static const struct crn_opt table[] = {
	{FI_OPT_MIN_MULTI_RECV, sizeof(size_t), get_limit, set_limit},
	{FI_OPT_FI_HMEM_P2P, sizeof(int), get_mode, NULL},
	{FI_OPT_XPU_TRIGGER, sizeof(int), NULL, NULL},
	{FI_OPT_CM_DATA_SIZE, sizeof(size_t), NULL, set_limit},
};

static struct thing thing;

static int get(int name, void *value, size_t *len)
{
	return crn_opt_get(table, CRN_COUNT(table), &thing, FI_OPT_ENDPOINT, name, value,
			   len);
}

static int set(int name, const void *value, size_t len)
{
	return crn_opt_set(table, CRN_COUNT(table), &thing, FI_OPT_ENDPOINT, name, value,
			   len);
}

CT_TEST(opt, a_value_is_read_and_its_length_said)
{
	size_t value = 0, len = 2 * sizeof(value);
	int mode = 0;

	thing = (struct thing){.limit = 7, .mode = 3};
	CT_EXPECT_EQ(get(FI_OPT_MIN_MULTI_RECV, &value, &len), 0);
	CT_EXPECT_EQ(value, 7);
	CT_EXPECT_EQ(len, sizeof(value));
	len = sizeof(mode);
	CT_EXPECT_EQ(get(FI_OPT_FI_HMEM_P2P, &mode, &len), 0);
	CT_EXPECT_EQ(mode, 3);
}

CT_TEST(opt, a_buffer_too_small_is_left_alone_and_told_the_size)
{
	char value[sizeof(size_t)] = "abcdefg";
	size_t len = sizeof(value) - 1;

	CT_EXPECT_EQ(get(FI_OPT_MIN_MULTI_RECV, value, &len), -FI_ETOOSMALL);
	CT_EXPECT_EQ(len, sizeof(value));
	CT_EXPECT_STREQ(value, "abcdefg");
	len = 0;
	CT_EXPECT_EQ(get(FI_OPT_MIN_MULTI_RECV, NULL, &len), -FI_ETOOSMALL);
	CT_EXPECT_EQ(len, sizeof(size_t));
}

CT_TEST(opt, a_value_is_set_when_it_has_the_right_size)
{
	size_t value = 9;

	thing = (struct thing){.limit = 7};
	CT_EXPECT_EQ(set(FI_OPT_MIN_MULTI_RECV, &value, sizeof(value) - 1), -FI_EINVAL);
	CT_EXPECT_EQ(set(FI_OPT_MIN_MULTI_RECV, &value, sizeof(value) + 1), -FI_EINVAL);
	CT_EXPECT_EQ(thing.limit, 7);
	CT_EXPECT_EQ(set(FI_OPT_MIN_MULTI_RECV, &value, sizeof(value)), 0);
	CT_EXPECT_EQ(thing.limit, 9);
}

CT_TEST(opt, what_the_option_says_is_what_the_call_returns)
{
	size_t value = 101, len = sizeof(int);
	int mode = 5;

	thing = (struct thing){.limit = 7, .mode = -1};
	CT_EXPECT_EQ(set(FI_OPT_MIN_MULTI_RECV, &value, sizeof(value)), -FI_EMSGSIZE);
	CT_EXPECT_EQ(get(FI_OPT_FI_HMEM_P2P, &mode, &len), -FI_EOPBADSTATE);
	CT_EXPECT_EQ(mode, 5);
}

CT_TEST(opt, unknown_and_unsupported_are_told_apart)
{
	size_t value = 1, len = sizeof(value);

	CT_EXPECT_EQ(get(FI_OPT_BUFFERED_MIN, &value, &len), -FI_ENOPROTOOPT);
	CT_EXPECT_EQ(set(FI_OPT_BUFFERED_MIN, &value, len), -FI_ENOPROTOOPT);
	CT_EXPECT_EQ(get(FI_OPT_XPU_TRIGGER, &value, &len), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(get(FI_OPT_CM_DATA_SIZE, &value, &len), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(set(FI_OPT_FI_HMEM_P2P, &value, sizeof(int)), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(crn_opt_get(table, CRN_COUNT(table), &thing, FI_OPT_ENDPOINT + 1,
				 FI_OPT_MIN_MULTI_RECV, &value, &len),
		     -FI_ENOPROTOOPT);
	CT_EXPECT_EQ(crn_opt_set(table, CRN_COUNT(table), &thing, FI_OPT_ENDPOINT + 1,
				 FI_OPT_MIN_MULTI_RECV, &value, len),
		     -FI_ENOPROTOOPT);
	CT_EXPECT_EQ(len, sizeof(value));
}

/* UBSan sees a pointer that is not aligned. */
CT_TEST(opt, values_of_the_program_may_lie_anywhere)
{
	_Alignas(size_t) char bytes[2 * sizeof(size_t)] = {0};
	size_t value = 11, len = sizeof(value);

	memcpy(bytes + 1, &value, sizeof(value));
	CT_EXPECT_EQ(set(FI_OPT_MIN_MULTI_RECV, bytes + 1, sizeof(value)), 0);
	CT_EXPECT_EQ(thing.limit, 11);
	thing.limit = 12;
	CT_EXPECT_EQ(get(FI_OPT_MIN_MULTI_RECV, bytes + 1, &len), 0);
	memcpy(&value, bytes + 1, sizeof(value));
	CT_EXPECT_EQ(value, 12);
}
