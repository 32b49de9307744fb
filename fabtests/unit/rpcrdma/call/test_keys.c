/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 8166 section 8.1.2: who knows some handles of regions cannot tell the next. */
#include "ends.h"

#define CALLS 32u
#define NEAR 0x10000u

/* Where the lower provider takes the keys of the layer. */
static void start(struct ends *e)
{
	ends_begin();
	scr_offer()->domain_attr->mr_mode &= ~FI_MR_PROV_KEY;
	CT_ASSERT_EQ(ends_up(e, RPR_MODE_WRAP), 0);
	ends_message(&e->client, &e->server);
}

CT_FIXTURE(rpcrdma_keys, struct ends, start, ends_close);

/* Keys of the region of each Call, in order. */
static void collect(struct ends *e, uint32_t keys[CALLS])
{
	struct scr_record record;
	unsigned int before;

	for (unsigned int i = 0; i < CALLS; i++) {
		before = scr_count(SCR_MR_REG);
		ends_send(&e->client, ENDS_LONG);
		CT_EXPECT_TRUE(scr_look(SCR_MR_REG, before, &record));
		keys[i] = (uint32_t)record.key;
		ends_recv(&e->server, 0);
		/* The RDMA Read. */
		pair_nothing(e->server.cq);
		pair_done(e->server.cq, e->server.got[0], FI_RECV | FI_MSG);
		pair_nothing(e->server.cq);
		pair_done(e->client.cq, &e->client, FI_SEND | FI_MSG);
	}
}

CT_TEST_F(rpcrdma_keys, keys_follow_each_other_in_no_obvious_order)
{
	uint32_t keys[CALLS], step, other;

	collect(t, keys);
	for (unsigned int i = 0; i + 1 < CALLS; i++) {
		step = keys[i + 1] - keys[i];
		CT_NOTE("key %u", i);
		CT_EXPECT_TRUE(step > NEAR && -step > NEAR);
		for (unsigned int j = 0; j < i; j++) {
			other = keys[j + 1] - keys[j];
			CT_EXPECT_NE(other, step);
		}
	}
}
