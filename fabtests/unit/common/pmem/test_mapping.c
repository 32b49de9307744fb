/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <stdio.h>
#include <cairn/pmem.h>
#include "cairn_test.h"
#include "tree.h"

static struct tree tree;

static const struct tree_stat stats[] = {
	{"/dev/dax0.0", 500, 251, 7},
	{"/dev/dax1.0", 501, 251, 8},
	{"/dev/zero", 502, 1, 5},
	{"/mnt/pm/a", 77, 0, 0},
	{NULL, 0, 0, 0},
};

static const char maps[] =
	"10000-12000 rw-s 00000000 00:05 500                    /dev/dax0.0\n"
	"12000-13000 rw-s 00000000 103:01 77      /mnt/pm/a file\n"
	"13000-14000 r--p 00000000 103:01 77                    /mnt/pm/a\n"
	"20000-21000 rw-p 00000000 00:00 0 \n"
	"21000-22000 rw-p 00000000 00:00 0                      [heap]\n"
	"7f0000000000-7f0000001000 rw-s 00001000 103:00 78      /mnt/pm/b (deleted)\n";

struct seen {
	unsigned int count;
	struct crn_pmem_mapping last;
	int stop;
};

static int see(const struct crn_pmem_mapping *mapping, void *arg)
{
	struct seen *seen = arg;

	seen->count++;
	seen->last = *mapping;
	return seen->stop;
}

static int walk(uintptr_t begin, uintptr_t end, struct seen *seen)
{
	seen->count = 0;
	return crn_pmem_mappings(&tree.host, begin, end, see, seen);
}

CT_TEST(mapping, those_that_have_bytes_of_a_range_are_found)
{
	static const struct {
		uintptr_t begin, end;
		int ret;
		unsigned int count;
	} rows[] = {
		{0x10000, 0x10001, 0, 1},
		{0x10000, 0x12000, 0, 1},
		{0x11fff, 0x12001, 0, 2},
		{0x10800, 0x13800, 0, 3},
		{0x20000, 0x22000, 0, 2},
		/* Something of it is not there. */
		{0x0ffff, 0x10001, -FI_EFAULT, 0},
		{0x13000, 0x14001, -FI_EFAULT, 1},
		{0x13000, 0x20001, -FI_EFAULT, 1},
		{0x30000, 0x30001, -FI_EFAULT, 0},
		{0x7f0000000fff, 0x7f0000001001, -FI_EFAULT, 1},
	};
	static struct seen seen;

	tree_open(&tree, stats);
	tree_file(&tree, "/proc/self/maps", maps);
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_EXPECT_EQ(walk(rows[i].begin, rows[i].end, &seen), rows[i].ret);
		CT_EXPECT_EQ(seen.count, rows[i].count);
	}
	seen.stop = -FI_EINTR;
	CT_EXPECT_EQ(walk(0x10800, 0x13800, &seen), -FI_EINTR);
	CT_EXPECT_EQ(seen.count, 1);
	tree_close(&tree);
	CT_EXPECT_EQ(walk(0x10000, 0x10001, &seen), -FI_ENOENT);
}

CT_TEST(mapping, a_line_is_understood)
{
	static struct seen seen;

	tree_open(&tree, stats);
	tree_file(&tree, "/proc/self/maps", maps);
	CT_EXPECT_EQ(walk(0x12000, 0x12001, &seen), 0);
	CT_EXPECT_EQ(seen.last.begin, 0x12000);
	CT_EXPECT_EQ(seen.last.end, 0x13000);
	CT_EXPECT_TRUE(seen.last.shared);
	CT_EXPECT_EQ(seen.last.major, 0x103);
	CT_EXPECT_EQ(seen.last.minor, 1);
	CT_EXPECT_EQ(seen.last.inode, 77);
	CT_EXPECT_STREQ(seen.last.name, "/mnt/pm/a file");
	CT_EXPECT_EQ(walk(0x20000, 0x20001, &seen), 0);
	CT_EXPECT_STREQ(seen.last.name, "");
	CT_EXPECT_FALSE(seen.last.shared);
	tree_close(&tree);
}

CT_TEST(mapping, lines_that_are_none_are_skipped)
{
	static char text[PATH_MAX * 3];
	static struct seen seen;
	size_t at =
		(size_t)sprintf(text, "garbage\n10000-zz rw-p\n20000-10000 rw-p 0 0:0 0\n"
				      "10000-11000 rw-s 0 0:5 500 /");

	memset(text + at, 'x', PATH_MAX * 2);
	sprintf(text + at + PATH_MAX * 2, "\n11000-12000 rw-s 0 0:5 500 /dev/dax0.0\n");
	tree_open(&tree, stats);
	tree_file(&tree, "/proc/self/maps", text);
	CT_EXPECT_EQ(walk(0x10000, 0x12000, &seen), 0);
	CT_EXPECT_EQ(seen.count, 2);
	CT_EXPECT_STREQ(seen.last.name, "/dev/dax0.0");
	tree_close(&tree);
}

CT_TEST(mapping, this_process_has_mappings)
{
	static struct seen seen;
	int local = 0;

	CT_EXPECT_EQ(crn_pmem_mappings(&crn_host, (uintptr_t)&local,
				       (uintptr_t)(&local + 1), see, &seen),
		     0);
	CT_EXPECT_EQ(seen.count, 1);
	CT_EXPECT_FALSE(seen.last.shared);
}

#define PMEM_FILE                                                               \
	{                                                                       \
		.begin = 0x12000, .end = 0x13000, .shared = true, .major = 259, \
		.minor = 1, .inode = 77, .name = "/mnt/pm/a",                   \
	}

