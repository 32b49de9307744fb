/* SPDX-License-Identifier: BSD-2-Clause */
/* What counts of what was found and declared; prov/pverbs has tests of all combinations.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/mman.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <cairn/pmem.h>
#include "cairn_test.h"

#define LEN 8192u

static const struct fi_provider prov = {.name = "test"};
/* A file of LEN bytes in the folder of the test, what of it is mapped, and what is known
 * of that. */
struct mapped {
	char name[64], config[64]; /* "": there is no such file */
	uint8_t *at;
	struct crn_pmem_params params;
	struct crn_pmem_facts facts;
};

static void set_up(struct mapped *mapped)
{
	mapped->params = (struct crn_pmem_params){.prov = &prov, .prefix = "FI_TEST"};
}

static void tear_down(struct mapped *mapped)
{
	if (mapped->at)
		munmap(mapped->at, LEN);
	if (*mapped->name)
		unlink(mapped->name);
	if (*mapped->config)
		unlink(mapped->config);
}

CT_FIXTURE(pmem_facts, struct mapped, set_up, tear_down);

static int find_facts(struct mapped *mapped, const void *at, size_t len)
{
	return crn_pmem_facts_of(&mapped->params, at, len, &mapped->facts);
}

static void map_file(struct mapped *mapped, int how)
{
	int fd;

	snprintf(mapped->name, sizeof(mapped->name), "./crn_pmem_facts.XXXXXX");
	fd = mkstemp(mapped->name);
	CT_ASSERT_GE(fd, 0);
	CT_ASSERT_EQ(ftruncate(fd, LEN), 0);
	mapped->at = mmap(NULL, LEN, PROT_READ | PROT_WRITE, how, fd, 0);
	CT_ASSERT_NE(mapped->at, MAP_FAILED);
	close(fd);
}

/* Declares what is mapped persistent. */
static void declare_file(struct mapped *mapped)
{
	char *path = realpath(mapped->name, NULL);
	FILE *file;
	int fd;

	snprintf(mapped->config, sizeof(mapped->config), "./crn_pmem_config.XXXXXX");
	fd = mkstemp(mapped->config);
	CT_ASSERT_GE(fd, 0);
	file = fdopen(fd, "w");
	fprintf(file, "[path %s]\npersistent = yes\n", path);
	fclose(file);
	free(path);
	mapped->params.config = mapped->config;
}

CT_TEST_F(pmem_facts, a_file_in_the_page_cache_is_persistent_only_if_declared)
{
	map_file(t, MAP_SHARED);
	CT_EXPECT_EQ(find_facts(t, t->at, LEN), 0);
	CT_EXPECT_FALSE(t->facts.persistent);
	CT_EXPECT_STREQ(t->facts.kind, "a file that is not in persistent memory");

	declare_file(t);
	CT_EXPECT_EQ(find_facts(t, t->at, LEN), 0);
	CT_EXPECT_TRUE(t->facts.persistent);
	CT_EXPECT_EQ(t->facts.persistent_source, CRN_PMEM_DECLARED);
	CT_EXPECT_EQ(t->facts.domain, CRN_DMP);
	CT_EXPECT_STRSTR(ct_log_last(), t->facts.where);
}

CT_TEST_F(pmem_facts, no_declaration_makes_a_private_mapping_persistent)
{
	map_file(t, MAP_PRIVATE);
	declare_file(t);
	CT_EXPECT_EQ(find_facts(t, t->at, LEN), 0);
	CT_EXPECT_FALSE(t->facts.persistent);
}

CT_TEST_F(pmem_facts, a_range_is_one_that_is_mapped)
{
	const int local = 0;

	CT_EXPECT_EQ(find_facts(t, &local, 0), -FI_EINVAL);
	CT_EXPECT_EQ(find_facts(t, &local, SIZE_MAX), -FI_EINVAL);
	CT_EXPECT_EQ(find_facts(t, (void *)4096, 1), -FI_EFAULT);
	t->params.config = "crn_pmem_facts.missing";
	CT_EXPECT_EQ(find_facts(t, &local, 1), -FI_EINVAL);
}
