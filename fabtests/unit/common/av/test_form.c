/* SPDX-License-Identifier: BSD-2-Clause */
/* Address vectors of a provider's own form of addresses: here a word, of which the upper
 * half says nothing about who it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "av_world.h"

static size_t word_len(const void *addr)
{
	return sizeof(uint64_t);
}

static uint64_t word_of(const void *addr)
{
	uint64_t word;

	memcpy(&word, addr, sizeof(word));
	return word;
}

static bool word_valid(const void *addr, size_t len)
{
	return (uint32_t)word_of(addr) != 0;
}

static uint32_t word_hash(const void *addr)
{
	const uint32_t low = (uint32_t)word_of(addr);

	return crn_av_hash(CRN_AV_HASH, &low, sizeof(low));
}

static bool word_same(const void *a, const void *b)
{
	return (uint32_t)word_of(a) == (uint32_t)word_of(b);
}

static int word_text(const void *addr, char *buf, size_t size)
{
	return snprintf(buf, size, "word://%llx", (unsigned long long)word_of(addr));
}

static int word_resolve(const char *node, size_t node_nth, const char *service,
			size_t service_nth, union crn_av_addr *out)
{
	if (!node || !service)
		return -FI_EINVAL;
	out->other[0] = (strtoull(node, NULL, 16) + node_nth) << 16 |
			(strtoull(service, NULL, 16) + service_nth);
	return 0;
}

static const struct crn_av_form words = {.format = FI_ADDR_GNI,
					 .len = word_len,
					 .valid = word_valid,
					 .hash = word_hash,
					 .same = word_same,
					 .text = word_text,
					 .resolve = word_resolve};

static void words_open(struct av_world *w, const struct crn_av_form *form)
{
	struct fi_av_attr attr = {.type = FI_AV_MAP};

	av_world_open(w, FI_AV_MAP, FI_SOCKADDR, 0);
	CT_EXPECT_EQ(fi_close(&w->av.fid.fid), 0);
	CT_EXPECT_EQ(crn_av_init_form(&w->av, &w->domain, &attr, form, true, w), 0);
}

static void set_up(struct av_world *w)
{
	av_world_open(w, FI_AV_MAP, FI_SOCKADDR, 0);
}

CT_FIXTURE(av_form, struct av_world, set_up, av_world_close);

CT_TEST_F(av_form, addresses_are_what_the_form_says)
{
	const uint64_t in[] = {0x100000007, 0x100000000, 0x200000008};
	fi_addr_t at[3];
	uint64_t got, other = 0x500000008;
	char text[64];
	size_t len = sizeof(got);

	words_open(t, &words);
	CT_EXPECT_EQ(fi_av_insert(&t->av.fid, in, 3, at, 0, NULL), 2);
	CT_EXPECT_EQ(at[0], 0);
	CT_EXPECT_EQ(at[1], FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(at[2], 1);
	CT_EXPECT_EQ(fi_av_lookup(&t->av.fid, 1, &got, &len), 0);
	CT_EXPECT_EQ(got, in[2]);
	CT_EXPECT_EQ(len, sizeof(got));
	CT_EXPECT_EQ(crn_av_find(&t->av, &other), 1);
	other = 0;
	CT_EXPECT_EQ(crn_av_find(&t->av, &other), FI_ADDR_NOTAVAIL);
	len = sizeof(text);
	CT_EXPECT_STREQ(fi_av_straddr(&t->av.fid, &in[0], text, &len),
			"word://100000007");
	CT_EXPECT_EQ(len, strlen(text) + 1);
}

/* fi_av(3): nodes and services count up, the services of a node together. */
CT_TEST_F(av_form, names_are_what_the_form_says)
{
	struct crn_av_form nameless = words;
	fi_addr_t at[6];
	uint64_t got;
	size_t len;

	words_open(t, &words);
	CT_EXPECT_EQ(fi_av_insertsym(&t->av.fid, "a", 2, "10", 3, at, 0, NULL), 6);
	for (size_t i = 0; i < 6; i++) {
		len = sizeof(got);
		CT_EXPECT_EQ(fi_av_lookup(&t->av.fid, at[i], &got, &len), 0);
		CT_EXPECT_EQ(got, (0xa + i / 3) << 16 | (0x10 + i % 3));
	}
	CT_EXPECT_EQ(fi_av_insertsvc(&t->av.fid, "a", "7", at, 0, NULL), 1);
	CT_EXPECT_EQ(fi_av_insertsvc(&t->av.fid, "a", NULL, at, 0, NULL), 0);
	nameless.resolve = NULL;
	words_open(t, &nameless);
	CT_EXPECT_EQ(fi_av_insertsvc(&t->av.fid, "a", "7", at, 0, NULL), -FI_ENOSYS);
}
