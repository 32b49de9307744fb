/* SPDX-License-Identifier: BSD-2-Clause */
/* mr_mode: every combination of bits, for every kind of caller. */
#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <cairn/attr.h>
#include <cairn/compat.h>
#include "cairn_test.h"

static const struct fi_provider prov = {.name = "test"};

/* fi_mr(3): the bits there are; the two lowest are the old values. */
static const int bits[] = {
	CRN_MR_BASIC,	 FI_MR_LOCAL,	 FI_MR_RAW,	   FI_MR_VIRT_ADDR,
	FI_MR_ALLOCATED, FI_MR_PROV_KEY, FI_MR_MMU_NOTIFY, FI_MR_RMA_EVENT,
	FI_MR_ENDPOINT,	 FI_MR_HMEM,	 CRN_MR_SCALABLE,  FI_MR_COLLECTIVE,
};

static const uint32_t versions[] = {FI_VERSION(1, 0), FI_VERSION(1, 4), FI_VERSION(1, 5),
				    FI_VERSION(1, 17), FI_VERSION(2, 1)};

/*
 * A device that needs local keys always, and registered, provider-keyed virtual addresses
 * where a peer reads or writes. The rule in words: before 1.5 there is one number, and
 * local keys are a mode bit; from 1.5 the application names every bit it can live with,
 * or one of the old numbers alone, and then the old mode bit counts.
 */
static int expected(uint32_t version, bool rma, int hinted, bool local_mr, int *answer)
{
	bool bits_known = version >= FI_VERSION(1, 5);

	switch (hinted) {
	case CRN_MR_UNSPEC:
		if (bits_known)
			return -FI_ENODATA;
		*answer = CRN_MR_BASIC;
		return local_mr ? 0 : -FI_ENODATA;
	case CRN_MR_BASIC:
		*answer = CRN_MR_BASIC;
		return local_mr ? 0 : -FI_ENODATA;
	case CRN_MR_SCALABLE:
		*answer = CRN_MR_SCALABLE;
		return local_mr && !rma ? 0 : -FI_ENODATA;
	}
	if (!bits_known || hinted % 4 || !(hinted & FI_MR_LOCAL))
		return -FI_ENODATA;
	*answer = FI_MR_LOCAL;
	if (rma) {
		*answer |= FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
		if (!(hinted & FI_MR_VIRT_ADDR) || !(hinted & FI_MR_ALLOCATED) ||
		    !(hinted & FI_MR_PROV_KEY))
			return -FI_ENODATA;
	}
	return 0;
}

static struct fi_info *make_offer(void)
{
	struct fi_info *offer = fi_allocinfo();

	offer->caps = FI_MSG | FI_SEND | FI_RECV | FI_RMA | FI_READ | FI_WRITE |
		      FI_REMOTE_READ | FI_REMOTE_WRITE;
	offer->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	return offer;
}

static void check_one(struct fi_info *offer, uint32_t version, struct fi_info *hints)
{
	bool rma = hints->caps & FI_RMA, local_mr = hints->mode & CRN_LOCAL_MR;
	int hinted = hints->domain_attr->mr_mode;
	int want = 0, got = -1, ret = expected(version, rma, hinted, local_mr, &want);
	int required = crn_attr_mr_required(offer->domain_attr->mr_mode,
					    crn_attr_caps(offer, hints));
	struct fi_info *answer;

	CT_NOTE("%s, version %u.%u, mr_mode %#x, %sFI_LOCAL_MR", rma ? "RMA" : "MSG",
		FI_MAJOR(version), FI_MINOR(version), hinted, local_mr ? "" : "no ");
	ct_log_reset();
	CT_EXPECT_EQ(crn_attr_check(&prov, version, offer, hints), ret);
	CT_EXPECT_EQ(ct_log_count(), ret ? 1 : 0);
	CT_EXPECT_EQ(crn_attr_mr_mode(version, &hinted, hints->mode, required, &got),
		     ret);
	if (ret)
		return;
	CT_EXPECT_EQ(got, want);
	answer = fi_dupinfo(offer);
	crn_attr_apply(answer, version, hints, got);
	CT_EXPECT_EQ(answer->domain_attr->mr_mode, want);
	CT_EXPECT_EQ(answer->mode, want <= CRN_MR_SCALABLE ? CRN_LOCAL_MR : 0);
	fi_freeinfo(answer);
}

