/* SPDX-License-Identifier: BSD-2-Clause */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include "cairn_test.h"
#include "lower.h"

/*
 * Who sends more than there are receives for loses the connection, and does not wait. As
 * many credits as a row asks for.
 */
__attribute__((constructor)) static void parameters(void)
{
	setenv("FI_PVERBS_RNR_RETRY_COUNT", "0", 1);
	setenv("FI_RPCRDMA_CREDITS", "64", 1);
}

static const char *setting(const char *name, const char *usual)
{
	const char *value = getenv(name);

	return value && *value ? value : usual;
}

const char *lower_name(void)
{
	return setting("RPC_LOWER", "tcp");
}

const char *lower_address(void)
{
	return setting("RPC_ADDRESS", "127.0.0.1");
}

struct fi_info *lower_hints(const char *stack, uint64_t caps)
{
	struct fi_info *hints = fi_allocinfo();

	hints->caps = caps;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	hints->fabric_attr->prov_name = strdup(stack);
	return hints;
}

struct fi_info *lower_info_to(const struct fi_info *info, const void *addr)
{
	struct fi_info *to = fi_dupinfo(info);

	free(to->src_addr);
	free(to->dest_addr);
	to->src_addr = NULL;
	to->src_addrlen = 0;
	to->dest_addrlen = sizeof(struct sockaddr_in);
	to->dest_addr = malloc(to->dest_addrlen);
	memcpy(to->dest_addr, addr, to->dest_addrlen);
	return to;
}

void side_open(struct side *side, struct fi_info *hints)
{
	CT_EXPECT_EQ(fi_getinfo(LOWER_API, lower_address(), NULL, FI_SOURCE, hints,
				&side->info),
		     0);
	fi_freeinfo(hints);
	CT_ASSERT_NE(side->info, NULL);
	CT_ASSERT_EQ(fi_fabric(side->info->fabric_attr, &side->fabric, NULL), 0);
	CT_ASSERT_EQ(fi_domain(side->fabric, side->info, &side->domain, NULL), 0);
}

void side_open_queues(struct side *side, enum fi_cq_format format, size_t size)
{
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_NONE};
	struct fi_cq_attr cq_attr = {.format = format,
				     .wait_obj = FI_WAIT_NONE,
				     .size = size};

	CT_ASSERT_EQ(fi_eq_open(side->fabric, &eq_attr, &side->eq, NULL), 0);
	CT_ASSERT_EQ(fi_cq_open(side->domain, &cq_attr, &side->cq, NULL), 0);
}

static void keep_private(struct side *side, const struct fi_eq_cm_entry *entry,
			 ssize_t ret)
{
	side->private_len = (size_t)ret - sizeof(*entry);
	memcpy(side->private, entry->data, side->private_len);
}

static void on_error(struct side *side)
{
	struct fi_eq_err_entry wrong = {0};

	if (fi_eq_readerr(side->eq, &wrong, 0) != (ssize_t)sizeof(wrong) || !side->ep ||
	    wrong.fid != &side->ep->fid)
		return;
	if (!side->connected) {
		side->refused = true;
		return;
	}
	side->eq_errors++;
	side->eq_error = wrong;
}

void side_poll_eq(struct side *side)
{
	struct {
		struct fi_eq_cm_entry entry;
		char data[sizeof(side->private)];
	} event;
	uint32_t kind;
	ssize_t ret = fi_eq_read(side->eq, &kind, &event, sizeof(event), 0);

	if (ret == -FI_EAVAIL)
		on_error(side);
	if (ret < (ssize_t)sizeof(event.entry))
		return;
	if (kind == FI_CONNREQ) {
		side->request = event.entry.info;
		keep_private(side, &event.entry, ret);
	} else if (!side->ep || event.entry.fid != &side->ep->fid) {
		return;
	} else if (kind == FI_CONNECTED) {
		side->connected = true;
		if (!side->private_len)
			keep_private(side, &event.entry, ret);
	} else if (kind == FI_SHUTDOWN) {
		side->shutdowns++;
	}
}

void side_drop(struct side *side)
{
	if (side->ep)
		CT_EXPECT_EQ(fi_close(&side->ep->fid), 0);
	side->ep = NULL;
	if (side->request)
		fi_freeinfo(side->request);
	side->request = NULL;
	side->connected = side->refused = false;
	side->private_len = 0;
	side->shutdowns = side->eq_errors = 0;
}

void side_close(struct side *side)
{
	if (side->pep)
		CT_EXPECT_EQ(fi_close(&side->pep->fid), 0);
	if (side->cq)
		CT_EXPECT_EQ(fi_close(&side->cq->fid), 0);
	if (side->eq)
		CT_EXPECT_EQ(fi_close(&side->eq->fid), 0);
	if (side->domain && !side->borrowed)
		CT_EXPECT_EQ(fi_close(&side->domain->fid), 0);
	if (side->fabric && !side->borrowed)
		CT_EXPECT_EQ(fi_close(&side->fabric->fid), 0);
	if (side->info)
		fi_freeinfo(side->info);
}

void side_open_ep(struct side *side, struct fi_info *info)
{
	CT_ASSERT_EQ(fi_endpoint(side->domain, info, &side->ep, NULL), 0);
	CT_ASSERT_EQ(fi_ep_bind(side->ep, &side->eq->fid, 0), 0);
	CT_ASSERT_EQ(fi_ep_bind(side->ep, &side->cq->fid, FI_TRANSMIT | FI_RECV), 0);
}

void side_open_pep(struct side *side)
{
	CT_ASSERT_EQ(fi_passive_ep(side->fabric, side->info, &side->pep, NULL), 0);
	CT_ASSERT_EQ(fi_pep_bind(side->pep, &side->eq->fid, 0), 0);
}

const void *side_name(struct side *side)
{
	static char name[256];
	size_t len = sizeof(name);

	CT_EXPECT_EQ(fi_getname(&side->pep->fid, name, &len), 0);
	return name;
}
