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
static struct crn_pmem_params params;
static struct crn_pmem_facts facts;

/* A file of LEN bytes in the folder of the test, and what of it is mapped. */
struct mapped {
	char name[64];
	uint8_t *at;
};

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

static void unmap_file(struct mapped *mapped)
{
	munmap(mapped->at, LEN);
	unlink(mapped->name);
}

/* Declares what is mapped persistent. */
static void declare_file(const struct mapped *mapped, char config[64])
{
	char *path = realpath(mapped->name, NULL);
	FILE *file;
	int fd;

	snprintf(config, 64, "./crn_pmem_config.XXXXXX");
	fd = mkstemp(config);
	CT_ASSERT_GE(fd, 0);
	file = fdopen(fd, "w");
	fprintf(file, "[path %s]\npersistent = yes\n", path);
	fclose(file);
	free(path);
	params = (struct crn_pmem_params){
		.prov = &prov,
		.prefix = "FI_TEST",
		.config = config,
	};
}

CT_TEST(pmem_facts, a_file_in_the_page_cache_is_persistent_only_if_declared)
{
	struct mapped mapped;
	char config[64];

	map_file(&mapped, MAP_SHARED);
	params = (struct crn_pmem_params){.prov = &prov, .prefix = "FI_TEST"};
	CT_EXPECT_EQ(crn_pmem_facts_of(&params, mapped.at, LEN, &facts), 0);
	CT_EXPECT_FALSE(facts.persistent);
	CT_EXPECT_STREQ(facts.kind, "a file that is not in persistent memory");

	declare_file(&mapped, config);
	CT_EXPECT_EQ(crn_pmem_facts_of(&params, mapped.at, LEN, &facts), 0);
	CT_EXPECT_TRUE(facts.persistent);
	CT_EXPECT_EQ(facts.persistent_source, CRN_PMEM_DECLARED);
	CT_EXPECT_EQ(facts.domain, CRN_DMP);
	CT_EXPECT_STRSTR(ct_log_last(), "only because it is declared so");
	unlink(config);
	unmap_file(&mapped);
}

CT_TEST(pmem_facts, no_declaration_makes_a_private_mapping_persistent)
{
	struct mapped mapped;
	char config[64];

	map_file(&mapped, MAP_PRIVATE);
	declare_file(&mapped, config);
	CT_EXPECT_EQ(crn_pmem_facts_of(&params, mapped.at, LEN, &facts), 0);
	CT_EXPECT_FALSE(facts.persistent);
	unlink(config);
	unmap_file(&mapped);
}

CT_TEST(pmem_facts, a_range_is_one_that_is_mapped)
{
	const int local = 0;

	params = (struct crn_pmem_params){.prov = &prov, .prefix = "FI_TEST"};
	CT_EXPECT_EQ(crn_pmem_facts_of(&params, &local, 0, &facts), -FI_EINVAL);
	CT_EXPECT_EQ(crn_pmem_facts_of(&params, &local, SIZE_MAX, &facts), -FI_EINVAL);
	CT_EXPECT_EQ(crn_pmem_facts_of(&params, (void *)4096, 1, &facts), -FI_EFAULT);
	params.config = "crn_pmem_facts.missing";
	CT_EXPECT_EQ(crn_pmem_facts_of(&params, &local, 1, &facts), -FI_EINVAL);
}
