/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include "../../world.h"
#include "persist/initiator/initiator.h"
#include "persist/persist.h"
#include "persist/target/target.h"
#include "common/pmem/tree.h"

static const struct pvb_adapter hardware = {.driver = "mlx5_core", .ddio = true};
static const struct pvb_adapter software = {.driver = "rxe",
					    .software = true,
					    .ddio = true};
static const struct pvb_adapter unknown = {.software = true, .ddio = true};

static const struct crn_pmem_found dmp = {.persistent = true,
					  .kind = "devdax",
					  .domain_known = true,
					  .domain = CRN_DMP,
					  .reported = "memory_controller"};
static const struct crn_pmem_found mhp = {.persistent = true,
					  .kind = "devdax",
					  .domain_known = true,
					  .domain = CRN_MHP,
					  .reported = "cpu_cache"};
static const struct crn_pmem_found blank = {.persistent = true, .kind = "devdax"};
static const struct crn_pmem_found nothing = {.kind = "anonymous memory"};
static const struct crn_pmem_found refused = {.refused = true,
					      .kind = "a private mapping"};

static struct crn_pmem_declarations declared;
static struct pvb_facts facts;

static void combine(const struct pvb_adapter *adapter, const struct crn_pmem_found *found,
		    const char *config)
{
	char error[160];

	memset(&declared, 0, sizeof(declared));
	CT_ASSERT_EQ(crn_pmem_declare_parse(config, strlen(config), &declared, error,
					    sizeof(error)),
		     0);
	ct_log_reset();
	memset(&facts, 0xff, sizeof(facts));
	pvb_facts_combine(adapter, &declared, found, "/dev/dax0.0", &facts);
}

CT_TEST(facts, nobody_knows_anything_is_dmp_with_ddio_and_volatile)
{
	combine(&hardware, &nothing, "");
	CT_EXPECT_FALSE(facts.key_attr.persistent);
	CT_EXPECT_EQ(facts.key_attr.domain, CRN_DMP);
	CT_EXPECT_TRUE(facts.key_attr.ddio);
	CT_EXPECT_FALSE(facts.replay || facts.key_attr.readable || facts.key_attr.flush);
	CT_EXPECT_EQ(facts.mem.domain_source, CRN_PMEM_DEFAULT);
	CT_EXPECT_EQ(facts.ddio_source, CRN_PMEM_DEFAULT);
	CT_EXPECT_EQ(facts.mem.persistent_source, CRN_PMEM_DEFAULT);
}

CT_TEST(facts, what_is_detected_counts_and_says_so)
{
	combine(&hardware, &mhp, "");
	CT_EXPECT_TRUE(facts.key_attr.persistent);
	CT_EXPECT_EQ(facts.key_attr.domain, CRN_MHP);
	CT_EXPECT_EQ(facts.mem.domain_source, CRN_PMEM_DETECTED);
	CT_EXPECT_EQ(facts.mem.persistent_source, CRN_PMEM_DETECTED);
	CT_EXPECT_EQ(facts.software_source, CRN_PMEM_DETECTED);
	CT_EXPECT_FALSE(facts.key_attr.software);
	CT_EXPECT_STREQ(facts.mem.where, "/dev/dax0.0");
	CT_EXPECT_STREQ(facts.mem.kind, "devdax");
	combine(&hardware, &blank, "");
	CT_EXPECT_TRUE(facts.key_attr.persistent);
	CT_EXPECT_EQ(facts.key_attr.domain, CRN_DMP);
	CT_EXPECT_EQ(facts.mem.domain_source, CRN_PMEM_DEFAULT);
}

CT_TEST(facts, a_software_device_has_ddio_on)
{
	combine(&software, &dmp, "");
	CT_EXPECT_TRUE(facts.key_attr.software && facts.key_attr.ddio);
	CT_EXPECT_EQ(facts.ddio_source, CRN_PMEM_DETECTED);
	combine(&unknown, &dmp, "");
	CT_EXPECT_TRUE(facts.key_attr.software && facts.key_attr.ddio);
	CT_EXPECT_EQ(facts.software_source, CRN_PMEM_DEFAULT);
}

CT_TEST(facts, declarations_of_a_software_device_cannot_switch_ddio_off)
{
	combine(&software, &dmp, "[host]\nddio=off\n");
	CT_EXPECT_TRUE(facts.key_attr.ddio);
	CT_EXPECT_EQ(facts.ddio_source, CRN_PMEM_DETECTED);
	CT_EXPECT_WARNED("/dev/dax0.0");
	combine(&software, &dmp, "[host]\nddio=on\n");
	CT_EXPECT_TRUE(facts.key_attr.ddio);
	CT_EXPECT_EQ(ct_log_count(), 0);
}

