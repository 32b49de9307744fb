/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes of the other end. The region is looked up for each fragment, since the program
 * may close it at any time.
 *
 * What goes to persistent memory is made durable when it is placed, whether the write
 * asks for that or not: so a fenced durable write has nothing before it left to flush.
 * One that asks for it and goes to other memory is refused before any of it is there.
 */
#include <cairn/tsan.h>
#include "ops.h"

static bool region_persistent(struct rte_vc *vc, struct crn_mr *mr)
{
	return vc->attr.persistent && vc->attr.persistent(vc, mr);
}

static int durable_check(const struct rte_vc *vc, const struct rte_head *head,
			 bool persistent)
{
	if (!(head->flags & RTE_COMMIT))
		return 0;
	if (!persistent || ((head->flags & RTE_DELIVER) && vc->ordinary))
		return -FI_EOPNOTSUPP;
	return 0;
}

/* Bytes of a write, in the region that they belong to. */
static int region_place(struct rte_vc *vc, const struct rte_head *head, struct crn_mr *mr,
			void *at, const uint8_t *from, size_t len)
{
	const bool persistent = region_persistent(vc, mr);
	const int ret = durable_check(vc, head, persistent);

	if (ret || !len)
		return ret;
	memcpy(at, from, len);
	if (persistent)
		vc->attr.persist(vc, mr, at, len);
	else
		vc->ordinary = true;
	return 0;
}

static int region_copy(struct rte_vc *vc, const struct rte_head *head,
		       const struct rte_write *write, const uint8_t *from, size_t len)
{
	struct crn_mr_map *map = vc->attr.map;
	const size_t rest = (size_t)(write->length - write->offset);
	struct crn_mr *mr;
	void *at;
	int ret;

	/* As with verbs, a write of nothing looks at no key. */
	if (!write->length)
		return durable_check(vc, head, true);
	if (!map)
		return -FI_EKEYREJECTED;
	crn_mr_begin(map);
	ret = crn_mr_find(map, write->key, write->addr + write->offset, rest,
			  FI_REMOTE_WRITE, &at, &mr);
	if (!ret && !write->offset)
		vc->in.region = mr->number;
	/* Another region has the key now: what was begun goes to no other. */
	else if (!ret && vc->in.region != mr->number)
		ret = -FI_EKEYREJECTED;
	crn_tsan_peer_begins();
	if (!ret)
		ret = region_place(vc, head, mr, at, from, len);
	crn_tsan_peer_ends();
	crn_mr_end(map);
	return ret;
}

/* Data for the completion queue take a receive. */
static bool lacks_receive(const struct rte_vc *vc, const struct rte_head *head)
{
	return (head->flags & RTE_LAST) && (head->flags & RTE_CQDATA) &&
	       crn_list_empty(&vc->posted);
}

static void write_end(struct rte_vc *vc, const struct rte_head *head,
		      const struct rte_write *write)
{
	const uint64_t flags = FI_RMA | FI_REMOTE_WRITE;

	if (head->flags & RTE_CQDATA)
		rte_vc_recv_done(vc, rte_vc_recv_take(vc), write->length,
				 flags | FI_REMOTE_CQ_DATA, write->cq_data);
	else
		crn_ep_count(vc->attr.ep, flags, false);
	if (head->flags & RTE_ACKREQ)
		vc->ack_due = head->seq;
}

bool rte_vc_place(struct rte_vc *vc, const struct rte_rx *rx,
		  const struct rte_write *write)
{
	const struct rte_head *head = &rx->packet.head;
	bool waits;
	int ret;

	waits = lacks_receive(vc, head);
	ret = region_copy(vc, head, write, rx->payload, waits ? 0 : head->plen);
	if (ret) {
		rte_vc_refuse(vc, head->seq, -ret);
	} else if (waits) {
		return false;
	} else if (head->flags & RTE_LAST) {
		write_end(vc, head, write);
	}
	return true;
}
