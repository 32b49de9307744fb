/* SPDX-License-Identifier: BSD-2-Clause */
/* An address vector with an event queue, and addresses made of numbers. */
#ifndef AV_WORLD_H
#define AV_WORLD_H

#include <cairn/av.h>

struct av_world {
	struct fid_domain domain;
	struct fid_fabric fabric;
	struct crn_eq eq;
	struct crn_av av;
};

extern struct fi_provider av_prov;

/* A world that is open is closed first. */
void av_world_open(struct av_world *w, enum fi_av_type type, uint32_t format,
		   uint64_t flags);
/* Also of one whose queue is bound. */
void av_world_open_async(struct av_world *w);
void av_world_close(struct av_world *w);

/* 10.0.0.0 + number, port 1000 + number. */
struct sockaddr_in in_of(unsigned int number);
/* fd00:: + number, the same port. */
struct sockaddr_in6 in6_of(unsigned int number);

/* Inserts in_of(number): its fi_addr_t. */
fi_addr_t insert_in(struct av_world *w, unsigned int number);
int remove_one(struct av_world *w, fi_addr_t fi_addr);
/* What crn_addr_str makes of the address at an index; "" when there is none. */
const char *text_at(struct av_world *w, fi_addr_t fi_addr);

/* The next event is FI_AV_COMPLETE of so many, an error of that index. */
void expect_inserted(struct av_world *w, void *context, uint64_t count);
void expect_failed(struct av_world *w, void *context, uint64_t index, int err);

#endif
