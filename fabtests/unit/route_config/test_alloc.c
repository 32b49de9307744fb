/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that runs out anywhere. */
#include <rdma/fi_errno.h>
#include "conf.h"

static void expect_no_memory(const char *text)
{
	struct rte_config_errors errors;
	struct rte_config *config;
	unsigned int nth;
	int ret;

	for (nth = 1;; nth++) {
		memset(&errors, 0, sizeof(errors));
		ct_fail_alloc(nth);
		ret = rte_config_parse(text, strlen(text), "f", &config, &errors);
		if (!ct_alloc_failed())
			break;
		CT_NOTE("allocation %u", nth);
		CT_EXPECT_EQ(ret, -FI_ENOMEM);
		CT_EXPECT_EQ(config, NULL);
		CT_EXPECT_EQ(errors.errors, 0);
	}
	CT_EXPECT_EQ(ret, 0);
	CT_EXPECT_GT(nth, 8);
	rte_config_free(config);
}

CT_TEST(alloc, a_file_is_read_whole_or_not_at_all)
{
	expect_no_memory(conf_router_all);
	expect_no_memory(conf_client_all);
	expect_no_memory("[router]\nid = 4\n[a]\ntransport=sock\nas=3\nsubnet=1\n"
			 "[b]\ntransport=sock\nas=3\nsubnet=0\n");
}

CT_TEST(alloc, a_set_is_checked_whole_or_not_at_all)
{
	struct rte_config *config = conf_parse(conf_router_all);
	struct rte_config_errors errors = {0};
	unsigned int nth;
	int ret;

	CT_ASSERT_NE(config, NULL);
	for (nth = 1;; nth++) {
		ct_fail_alloc(nth);
		ret = rte_config_check_set(&config, 1, &errors);
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(ret, -FI_ENOMEM);
	}
	CT_EXPECT_EQ(ret, 0);
	CT_EXPECT_EQ(nth, 4);
	rte_config_free(config);
}

CT_TEST(alloc, a_file_that_cannot_be_held_is_not_read)
{
	struct rte_config_errors errors = {0};
	struct rte_config *config;

	ct_fail_alloc(1);
	CT_EXPECT_EQ(rte_config_read("/dev/null", &config, &errors), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_EQ(config, NULL);
	CT_EXPECT_EQ(errors.errors, 0);
}