CT_TEST(attr_mr, every_combination_of_bits_for_every_kind_of_caller)
{
	struct fi_info *offer = make_offer(), *hints = fi_allocinfo();

	for (unsigned int combination = 0; combination < 1u << CRN_COUNT(bits);
	     combination++) {
		hints->domain_attr->mr_mode = 0;
		for (unsigned int bit = 0; bit < CRN_COUNT(bits); bit++) {
			if (combination & 1u << bit)
				hints->domain_attr->mr_mode |= bits[bit];
		}
		for (unsigned int kind = 0; kind < 4; kind++) {
			hints->caps = kind & 1 ? FI_RMA : FI_MSG;
			hints->mode = kind & 2 ? CRN_LOCAL_MR : 0;
			for (size_t v = 0; v < CRN_COUNT(versions); v++)
				check_one(offer, versions[v], hints);
		}
	}
	fi_freeinfo(offer);
	fi_freeinfo(hints);
}

CT_TEST(attr_mr, a_peer_that_can_only_be_written_to_by_nobody_needs_local_keys_only)
{
	static const struct {
		uint64_t caps;
		bool target;
	} rows[] = {
		{FI_MSG | FI_SEND | FI_RECV, false}, {FI_RMA | FI_READ | FI_WRITE, false},
		{FI_RMA | FI_WRITE, false},	     {FI_RMA | FI_REMOTE_READ, true},
		{FI_RMA | FI_REMOTE_WRITE, true},    {FI_ATOMIC | FI_REMOTE_WRITE, true},
	};
	const int all = FI_MR_LOCAL | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("caps %#jx", (uintmax_t)rows[i].caps);
		CT_EXPECT_EQ(crn_attr_mr_required(all, rows[i].caps),
			     rows[i].target ? all : FI_MR_LOCAL);
		CT_EXPECT_EQ(crn_attr_mr_required(FI_MR_PROV_KEY, rows[i].caps),
			     rows[i].target ? FI_MR_PROV_KEY : 0);
	}
}

CT_TEST(attr_mr, without_domain_attributes_the_requirements_are_told)
{
	int mode = -1;

	CT_EXPECT_EQ(crn_attr_mr_mode(FI_VERSION(1, 5), NULL, 0, FI_MR_LOCAL, &mode), 0);
	CT_EXPECT_EQ(mode, FI_MR_LOCAL);
	CT_EXPECT_EQ(crn_attr_mr_mode(FI_VERSION(2, 1), NULL, 0, 0, &mode), 0);
	CT_EXPECT_EQ(mode, 0);
	CT_EXPECT_EQ(crn_attr_mr_mode(FI_VERSION(1, 4), NULL, 0, FI_MR_LOCAL, &mode), 0);
	CT_EXPECT_EQ(mode, CRN_MR_BASIC);
}

/* fi_getinfo(3): without hints, the supported modes are returned. */
CT_TEST(attr_mr, without_hints_an_old_caller_hears_of_local_keys)
{
	struct fi_info *answer = make_offer();

	crn_attr_apply(answer, FI_VERSION(1, 4), NULL, CRN_MR_BASIC);
	CT_EXPECT_EQ(answer->mode, CRN_LOCAL_MR);
	fi_freeinfo(answer);
}

CT_TEST(attr_mr, a_provider_that_needs_nothing_suits_everyone)
{
	static const int hints[] = {CRN_MR_BASIC, CRN_MR_SCALABLE,
				    FI_MR_LOCAL | FI_MR_RAW};
	int mode;

	for (size_t i = 0; i < CRN_COUNT(hints); i++) {
		CT_NOTE("mr_mode %#x", hints[i]);
		CT_EXPECT_EQ(crn_attr_mr_mode(FI_VERSION(1, 17), &hints[i], 0, 0, &mode),
			     0);
		CT_EXPECT_EQ(mode, hints[i] <= CRN_MR_SCALABLE ? hints[i] : 0);
	}
}
