/* SPDX-License-Identifier: BSD-2-Clause */
/* mr_mode of fi_getinfo: every hint with every use of memory and every interface. */
#include <stdlib.h>
#include "world.h"

#define FOUR (FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR)
#define REMOTE (FI_REMOTE_READ | FI_REMOTE_WRITE)

static const uint32_t versions[] = {FI_VERSION(1, 4), FI_VERSION(1, 5), FI_VERSION(1, 17),
				    FI_VERSION(2, 1)};

/* Capabilities asked for, and whether a peer may read or write memory with them. */
static const struct {
	const char *name;
	uint64_t caps;
	bool remote;
} uses[] = {
	{"all", 0, true},
	{"messages", FI_MSG, false},
	{"sends", FI_MSG | FI_SEND, false},
	{"messages and RMA", FI_MSG | FI_RMA, true},
	{"RMA", FI_RMA, true},
	{"reads and writes", FI_MSG | FI_RMA | FI_READ | FI_WRITE, false},
	{"writes", FI_RMA | FI_WRITE, false},
	{"remote reads", FI_MSG | FI_RMA | FI_REMOTE_READ, true},
	{"remote writes", FI_RMA | FI_REMOTE_WRITE, true},
	{"all directions", FI_RMA | FI_READ | FI_WRITE | REMOTE, true},
};

/* Bits that a program may offer and that nothing here needs. */
static const int extras[] = {
	0,
	FI_MR_RAW,
	FI_MR_ENDPOINT,
	FI_MR_RMA_EVENT,
	FI_MR_MMU_NOTIFY,
	FI_MR_RAW | FI_MR_ENDPOINT | FI_MR_RMA_EVENT | FI_MR_MMU_NOTIFY,
};

/* The mr_mode of the answer, or -FI_ENODATA. */
static int answer(uint32_t version, uint64_t caps, int mr_mode, uint64_t mode)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;
	int ret;

	hints->caps = caps;
	hints->mode = mode;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode = mr_mode;
	ret = pvb_getinfo(version, NULL, NULL, 0, hints, &info);
	if (!ret) {
		ret = info->domain_attr->mr_mode;
		CT_EXPECT_EQ(info->mode & CRN_LOCAL_MR,
			     ret == CRN_MR_BASIC || ret == CRN_MR_SCALABLE
				     ? mode & CRN_LOCAL_MR
				     : 0);
	}
	fi_freeinfo(info);
	fi_freeinfo(hints);
	return ret;
}

static int required(bool remote)
{
	return remote ? FOUR : FI_MR_LOCAL;
}

CT_TEST(info_mr,
	the_bits_of_a_program_must_cover_the_required_ones_and_only_these_are_answered)
{
	int bits, wanted;

	world_reset();
	for (size_t v = 1; v < CRN_COUNT(versions); v++) {
		for (size_t u = 0; u < CRN_COUNT(uses); u++) {
			for (bits = 0; bits <= FOUR; bits++) {
				if (bits & ~FOUR)
					continue;
				CT_NOTE("version %u.%u, %s, bits 0x%x",
					FI_MAJOR(versions[v]), FI_MINOR(versions[v]),
					uses[u].name, bits);
				wanted = required(uses[u].remote);
				if (wanted & ~bits)
					wanted = -FI_ENODATA;
				for (size_t e = 0; e < CRN_COUNT(extras); e++)
					CT_EXPECT_EQ(answer(versions[v], uses[u].caps,
							    bits | extras[e], 0),
						     wanted);
			}
		}
	}
}

CT_TEST(info_mr, basic_grants_all_but_local_and_stays_basic)
{
	world_reset();
	for (size_t v = 0; v < CRN_COUNT(versions); v++) {
		for (size_t u = 0; u < CRN_COUNT(uses); u++) {
			CT_NOTE("version %u.%u, %s", FI_MAJOR(versions[v]),
				FI_MINOR(versions[v]), uses[u].name);
			CT_EXPECT_EQ(answer(versions[v], uses[u].caps, CRN_MR_BASIC,
					    CRN_LOCAL_MR),
				     CRN_MR_BASIC);
			CT_EXPECT_EQ(answer(versions[v], uses[u].caps, CRN_MR_BASIC, 0),
				     -FI_ENODATA);
		}
	}
}

CT_TEST(info_mr, scalable_is_enough_where_no_peer_reads_or_writes)
{
	int wanted;

	world_reset();
	for (size_t v = 0; v < CRN_COUNT(versions); v++) {
		for (size_t u = 0; u < CRN_COUNT(uses); u++) {
			CT_NOTE("version %u.%u, %s", FI_MAJOR(versions[v]),
				FI_MINOR(versions[v]), uses[u].name);
			wanted = uses[u].remote ? -FI_ENODATA : CRN_MR_SCALABLE;
			CT_EXPECT_EQ(answer(versions[v], uses[u].caps, CRN_MR_SCALABLE,
					    CRN_LOCAL_MR),
				     wanted);
			CT_EXPECT_EQ(answer(versions[v], uses[u].caps, CRN_MR_SCALABLE,
					    0),
				     -FI_ENODATA);
		}
	}
}

CT_TEST(info_mr, old_values_do_not_mix_with_bits)
{
	world_reset();
	for (size_t v = 0; v < CRN_COUNT(versions); v++) {
		CT_NOTE("version %u.%u", FI_MAJOR(versions[v]), FI_MINOR(versions[v]));
		CT_EXPECT_EQ(answer(versions[v], FI_MSG, CRN_MR_BASIC | FOUR,
				    CRN_LOCAL_MR),
			     -FI_ENODATA);
		CT_EXPECT_EQ(answer(versions[v], FI_MSG, CRN_MR_SCALABLE | FI_MR_LOCAL,
				    CRN_LOCAL_MR),
			     -FI_ENODATA);
	}
}

CT_TEST(info_mr, an_old_program_knows_no_bits_and_unspecified_means_basic)
{
	world_reset();
	CT_EXPECT_EQ(answer(FI_VERSION(1, 4), FI_MSG, FOUR, CRN_LOCAL_MR), -FI_ENODATA);
	CT_EXPECT_EQ(answer(FI_VERSION(1, 4), FI_MSG, CRN_MR_UNSPEC, CRN_LOCAL_MR),
		     CRN_MR_BASIC);
	CT_EXPECT_EQ(answer(FI_VERSION(1, 4), FI_MSG, CRN_MR_UNSPEC, 0), -FI_ENODATA);
}

CT_TEST(info_mr, without_domain_hints_the_requirements_are_told)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	world_reset();
	CT_EXPECT_EQ(pvb_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, NULL, &info), 0);
	CT_EXPECT_EQ(info->domain_attr->mr_mode, FOUR);
	fi_freeinfo(info);

	free(hints->domain_attr);
	hints->domain_attr = NULL;
	hints->caps = FI_MSG;
	CT_EXPECT_EQ(pvb_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info), 0);
	CT_EXPECT_EQ(info->domain_attr->mr_mode, FI_MR_LOCAL);
	fi_freeinfo(info);
	CT_EXPECT_EQ(pvb_getinfo(FI_VERSION(1, 4), NULL, NULL, 0, hints, &info), 0);
	CT_EXPECT_EQ(info->domain_attr->mr_mode, CRN_MR_BASIC);
	fi_freeinfo(info);
	fi_freeinfo(hints);
}
