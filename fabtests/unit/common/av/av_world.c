/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include "cairn_test.h"
#include "av_world.h"

struct fi_provider av_prov = {.name = "test"};

void av_world_open(struct av_world *w, enum fi_av_type type, uint32_t format,
		   uint64_t flags)
{
	struct fi_av_attr attr = {.type = type, .flags = flags};
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_NONE, .flags = FI_WRITE};

	av_world_close(w);
	memset(w, 0, sizeof(*w));
	CT_EXPECT_EQ(crn_eq_init(&w->eq, &av_prov, &eq_attr, NULL, NULL), 0);
	w->eq.fabric = &w->fabric;
	CT_EXPECT_EQ(crn_av_init(&w->av, &w->domain, &attr, format, true, w), 0);
	w->av.fabric = &w->fabric;
}

void av_world_open_async(struct av_world *w)
{
	av_world_open(w, FI_AV_TABLE, FI_SOCKADDR_IN, FI_EVENT);
	CT_EXPECT_EQ(fi_av_bind(&w->av.fid, &w->eq.fid.fid, 0), 0);
}

void av_world_close(struct av_world *w)
{
	if (w->av.fid.fid.fclass)
		CT_EXPECT_EQ(fi_close(&w->av.fid.fid), 0);
	w->av.fid.fid.fclass = 0;
	if (w->eq.fid.fid.fclass)
		CT_EXPECT_EQ(fi_close(&w->eq.fid.fid), 0);
	w->eq.fid.fid.fclass = 0;
}

struct sockaddr_in in_of(unsigned int number)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons((uint16_t)(1000 + number)),
				    .sin_addr.s_addr = htonl(0x0a000000 + number)};
}

struct sockaddr_in6 in6_of(unsigned int number)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6,
				   .sin6_port = htons((uint16_t)(1000 + number)),
				   .sin6_addr.s6_addr = {0xfd}};

	in6.sin6_addr.s6_addr[14] = (uint8_t)(number >> 8);
	in6.sin6_addr.s6_addr[15] = (uint8_t)number;
	return in6;
}

fi_addr_t insert_in(struct av_world *w, unsigned int number)
{
	const struct sockaddr_in in = in_of(number);
	fi_addr_t fi_addr = FI_ADDR_NOTAVAIL;

	CT_EXPECT_EQ(fi_av_insert(&w->av.fid, &in, 1, &fi_addr, 0, NULL), 1);
	return fi_addr;
}

int remove_one(struct av_world *w, fi_addr_t fi_addr)
{
	return fi_av_remove(&w->av.fid, &fi_addr, 1, 0);
}

const char *text_at(struct av_world *w, fi_addr_t fi_addr)
{
	static char text[CRN_ADDR_STRLEN];
	const struct sockaddr *addr = crn_av_addr(&w->av, fi_addr);

	return addr ? crn_addr_str(addr, text) : "";
}

void expect_inserted(struct av_world *w, void *context, uint64_t count)
{
	struct fi_eq_entry entry = {0};
	uint32_t event = 0;

	CT_EXPECT_EQ(fi_eq_read(&w->eq.fid, &event, &entry, sizeof(entry), 0),
		     sizeof(entry));
	CT_EXPECT_EQ(event, FI_AV_COMPLETE);
	CT_EXPECT_EQ(entry.fid, &w->av.fid.fid);
	CT_EXPECT_EQ(entry.context, context);
	CT_EXPECT_EQ(entry.data, count);
}

void expect_failed(struct av_world *w, void *context, uint64_t index, int err)
{
	struct fi_eq_err_entry entry = {0};

	CT_EXPECT_EQ(fi_eq_readerr(&w->eq.fid, &entry, 0), sizeof(entry));
	CT_EXPECT_EQ(entry.fid, &w->av.fid.fid);
	CT_EXPECT_EQ(entry.context, context);
	CT_EXPECT_EQ(entry.data, index);
	CT_EXPECT_EQ(entry.err, err);
}
