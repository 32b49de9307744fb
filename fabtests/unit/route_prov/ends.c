/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cairn/wait.h>
#include "ends.h"
#include "info.h"

#define WAIT_MS 20000
#define QUIET_ROUNDS 200

static char ends_file[64];

void ends_config_text(const char *text)
{
	FILE *file;

	snprintf(ends_file, sizeof(ends_file), "/tmp/unit_route_prov.%d.conf", getpid());
	file = fopen(ends_file, "w");
	CT_ASSERT_NE(file, NULL);
	fputs(text, file);
	fclose(file);
	rte_params.config = ends_file;
	rte_params.lower = NULL;
	rte_params.bypass = true;
}

void ends_config(const char *routers, const char *routing)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "[lo]\ntransport = tcp\nas = 3\nsubnet = 1\n%s"
		 "[routing]\nprefix = 127.0.0.0/8 -> 3:1\n%s",
		 routers, routing);
	ends_config_text(text);
}

struct fi_info *ends_hints(uint64_t caps)
{
	struct fi_info *hints = fi_allocinfo();

	hints->caps = caps;
	hints->mode = FI_RX_CQ_DATA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	hints->fabric_attr->prov_name = strdup(RTE_NAME);
	return hints;
}

void ends_open(struct ends *ends)
{
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_NONE};
	struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_DATA};
	struct fi_info *hints = ends_hints(FI_MSG | FI_RMA);

	memset(ends, 0, sizeof(*ends));
	CT_EXPECT_EQ(rte_getinfo(ENDS_API, NULL, "0", FI_SOURCE, hints, &ends->info), 0);
	fi_freeinfo(hints);
	CT_ASSERT_NE(ends->info, NULL);
	CT_ASSERT_EQ(rte_fabric_open(ends->info->fabric_attr, &ends->fabric, NULL), 0);
	CT_ASSERT_EQ(fi_eq_open(ends->fabric, &eq_attr, &ends->eq, NULL), 0);
	CT_ASSERT_EQ(fi_domain(ends->fabric, ends->info, &ends->domain, NULL), 0);
	CT_ASSERT_EQ(fi_cq_open(ends->domain, &cq_attr, &ends->cq, NULL), 0);
}

void ends_listen(struct ends *ends)
{
	union crn_addr addr;
	size_t len = sizeof(addr);

	CT_ASSERT_EQ(fi_passive_ep(ends->fabric, ends->info, &ends->pep, NULL), 0);
	CT_ASSERT_EQ(fi_pep_bind(ends->pep, &ends->eq->fid, 0), 0);
	CT_ASSERT_EQ(fi_listen(ends->pep), 0);
	CT_ASSERT_EQ(fi_getname(&ends->pep->fid, &addr, &len), 0);
	CT_ASSERT_TRUE(rte_addr_parse(&addr.sa, &ends->target));
}

static void close_fid(fid_t fid)
{
	if (fid)
		CT_EXPECT_EQ(fi_close(fid), 0);
}

void ends_close(struct ends *ends)
{
	close_fid(ends->pep ? &ends->pep->fid : NULL);
	close_fid(ends->cq ? &ends->cq->fid : NULL);
	close_fid(ends->domain ? &ends->domain->fid : NULL);
	close_fid(ends->eq ? &ends->eq->fid : NULL);
	close_fid(ends->fabric ? &ends->fabric->fid : NULL);
	fi_freeinfo(ends->info);
	memset(ends, 0, sizeof(*ends));
	unlink(ends_file);
}

struct fid_ep *ends_ep(struct ends *ends, struct fi_info *info)
{
	struct fid_ep *ep = NULL;

	CT_EXPECT_EQ(fi_endpoint(ends->domain, info, &ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &ends->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &ends->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(fi_enable(ep), 0);
	return ep;
}

int ends_connect(struct fid_ep *ep, const struct rte_end *target, const void *param,
		 size_t len)
{
	struct sockaddr_in6 addr;

	rte_addr_pack(target, &addr);
	return fi_connect(ep, &addr, param, len);
}

static void read_err(struct ends *ends, struct ends_event *event)
{
	event->err.err_data = event->err_data;
	event->err.err_data_size = sizeof(event->err_data);
	CT_EXPECT_EQ(fi_eq_readerr(ends->eq, &event->err, 0),
		     (ssize_t)sizeof(event->err));
}

bool ends_next(struct ends *ends, struct ends_event *event, void (*turn)(void))
{
	const uint64_t end = crn_now_ms() + WAIT_MS;

	memset(event, 0, sizeof(*event));
	do {
		if (turn)
			turn();
		event->len = fi_eq_read(ends->eq, &event->event, event->room,
					sizeof(event->room), 0);
	} while (event->len == -FI_EAGAIN && crn_now_ms() < end);
	if (event->len == -FI_EAVAIL)
		read_err(ends, event);
	else if (event->len >= (ssize_t)sizeof(event->cm))
		event->data = (size_t)event->len - sizeof(event->cm);
	return ct_truth(__FILE__, __LINE__, "an event came", event->len != -FI_EAGAIN,
			true);
}

bool ends_expect(struct ends *ends, uint32_t kind, fid_t fid, struct ends_event *event)
{
	if (!ends_next(ends, event, NULL))
		return false;
	CT_EXPECT_GT(event->len, 0);
	if (event->len < 0)
		return false;
	CT_EXPECT_EQ(event->event, kind);
	CT_EXPECT_EQ(event->cm.fid, fid);
	return event->event == kind && event->cm.fid == fid;
}

bool ends_expect_err(struct ends *ends, fid_t fid, int err, struct ends_event *event,
		     void (*turn)(void))
{
	if (!ends_next(ends, event, turn))
		return false;
	CT_EXPECT_EQ(event->len, -FI_EAVAIL);
	CT_EXPECT_EQ(event->err.fid, fid);
	CT_EXPECT_EQ(event->err.err, err);
	return event->len == -FI_EAVAIL;
}

void ends_quiet(struct ends *ends)
{
	struct ends_event event;
	int i;

	for (i = 0; i < QUIET_ROUNDS; i++)
		CT_ASSERT_EQ(fi_eq_read(ends->eq, &event.event, event.room,
					sizeof(event.room), 0),
			     -FI_EAGAIN);
}