CT_TEST(facts, declared_counts_before_detected)
{
	static const struct {
		const struct crn_pmem_found *found;
		const char *word;
		enum crn_persistence domain;
		const char *log;
	} rows[] = {
		{&dmp, "mhp", CRN_MHP, "memory_controller"},
		{&dmp, "wsp", CRN_WSP, "memory_controller"},
		{&mhp, "wsp", CRN_WSP, "cpu_cache"},
		{&mhp, "dmp", CRN_DMP, "cpu_cache"},
		{&mhp, "mhp", CRN_MHP, ""},
		{&blank, "wsp", CRN_WSP, ""},
	};
	char config[100];

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		snprintf(config, sizeof(config), "[path /dev/dax0.0]\npersistence=%s\n",
			 rows[i].word);
		combine(&hardware, rows[i].found, config);
		CT_EXPECT_EQ(facts.key_attr.domain, rows[i].domain);
		CT_EXPECT_EQ(facts.mem.domain_source, CRN_PMEM_DECLARED);
		CT_EXPECT_STRSTR(ct_log_last(), rows[i].log);
		CT_EXPECT_EQ(ct_log_count(), *rows[i].log ? 1 : 0);
	}
	combine(&hardware, &dmp, "[host]\nddio=off\nreceive=replay\n");
	CT_EXPECT_FALSE(facts.key_attr.ddio);
	CT_EXPECT_EQ(facts.ddio_source, CRN_PMEM_DECLARED);
	CT_EXPECT_TRUE(facts.replay);
	CT_EXPECT_EQ(ct_log_count(), 0);
}

CT_TEST(facts, memory_may_be_declared_persistent_but_not_what_cannot_be)
{
	static const char yes[] = "[path /dev]\npersistent=yes\n";

	combine(&hardware, &nothing, yes);
	CT_EXPECT_TRUE(facts.key_attr.persistent);
	CT_EXPECT_EQ(facts.mem.persistent_source, CRN_PMEM_DECLARED);
	CT_EXPECT_WARNED(nothing.kind);
	combine(&hardware, &refused, yes);
	CT_EXPECT_FALSE(facts.key_attr.persistent);
	CT_EXPECT_EQ(facts.mem.persistent_source, CRN_PMEM_DEFAULT);
	CT_EXPECT_WARNED(refused.kind);
	combine(&hardware, &dmp, yes);
	CT_EXPECT_TRUE(facts.key_attr.persistent);
	CT_EXPECT_EQ(ct_log_count(), 0);
	combine(&hardware, &dmp, "[path /dev]\npersistent=no\n");
	CT_EXPECT_FALSE(facts.key_attr.persistent);
	CT_EXPECT_EQ(facts.mem.persistent_source, CRN_PMEM_DECLARED);
}

static struct pvb_adapter simverbs(enum crn_persistence domain, bool ddio)
{
	struct pvb_adapter adapter = {
		.driver = "simverbs",
		.simverbs = true,
		.domain_known = true,
		.domain = domain,
		.ddio = ddio,
		.mapping = "/dev/dax0.0",
	};

	return adapter;
}

CT_TEST(facts, of_its_file_simverbs_declares_the_machine)
{
	struct pvb_adapter adapter = simverbs(CRN_MHP, false);

	combine(&adapter, &nothing, "");
	CT_EXPECT_TRUE(facts.key_attr.persistent);
	CT_EXPECT_FALSE(facts.key_attr.ddio || facts.key_attr.software);
	CT_EXPECT_EQ(facts.key_attr.domain, CRN_MHP);
	CT_EXPECT_EQ(facts.mem.persistent_source, CRN_PMEM_DECLARED);
	CT_EXPECT_EQ(facts.mem.domain_source, CRN_PMEM_DECLARED);
	CT_EXPECT_EQ(facts.ddio_source, CRN_PMEM_DECLARED);
	CT_EXPECT_EQ(facts.software_source, CRN_PMEM_DECLARED);
	combine(&adapter, &refused, "");
	CT_EXPECT_FALSE(facts.key_attr.persistent);
}

CT_TEST(facts, toward_other_memory_simverbs_is_software)
{
	struct pvb_adapter adapter = simverbs(CRN_WSP, false);

	strcpy(adapter.mapping, "/tmp/other");
	combine(&adapter, &dmp, "[host]\nddio=off\n");
	CT_EXPECT_TRUE(facts.key_attr.software && facts.key_attr.ddio);
	CT_EXPECT_EQ(facts.key_attr.domain, CRN_DMP);
	CT_EXPECT_EQ(facts.mem.domain_source, CRN_PMEM_DETECTED);
	CT_EXPECT_WARNED("");
	strcpy(adapter.mapping, "");
	combine(&adapter, &nothing, "");
	CT_EXPECT_FALSE(facts.key_attr.persistent);
}

CT_TEST(facts, a_declaration_over_what_simverbs_models_is_said)
{
	struct pvb_adapter adapter = simverbs(CRN_DMP, true);

	combine(&adapter, &nothing, "[host]\nddio=off\n");
	CT_EXPECT_FALSE(facts.key_attr.ddio);
	CT_EXPECT_WARNED("");
	combine(&adapter, &nothing, "[host]\npersistence=wsp\n");
	CT_EXPECT_EQ(facts.key_attr.domain, CRN_WSP);
	CT_EXPECT_WARNED("DMP");
}

