/* SPDX-License-Identifier: BSD-2-Clause */
/* Forms of a group's address: what each stands for on either kind of link. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <infiniband/ib.h>
#include <cairn/compat.h>
#include "mcast/mcast.h"
#include "wire/ud_addr.h"
#include "cairn_test.h"

/* As fi_join gets it: no longer than it is, and anywhere. */
struct form {
	uint8_t *bytes;
	void *memory;
};

static struct form form_of(const void *addr, size_t len)
{
	struct form form = {.memory = malloc(len + 1)};

	form.bytes = (uint8_t *)form.memory + 1;
	memcpy(form.bytes, addr, len);
	return form;
}

static struct form form_in(const char *text)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(7)};

	CT_EXPECT_EQ(inet_pton(AF_INET, text, &in.sin_addr), 1);
	return form_of(&in, sizeof(in));
}

static struct form form_in6(const char *text)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_scope_id = 3};

	CT_EXPECT_EQ(inet_pton(AF_INET6, text, &in6.sin6_addr), 1);
	return form_of(&in6, sizeof(in6));
}

static struct form form_ib(const char *text)
{
	struct sockaddr_ib ib = {.sib_family = AF_IB, .sib_pkey = htons(0xffff)};

	CT_EXPECT_EQ(inet_pton(AF_INET6, text, &ib.sib_addr), 1);
	return form_of(&ib, sizeof(ib));
}

static struct form form_ud(const char *text)
{
	struct pvb_ud_addr ud = {.qpn = 0xffffff, .pkey = 0xffff};

	CT_EXPECT_EQ(inet_pton(AF_INET6, text, ud.gid), 1);
	return form_of(&ud, sizeof(ud));
}

/* "4 224.1.2.3", "6 ff02::1" or "g ff12::1", and "invalid" or "unknown" for errors. */
static const char *name_of(struct form form, bool ethernet)
{
	static char text[PVB_MC_STRLEN + 2];
	struct pvb_mc_name name;
	int ret = pvb_mc_name(form.bytes, ethernet, &name);

	free(form.memory);
	if (ret)
		return ret == -FI_EINVAL ? "invalid" : ret == -FI_ENOSYS ? "unknown" : "";
	text[0] = name.family == AF_INET ? '4' : name.family == AF_INET6 ? '6' : 'g';
	text[1] = ' ';
	pvb_mc_text(&name, text + 2);
	return text;
}

CT_TEST(mc_address, each_form_names_a_group)
{
	static const struct {
		struct form (*form)(const char *text);
		const char *text, *ib, *ethernet;
	} rows[] = {
		{form_in, "224.0.0.1", "4 224.0.0.1", "4 224.0.0.1"},
		{form_in, "239.255.255.250", "4 239.255.255.250", "4 239.255.255.250"},
		{form_in, "255.255.255.255", "4 255.255.255.255", "4 255.255.255.255"},
		{form_in, "223.255.255.255", "invalid", "invalid"},
		{form_in, "240.0.0.1", "invalid", "invalid"},
		{form_in, "0.0.0.0", "invalid", "invalid"},
		{form_in6, "ff02::1", "6 ff02::1", "unknown"},
		{form_in6, "ff0e::db8:1234", "6 ff0e::db8:1234", "unknown"},
		{form_in6, "::ffff:224.1.2.3", "4 224.1.2.3", "4 224.1.2.3"},
		{form_in6, "::ffff:10.1.2.3", "invalid", "invalid"},
		{form_in6, "fe80::1", "invalid", "invalid"},
		{form_in6, "::", "invalid", "invalid"},
		{form_ib, "ff12:401b:8008::2", "g ff12:401b:8008::2", "unknown"},
		{form_ib, "::ffff:232.1.2.3", "invalid", "4 232.1.2.3"},
		{form_ib, "fe80::1", "invalid", "invalid"},
		{form_ud, "ff12:601b:ffff::1", "g ff12:601b:ffff::1", "unknown"},
		{form_ud, "ff15:401b:ffff::ffff:ffff", "g ff15:401b:ffff::ffff:ffff",
		 "unknown"},
		{form_ud, "::ffff:224.1.2.3", "invalid", "4 224.1.2.3"},
		{form_ud, "::ffff:10.1.2.3", "invalid", "invalid"},
		{form_ud, "::", "invalid", "invalid"},
		{form_ud, "fe80::1", "invalid", "invalid"},
	};
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].text);
		CT_EXPECT_STREQ(name_of(rows[i].form(rows[i].text), false), rows[i].ib);
		CT_EXPECT_STREQ(name_of(rows[i].form(rows[i].text), true),
				rows[i].ethernet);
	}
}

CT_TEST(mc_address, no_more_is_read_than_tells_that_it_is_none)
{
	const sa_family_t families[] = {AF_UNIX, AF_PACKET, 0x1234};
	struct pvb_mc_name name;
	size_t i;

	CT_EXPECT_EQ(pvb_mc_name(NULL, false, &name), -FI_EINVAL);
	for (i = 0; i < CRN_COUNT(families); i++)
		CT_EXPECT_STREQ(name_of(form_of(&families[i], 2), i & 1), "invalid");
}

/* Ports, scopes and partitions are no part of it. */
CT_TEST(mc_address, names_of_one_group_are_the_same_bytes)
{
	struct form forms[] = {form_in("224.1.2.3"), form_in6("::ffff:224.1.2.3"),
			       form_ib("::ffff:224.1.2.3"), form_ud("::ffff:224.1.2.3")};
	struct pvb_mc_name names[CRN_COUNT(forms)];
	size_t i;

	for (i = 0; i < CRN_COUNT(forms); i++) {
		CT_EXPECT_EQ(pvb_mc_name(forms[i].bytes, true, &names[i]), 0);
		CT_EXPECT_EQ(memcmp(&names[i], &names[0], sizeof(names[0])), 0);
		free(forms[i].memory);
	}
}

CT_TEST(mc_address, rdma_cm_is_asked_by_the_same_name)
{
	struct form forms[] = {form_in("224.1.2.3"), form_in6("ff02::1:2"),
			       form_ib("ff12:401b:8008::2")};
	struct pvb_mc_name name, back;
	union pvb_mc_sockaddr addr;
	size_t i;

	for (i = 0; i < CRN_COUNT(forms); i++) {
		CT_EXPECT_EQ(pvb_mc_name(forms[i].bytes, false, &name), 0);
		pvb_mc_sockaddr(&name, &addr);
		CT_EXPECT_EQ(addr.sa.sa_family, name.family);
		CT_EXPECT_EQ(pvb_mc_name(&addr, false, &back), 0);
		CT_EXPECT_EQ(memcmp(&back, &name, sizeof(name)), 0);
		free(forms[i].memory);
	}
}
