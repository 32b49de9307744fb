/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <cairn/bytes.h>
#include "cm.h"

/* Bytes in front of the text that err_data is: the router's id. */
#define NEWS_ID 8

static int news_event(struct rte_ep *ep, uint32_t event, size_t data)
{
	uint8_t room[sizeof(struct fi_eq_cm_entry) + RTE_PARAM_MAX];
	struct fi_eq_cm_entry entry = {.fid = &ep->fid.fid};

	memcpy(room, &entry, sizeof(entry));
	memcpy(room + sizeof(entry), ep->param, data);
	return crn_eq_insert(ep->ep.eq, event, &ep->fid.fid, room, sizeof(entry) + data);
}

/* A reject's data are the program's; of other failures, who knows where they were. */
static int news_failure(struct rte_ep *ep)
{
	const struct rte_failure *failure = &ep->failure;
	uint8_t data[NEWS_ID + RTE_WHY_SIZE];
	struct fi_eq_err_entry err = {
		.fid = &ep->fid.fid,
		.context = ep->fid.fid.context,
		.err = failure->err,
		.prov_errno = failure->err,
		.err_data = data,
		.err_data_size = NEWS_ID + strlen(failure->why) + 1,
	};

	if (failure->by_program) {
		err.err_data = ep->param;
		err.err_data_size = ep->param_len;
	} else {
		crn_put_le64(data, failure->router);
		memcpy(data + NEWS_ID, failure->why, strlen(failure->why) + 1);
	}
	return crn_eq_insert_err(ep->ep.eq, &err);
}

static int news_tell(struct rte_ep *ep, unsigned int news)
{
	switch (news) {
	case RTE_NEWS_CONNECTED:
		return news_event(ep, FI_CONNECTED, ep->param_len);
	case RTE_NEWS_FAILED:
		return news_failure(ep);
	default:
		return news_event(ep, FI_SHUTDOWN, 0);
	}
}

/* Without memory or room it stays. */
static void news_all(struct rte_ep *ep)
{
	unsigned int one;

	while (ep->news) {
		one = ep->news & -ep->news;
		if (ep->ep.eq && news_tell(ep, one)) {
			crn_list_add_tail(&ep->device->untold, &ep->untold);
			return;
		}
		ep->news &= ~one;
	}
}

void rte_news(struct rte_ep *ep, enum rte_ep_news news)
{
	crn_list_del(&ep->untold);
	ep->news |= news;
	news_all(ep);
}

void rte_news_again(struct rte_device *device)
{
	struct crn_list now, *entry;

	if (crn_list_empty(&device->untold))
		return;
	crn_list_init(&now);
	while ((entry = crn_list_pop(&device->untold)))
		crn_list_add_tail(&now, entry);
	while ((entry = crn_list_pop(&now)))
		news_all(crn_container_of(entry, struct rte_ep, untold));
}

bool rte_news_kept(const struct rte_device *device, const struct crn_eq *eq)
{
	struct crn_list *entry;

	crn_list_for_each (entry, &device->untold) {
		if (crn_container_of(entry, struct rte_ep, untold)->ep.eq == eq)
			return true;
	}
	return false;
}
