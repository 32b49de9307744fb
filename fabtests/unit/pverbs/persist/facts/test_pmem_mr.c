/* SPDX-License-Identifier: BSD-2-Clause */
/* FI_RMA_PMEM: a file that is declared persistent stands for persistent memory. */
#include <errno.h>
#include "../../world.h"
#include "persist/control/control.h"
#include "persist/target/internal.h"
#include "../pmem_file.h"

#define LEN 8192
#define FLUSH_CAPS (3ull << 38)
#define WRITE_CAP (1ull << 40)
#define FLUSH_ACCESS (3u << 8)
#define REMOTE (FI_REMOTE_READ | FI_REMOTE_WRITE)
#define RELAXED (1u << 20)

static struct {
	struct world w;
	struct pmem_file file;
	char *mem; /* two pages of the file, mapped shared */
	struct fid_mr *mr;
} pm;

/* say: what the configuration says of the file. */
static bool pm_open_as(uint64_t caps, const char *say, int durable)
{
	world_reset();
	pvb_params.durable = durable;
	fake_devices[0].caps_ex = caps;
	CT_EXPECT_TRUE(pmem_file_open(&pm.file, LEN, say));
	pm.mem = pm.file.mem;
	pm.mr = NULL;
	return !ct_failed() && world_open_domain(&pm.w, NULL);
}

static bool pm_open(uint64_t caps, const char *say)
{
	return pm_open_as(caps, say, PVB_DURABLE_OFF);
}

static void pm_close(void)
{
	if (pm.mr)
		CT_EXPECT_EQ(fi_close(&pm.mr->fid), 0);
	pmem_file_close(&pm.file);
	world_close(&pm.w);
}

static int reg(void *mem, uint64_t access)
{
	return fi_mr_reg(pm.w.domain, mem, LEN, access, 0, 0, FI_RMA_PMEM, &pm.mr, NULL);
}

static unsigned int access_of(struct fid_mr *mr)
{
	return ((struct fake_mr *)crn_container_of(mr, struct pvb_mr, fid)->mr)->access;
}

static struct pvb_key_attr key_attr_of(struct fid_mr *mr)
{
	struct pvb_key_attr attr = {0};

	CT_EXPECT_EQ(pvb_key_parse(fi_mr_key(mr), &attr), 0);
	return attr;
}

CT_TEST(pmem_mr, the_key_says_what_the_memory_is_like)
{
	struct pvb_key_attr attr;

	CT_ASSERT_TRUE(pm_open(0, "persistent=yes\npersistence=mhp\nreceive=replay\n"));
	CT_ASSERT_EQ(reg(pm.mem, REMOTE), 0);
	attr = key_attr_of(pm.mr);
	CT_EXPECT_TRUE(attr.persistent && attr.readable && attr.ddio && attr.software);
	CT_EXPECT_FALSE(attr.flush || attr.atomic_write);
	CT_EXPECT_EQ(attr.domain, CRN_MHP);
	CT_EXPECT_EQ((uint32_t)fi_mr_key(pm.mr),
		     crn_container_of(pm.mr, struct pvb_mr, fid)->mr->rkey);
	CT_EXPECT_TRUE(crn_container_of(pm.mr, struct pvb_mr, fid)->replay);
	pm_close();
}

/* What it stores for a peer is in its caches, whether or not adapters write there. */
CT_TEST(pmem_mr, the_processor_flushes_unless_its_caches_are_spared)
{
	static const struct {
		const char *say;
		bool ddio, flush;
	} rows[] = {{"persistent=yes\npersistence=dmp\nddio=on\n", true, true},
		    {"persistent=yes\npersistence=dmp\nddio=off\n", false, true},
		    {"persistent=yes\npersistence=mhp\n", true, false},
		    {"persistent=yes\npersistence=wsp\n", true, false}};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_ASSERT_TRUE(pm_open(0, rows[i].say));
		/* An adapter of hardware, where DDIO may be off. */
		fake_devices[0].driver = "mlx5_core";
		CT_EXPECT_EQ(reg(pm.mem, REMOTE), 0);
		CT_ASSERT_TRUE(pm.mr);
		CT_EXPECT_EQ(key_attr_of(pm.mr).ddio, rows[i].ddio);
		CT_EXPECT_EQ(
			crn_container_of(pm.mr, struct pvb_mr, fid)->pmem_region.flush,
			rows[i].flush);
		pm_close();
	}
}