CT_TEST(facts, a_long_name_keeps_its_end)
{
	char name[200] = "/", wanted[64];

	memset(name + 1, 'a', 150);
	strcpy(name + 151, "/the-log");
	memset(&declared, 0, sizeof(declared));
	pvb_facts_combine(&hardware, &declared, &dmp, name, &facts);
	CT_EXPECT_EQ(strlen(facts.mem.where), 63);
	snprintf(wanted, sizeof(wanted), "...%s", name + strlen(name) - 60);
	CT_EXPECT_STREQ(facts.mem.where, wanted);
}

/* Three mappings side by side: devdax in a region, another one, and the heap. */
static struct tree tree;
static const struct tree_stat stats[] = {
	{"/dev/dax0.0", 500, 251, 7},
	{"/dev/dax1.0", 501, 251, 8},
	{NULL, 0, 0, 0},
};

static int range(const struct pvb_adapter *adapter, const char *config, uintptr_t begin,
		 size_t len)
{
	static const char other[] = "/sys/devices/ndbus0/region1";
	char error[100], path[100];
	int ret;

	memset(&declared, 0, sizeof(declared));
	CT_EXPECT_EQ(crn_pmem_declare_parse(config, strlen(config), &declared, error,
					    sizeof(error)),
		     0);
	tree_open(&tree, stats);
	tree_file(&tree, "/proc/self/maps",
		  "10000-11000 rw-s 0 00:05 500 /dev/dax0.0\n"
		  "11000-12000 rw-s 0 00:05 501 /dev/dax1.0\n"
		  "12000-13000 rw-p 0 00:00 0 [heap]\n");
	tree_region(&tree, "cpu_cache");
	tree_devices(&tree);
	snprintf(path, sizeof(path), "%s/persistence_domain", other);
	tree_file(&tree, path, "memory_controller\n");
	tree_link(&tree, "/sys/dev/char/251:8", other);
	ret = pvb_facts_range(&tree.host, adapter, &declared, begin, len, &facts);
	tree_close(&tree);
	return ret;
}

CT_TEST(facts, a_range_is_like_the_weakest_of_its_mappings)
{
	CT_EXPECT_EQ(range(&hardware, "", 0x10000, 0x1000), 0);
	CT_EXPECT_EQ(facts.key_attr.domain, CRN_MHP);
	CT_EXPECT_EQ(range(&hardware, "", 0x10000, 0x1001), 0);
	CT_EXPECT_TRUE(facts.key_attr.persistent);
	CT_EXPECT_EQ(facts.key_attr.domain, CRN_DMP);
	CT_EXPECT_EQ(facts.mem.domain_source, CRN_PMEM_DETECTED);
	CT_EXPECT_STREQ(facts.mem.where, "/dev/dax0.0");
	CT_EXPECT_EQ(range(&hardware, "", 0x10000, 0x2001), 0);
	CT_EXPECT_FALSE(facts.key_attr.persistent);
	CT_EXPECT_STREQ(facts.mem.where, "[heap]");
}

CT_TEST(facts, a_declaration_about_a_part_counts_for_the_part)
{
	CT_EXPECT_EQ(range(&hardware,
			   "[path /dev/dax0.0]\npersistence=wsp\nddio=off\n"
			   "receive=replay\n",
			   0x10000, 0x2000),
		     0);
	CT_EXPECT_EQ(facts.key_attr.domain, CRN_DMP);
	CT_EXPECT_EQ(facts.mem.domain_source, CRN_PMEM_DETECTED);
	CT_EXPECT_TRUE(facts.key_attr.ddio);
	CT_EXPECT_EQ(facts.ddio_source, CRN_PMEM_DEFAULT);
	CT_EXPECT_FALSE(facts.replay);
}

CT_TEST(facts, a_range_has_to_be_mapped_and_one)
{
	CT_EXPECT_EQ(range(&hardware, "", 0x12000, 0x1001), -FI_EFAULT);
	CT_EXPECT_EQ(range(&hardware, "", 0x10000, 0), -FI_EINVAL);
	CT_EXPECT_EQ(range(&hardware, "", 0x10000, SIZE_MAX), -FI_EINVAL);
}

static struct ibv_context *verbs_of(struct world *w)
{
	return crn_container_of(w->domain, struct pvb_domain, fid)->verbs;
}

CT_TEST(facts, of_this_process_memory_nothing_is_persistent)
{
	struct world w;
	int local = 0;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	CT_EXPECT_EQ(pvb_facts_of(verbs_of(&w), &local, sizeof(local), &facts), 0);
	CT_EXPECT_FALSE(facts.key_attr.persistent);
	CT_EXPECT_TRUE(facts.key_attr.software && facts.key_attr.ddio);
	CT_EXPECT_FALSE(facts.key_attr.flush || facts.key_attr.atomic_write);
	pvb_params.pmem_config = "pvb_facts.missing";
	CT_EXPECT_EQ(pvb_facts_of(verbs_of(&w), &local, sizeof(local), &facts),
		     -FI_EINVAL);
	world_close(&w);
}