static const char smaps[] = "10000-12000 rw-s 00000000 00:05 500 /dev/dax0.0\n"
			    "Size:                  8 kB\n"
			    "VmFlags: rd wr sh mr mw me ms sf \n"
			    "12000-13000 rw-s 00000000 103:01 77 /mnt/pm/a\n"
			    "Size:                  4 kB\n"
			    "VmFlags: rd wr sh mr mw me ms%s\n"
			    "13000-14000 rw-s 00001000 103:01 77 /mnt/pm/a\n"
			    "VmFlags: rd wr sh mr mw me ms sf \n";

static bool sync_with(const char *flags, const struct crn_pmem_mapping *mapping)
{
	char text[1000];
	bool sync;

	snprintf(text, sizeof(text), smaps, flags);
	tree_open(&tree, stats);
	tree_file(&tree, "/proc/self/smaps", text);
	sync = crn_pmem_mapping_sync(&tree.host, mapping);
	tree_close(&tree);
	return sync;
}

CT_TEST(mapping, sf_among_the_flags_of_a_mapping_is_map_sync)
{
	static struct crn_pmem_mapping mapping = PMEM_FILE;
	static struct crn_pmem_mapping other = PMEM_FILE;

	CT_EXPECT_TRUE(sync_with(" sf ", &mapping));
	CT_EXPECT_TRUE(sync_with(" sf", &mapping));
	CT_EXPECT_FALSE(sync_with(" ", &mapping));
	CT_EXPECT_FALSE(sync_with(" sd ", &mapping));
	/* Something else is mapped there meanwhile. */
	other.inode = 78;
	CT_EXPECT_FALSE(sync_with(" sf ", &other));
}

/* What is found of a mapping on a machine with a region that reports domain. */
static struct crn_pmem_found detect(const struct crn_pmem_mapping *mapping,
				    const char *domain, const char *flags)
{
	struct crn_pmem_found found;
	char text[1000];

	snprintf(text, sizeof(text), smaps, flags);
	tree_open(&tree, stats);
	tree_region(&tree, domain);
	tree_devices(&tree);
	tree_file(&tree, "/proc/self/smaps", text);
	crn_pmem_mapping_detect(&tree.host, mapping, &found);
	tree_close(&tree);
	return found;
}

#define SHARED(...)                         \
	{                                   \
		.shared = true, __VA_ARGS__ \
	}
#define DEVDAX SHARED(.inode = 500, .name = "/dev/dax0.0")

CT_TEST(mapping, only_devdax_and_fsdax_with_map_sync_are_persistent)
{
	static const struct {
		const char *flags;
		bool persistent, refused;
		const char *kind;
		struct crn_pmem_mapping mapping;
	} rows[] = {
		{" sf", true, false, "fsdax, MAP_SYNC", PMEM_FILE},
		{"", false, false, "without MAP_SYNC", PMEM_FILE},
		{"", true, false, "devdax", DEVDAX},
		{"", false, false, "no nvdimm",
		 SHARED(.inode = 501, .name = "/dev/dax1.0")},
		{"", false, false, "no nvdimm",
		 SHARED(.inode = 502, .name = "/dev/zero")},
		{"", false, false, "not in persistent",
		 SHARED(.inode = 5, .major = 8, .name = "/home/a")},
		/* Another file has the name by now. */
		{"", false, false, "not in persistent",
		 SHARED(.inode = 499, .name = "/dev/dax0.0")},
		{"", false, true, "private", {.inode = 500, .name = "/dev/dax0.0"}},
		{"", false, true, "deleted",
		 SHARED(.inode = 500, .name = "/mnt/pm/a (deleted)")},
		{"", false, false, "anonymous", {.name = ""}},
		{"", false, false, "anonymous", {.name = "[heap]"}},
	};
	struct crn_pmem_found found;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		found = detect(&rows[i].mapping, "cpu_cache", rows[i].flags);
		CT_EXPECT_EQ(found.persistent, rows[i].persistent);
		CT_EXPECT_EQ(found.refused, rows[i].refused);
		CT_EXPECT_STRSTR(found.kind, rows[i].kind);
		CT_EXPECT_TRUE(!found.persistent || found.domain == CRN_MHP);
	}
}

CT_TEST(mapping, the_region_says_the_domain)
{
	static const struct crn_pmem_mapping file = PMEM_FILE;
	static const struct crn_pmem_mapping dax = DEVDAX;
	struct crn_pmem_found found = detect(&file, "cpu_cache", " sf");

	CT_EXPECT_TRUE(found.domain_known && found.domain == CRN_MHP);
	CT_EXPECT_STREQ(found.reported, "cpu_cache");
	found = detect(&dax, "memory_controller", "");
	CT_EXPECT_TRUE(found.domain_known && found.domain == CRN_DMP);
	found = detect(&dax, "", "");
	CT_EXPECT_TRUE(found.persistent && !found.domain_known);
	CT_EXPECT_EQ(found.domain, CRN_DMP);
}

CT_TEST(mapping, virtio_pmem_is_refused)
{
	static const char region[] = "/sys/devices/virtio1/ndbus0/region0";
	static const struct crn_pmem_mapping dax = DEVDAX;
	struct crn_pmem_found found;
	char path[100];

	tree_open(&tree, stats);
	snprintf(path, sizeof(path), "%s/persistence_domain", region);
	tree_file(&tree, path, "\n");
	tree_link(&tree, "/sys/dev/char/251:7", region);
	crn_pmem_mapping_detect(&tree.host, &dax, &found);
	CT_EXPECT_TRUE(found.refused && !found.persistent);
	CT_EXPECT_STRSTR(found.kind, "virtio-pmem");
	tree_close(&tree);
}