static void use_up_descriptors(void *arg)
{
	ct_fds_left(0);
}

CT_TEST(pmem_mr, without_a_thread_for_its_peers_nothing_is_registered)
{
	int objects;

	CT_ASSERT_TRUE(pm_open_as(0, "persistent=yes\n", PVB_DURABLE_ON));
	objects = fake_objects;
	fake_before(FAKE_REG_MR, 1, use_up_descriptors, NULL);
	CT_EXPECT_EQ(reg(pm.mem, REMOTE), -FI_EMFILE);
	ct_fds_restore();
	CT_EXPECT_EQ(fake_objects, objects);
	CT_EXPECT_EQ(reg(pm.mem, REMOTE), 0);
	pm_close();
}

CT_TEST(pmem_mr, without_the_flag_persistent_memory_is_memory)
{
	struct pvb_key_attr attr;

	CT_ASSERT_TRUE(pm_open(FLUSH_CAPS | WRITE_CAP, "persistent=yes\n"));
	CT_ASSERT_EQ(fi_mr_reg(pm.w.domain, pm.mem, LEN, FI_REMOTE_WRITE, 0, 0, 0, &pm.mr,
			       NULL),
		     0);
	CT_EXPECT_EQ(pvb_key_parse(fi_mr_key(pm.mr), &attr), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(access_of(pm.mr), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	pm_close();
}

CT_TEST(pmem_mr, peers_may_read_it_and_flush_it_where_the_device_can)
{
	static const struct {
		uint64_t caps;
		unsigned int refused, flush;
		bool atomic_write;
	} rows[] = {
		{0, 0, 0, false},
		{FLUSH_CAPS, 0, FLUSH_ACCESS, false},
		{WRITE_CAP, 0, 0, true},
		{FLUSH_CAPS | WRITE_CAP, 0, FLUSH_ACCESS, true},
		/* The device flushes other memory than this. */
		{FLUSH_CAPS | WRITE_CAP, FLUSH_ACCESS, 0, true},
	};
	const unsigned int always =
		IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE;
	struct pvb_key_attr attr;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_ASSERT_TRUE(pm_open(rows[i].caps, "persistent=yes\n"));
		fake_devices[0].refused_access = rows[i].refused;
		CT_ASSERT_EQ(reg(pm.mem, FI_REMOTE_WRITE), 0);
		attr = key_attr_of(pm.mr);
		CT_EXPECT_EQ(access_of(pm.mr), always | rows[i].flush);
		CT_EXPECT_EQ(attr.flush, rows[i].flush != 0);
		CT_EXPECT_EQ(attr.atomic_write, rows[i].atomic_write);
		CT_EXPECT_FALSE(access_of(pm.mr) & RELAXED);
		pm_close();
	}
}

CT_TEST(pmem_mr, what_nobody_may_write_takes_no_atomic_write)
{
	CT_ASSERT_TRUE(pm_open(WRITE_CAP, "persistent=yes\n"));
	CT_ASSERT_EQ(reg(pm.mem, FI_REMOTE_READ), 0);
	CT_EXPECT_FALSE(key_attr_of(pm.mr).atomic_write);
	pm_close();
}

CT_TEST(pmem_mr, other_memory_is_refused_and_the_log_says_what_it_is)
{
	static char volatile_memory[LEN];
	unsigned int registered;

	CT_ASSERT_TRUE(pm_open(0, "ddio=on\n"));
	registered = fake_count(FAKE_REG_MR);
	CT_EXPECT_EQ(reg(volatile_memory, REMOTE), -FI_EOPNOTSUPP);
	CT_EXPECT_WARNED("FI_RMA_PMEM 8192 FI_PVERBS_PMEM_CONFIG");
	CT_EXPECT_EQ(reg(pm.mem, REMOTE), -FI_EOPNOTSUPP);
	CT_EXPECT_WARNED(pm.file.file);
	CT_EXPECT_EQ(fake_count(FAKE_REG_MR), registered);
	pm_close();
}

CT_TEST(pmem_mr, memory_that_may_move_is_registered_for_on_demand_paging)
{
	CT_ASSERT_TRUE(pm_open(0, "persistent=yes\n"));
	fake_fail(FAKE_REG_MR, 1, EOPNOTSUPP);
	CT_ASSERT_EQ(reg(pm.mem, FI_REMOTE_WRITE), 0);
	CT_EXPECT_TRUE(access_of(pm.mr) & IBV_ACCESS_ON_DEMAND);
	CT_EXPECT_TRUE(key_attr_of(pm.mr).readable);
	CT_EXPECT_FALSE(key_attr_of(pm.mr).flush);
	pm_close();

	CT_ASSERT_TRUE(pm_open(0, "persistent=yes\n"));
	fake_devices[0].refused_access = IBV_ACCESS_ON_DEMAND;
	fake_fail(FAKE_REG_MR, 1, EOPNOTSUPP);
	CT_EXPECT_EQ(reg(pm.mem, FI_REMOTE_WRITE), -FI_EOPNOTSUPP);
	CT_EXPECT_DATA(ct_log_warning(), pm.file.file);
	pm_close();
}

CT_TEST(pmem_mr, every_call_form_takes_the_flag)
{
	static char volatile_memory[LEN];
	const struct iovec iov = {volatile_memory, LEN};
	const struct fi_mr_attr attr = {.mr_iov = &iov,
					.iov_count = 1,
					.access = FI_REMOTE_WRITE};

	CT_ASSERT_TRUE(pm_open(0, "persistent=yes\n"));
	CT_EXPECT_EQ(fi_mr_regv(pm.w.domain, &iov, 1, REMOTE, 0, 0, FI_RMA_PMEM, &pm.mr,
				NULL),
		     -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(fi_mr_regattr(pm.w.domain, &attr, FI_RMA_PMEM, &pm.mr),
		     -FI_EOPNOTSUPP);
	pm_close();
}

/* Is it one that peers may ask to be made durable? */
static bool known_to_peers(void)
{
	struct pvb_control *control =
		crn_container_of(pm.w.domain, struct pvb_domain, fid)->control;
	const struct pvb_pmem_region *region;

	pthread_mutex_lock(&control->lock);
	region = pvb_pmem_region_containing(control, (uintptr_t)pm.mem, LEN);
	pthread_mutex_unlock(&control->lock);
	return region;
}

static void known_when_deregistered(void *known)
{
	*(bool *)known = known_to_peers();
}

CT_TEST(pmem_mr, a_region_is_not_flushed_once_the_device_has_given_it_up)
{
	bool known = true;

	CT_ASSERT_TRUE(pm_open_as(0, "persistent=yes\n", PVB_DURABLE_ON));
	CT_ASSERT_EQ(reg(pm.mem, REMOTE), 0);
	CT_EXPECT_TRUE(known_to_peers());
	fake_devices[0].dereg_hook = known_when_deregistered;
	fake_devices[0].dereg_hook_arg = &known;
	/* One that the device still uses stays as it was. */
	fake_fail(FAKE_DEREG_MR, 1, EBUSY);
	CT_EXPECT_EQ(fi_close(&pm.mr->fid), -FI_EBUSY);
	CT_EXPECT_FALSE(known);
	CT_EXPECT_TRUE(known_to_peers());
	CT_EXPECT_EQ(fi_close(&pm.mr->fid), 0);
	CT_EXPECT_FALSE(known);
	CT_EXPECT_FALSE(known_to_peers());
	fake_devices[0].dereg_hook = NULL;
	pm.mr = NULL;
	pm_close();
}

CT_TEST(pmem_mr, errors_of_the_device_and_of_the_configuration_are_told)
{
	CT_ASSERT_TRUE(pm_open(0, "persistent=yes\n"));
	fake_fail(FAKE_REG_MR, 1, EFAULT);
	CT_EXPECT_EQ(reg(pm.mem, REMOTE), -FI_EFAULT);
	CT_EXPECT_STRSTR(ct_log_last(), fi_strerror(FI_EFAULT));
	pvb_params.pmem_config = "pvb_pmem.missing";
	CT_EXPECT_EQ(reg(pm.mem, REMOTE), -FI_EINVAL);
	CT_EXPECT_DATA(ct_log_warning(), "pvb_pmem.missing");
	pm_close();
}
