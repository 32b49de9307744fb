/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints of one process, over a device on the loopback address. */
#ifndef ROUTE_ENDS_H
#define ROUTE_ENDS_H

#include "cairn_test.h"
#include "objects.h"

#define ENDS_API FI_VERSION(1, 17)
#define ENDS_TARGET 0x7f000001u

/* FI_ROUTE_CONFIG for the rest of the test: [lo] of 3:1 with these routers' lines, and
 * [routing] with 127.0.0.0/8 on 3:1. */
void ends_config(const char *routers, const char *routing);
void ends_config_text(const char *text);
/* Hints that name the provider, for fi_freeinfo. */
struct fi_info *ends_hints(uint64_t caps);

struct ends {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_pep *pep;
	struct rte_end target; /* where pep listens */
};

struct ends_event {
	ssize_t len; /* what fi_eq_read returned */
	uint32_t event;
	union {
		struct fi_eq_cm_entry cm;
		uint8_t room[sizeof(struct fi_eq_cm_entry) + RTE_PARAM_MAX];
	};
	size_t data; /* bytes of cm.data */
	struct fi_eq_err_entry err;
	uint8_t err_data[RTE_PARAM_MAX];
};

/* All but pep. */
void ends_open(struct ends *ends);
void ends_listen(struct ends *ends);
/* Closes what is open. */
void ends_close(struct ends *ends);
struct fid_ep *ends_ep(struct ends *ends, struct fi_info *info);
/* fi_connect to that end. */
int ends_connect(struct fid_ep *ep, const struct rte_end *target, const void *param,
		 size_t len);
/* The next event, within 20 s. turn: what else is to be driven; NULL: nothing. False, and
 * a failure: none came. */
bool ends_next(struct ends *ends, struct ends_event *event, void (*turn)(void));
/* An event of that kind about fid is next. */
bool ends_expect(struct ends *ends, uint32_t kind, fid_t fid, struct ends_event *event);
/* An error entry of that endpoint is next. */
bool ends_expect_err(struct ends *ends, fid_t fid, int err, struct ends_event *event,
		     void (*turn)(void));
/* Nothing comes within some rounds of progress. */
void ends_quiet(struct ends *ends);

#endif
