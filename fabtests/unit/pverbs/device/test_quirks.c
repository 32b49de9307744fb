/* SPDX-License-Identifier: BSD-2-Clause */
#include <net/if.h>
#include <stdlib.h>
#include "../world.h"

#define IWARP                                                                            \
	(PVB_QUIRK_NO_ATOMICS | PVB_QUIRK_READ_NEEDS_WRITE | PVB_QUIRK_WEAK_COMPLETION | \
	 PVB_QUIRK_KERNEL_CONNECTS)

static const struct {
	const char *driver;
	enum ibv_transport_type transport;
	uint32_t quirks;
} rows[] = {
	{"", IBV_TRANSPORT_IB, 0},
	{"mlx5_core", IBV_TRANSPORT_IB, 0},
	{"simverbs", IBV_TRANSPORT_IB, 0},
	{"rxe", IBV_TRANSPORT_IB, PVB_QUIRK_FENCE_STALLS},
	{"simverbs", IBV_TRANSPORT_IWARP, IWARP},
	{"irdma", IBV_TRANSPORT_IWARP, IWARP},
	{"siw", IBV_TRANSPORT_IWARP, IWARP | PVB_QUIRK_NO_IMMEDIATE},
	{"rxenon", IBV_TRANSPORT_IB, 0},
};

CT_TEST(quirks, driver_and_transport_decide)
{
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_EXPECT_EQ(pvb_quirks(rows[i].driver, rows[i].transport),
			     rows[i].quirks);
	}
}

CT_TEST(quirks, an_open_device_and_its_address_tell_theirs)
{
	struct pvb_device_addr *list;
	struct ibv_context *verbs;
	size_t count;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		world_reset();
		fake_devices[0].driver = rows[i].driver;
		fake_devices[0].ibv.transport_type = rows[i].transport;
		CT_ASSERT_EQ(pvb_device_open("fake0", &verbs), 0);
		CT_EXPECT_EQ(pvb_device_quirks(verbs), rows[i].quirks);
		ibv_close_device(verbs);
		CT_ASSERT_EQ(pvb_device_addrs(&list, &count), 0);
		CT_EXPECT_EQ(list[0].quirks, rows[i].quirks);
		free(list);
	}
}
