/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache of address handles. A device may look at a handle until the send that names
 * it has completed, so a handle that nobody uses any more stays until all sends posted
 * before have: when the last of those leaving has gone, those idle since are the next to
 * leave, once each queue has got to where it stands now. Meanwhile who wants one again
 * gets it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "device/device.h"
#include "cq/cq.h"
#include "dgram.h"
#include "internal.h"

#define AH_BUCKETS_MIN 64u
/* As the stock provider and the kernel's rdma_cm have it. */
#define AH_HOP_LIMIT 64

/* What handles of a port differ in. */
struct ah_key {
	uint8_t gid[16];
	uint32_t flow_label;
	uint16_t lid;
	uint8_t sl;
	uint8_t global;
	uint8_t sgid_index;
	uint8_t hop_limit;
	uint8_t traffic_class;
	uint8_t static_rate;
};

struct pvb_ah {
	struct ah_key key;
	unsigned int uses;
	struct ibv_ah *handle;
	struct pvb_ah *next;   /* of its bucket */
	struct crn_list entry; /* of idle or leaving, while uses is 0 */
};

int pvb_ahs_init(struct pvb_ahs *ahs)
{
	int ret = -pthread_mutex_init(&ahs->lock, NULL);

	if (ret)
		return ret;
	ret = -pthread_mutex_init(&ahs->sweeping, NULL);
	if (ret) {
		pthread_mutex_destroy(&ahs->lock);
		return ret;
	}
	crn_list_init(&ahs->idle);
	crn_list_init(&ahs->leaving);
	return 0;
}

static void ah_free(struct pvb_ah *ah)
{
	ibv_destroy_ah(ah->handle);
	free(ah);
}

void pvb_ahs_fini(struct pvb_ahs *ahs)
{
	struct pvb_ah *ah, *next;
	uint32_t i;

	for (i = 0; i < ahs->bucket_count; i++) {
		for (ah = ahs->buckets[i]; ah; ah = next) {
			next = ah->next;
			ah_free(ah);
		}
	}
	free(ahs->buckets);
	pthread_mutex_destroy(&ahs->sweeping);
	pthread_mutex_destroy(&ahs->lock);
}

static struct pvb_ah **ah_bucket(const struct pvb_ahs *ahs, const struct ah_key *key)
{
	return &ahs->buckets[crn_av_hash(CRN_AV_HASH, key, sizeof(*key)) &
			     (ahs->bucket_count - 1)];
}

static struct pvb_ah *ah_find(const struct pvb_ahs *ahs, const struct ah_key *key)
{
	struct pvb_ah *ah = ahs->buckets ? *ah_bucket(ahs, key) : NULL;

	while (ah && memcmp(&ah->key, key, sizeof(*key)) != 0)
		ah = ah->next;
	return ah;
}

static void ah_link(struct pvb_ahs *ahs, struct pvb_ah *ah)
{
	struct pvb_ah **bucket = ah_bucket(ahs, &ah->key);

	ah->next = *bucket;
	*bucket = ah;
}

static void ah_unlink(struct pvb_ahs *ahs, struct pvb_ah *ah)
{
	struct pvb_ah **link = ah_bucket(ahs, &ah->key);

	while (*link != ah)
		link = &(*link)->next;
	*link = ah->next;
	ahs->count--;
}

/* As many buckets as handles; without memory those that there are have to do. */
static int ah_grow(struct pvb_ahs *ahs)
{
	const uint32_t old_count = ahs->bucket_count;
	const uint32_t count = old_count ? 2 * old_count : AH_BUCKETS_MIN;
	struct pvb_ah **old = ahs->buckets, **buckets, *ah, *next;
	uint32_t i;

	if (ahs->count < old_count)
		return 0;
	buckets = calloc(count, sizeof(struct pvb_ah *));
	if (!buckets)
		return old ? 0 : -FI_ENOMEM;
	ahs->buckets = buckets;
	ahs->bucket_count = count;
	for (i = 0; i < old_count; i++) {
		for (ah = old[i]; ah; ah = next) {
			next = ah->next;
			ah_link(ahs, ah);
		}
	}
	free(old);
	return 0;
}

/* Without holes: keys are compared as bytes. */
static struct ah_key ah_key_of(const struct ibv_ah_attr *attr)
{
	struct ah_key key = {.lid = attr->dlid,
			     .sl = attr->sl,
			     .static_rate = attr->static_rate,
			     .global = attr->is_global};

	if (!attr->is_global)
		return key;
	memcpy(key.gid, attr->grh.dgid.raw, sizeof(key.gid));
	key.flow_label = attr->grh.flow_label;
	key.sgid_index = attr->grh.sgid_index;
	key.hop_limit = attr->grh.hop_limit;
	key.traffic_class = attr->grh.traffic_class;
	return key;
}

static struct ibv_ah_attr ah_attr_of(const struct pvb_ud_path *path,
				     const struct pvb_ud_addr *addr)
{
	struct ibv_ah_attr attr = {
		.dlid = path->ethernet ? 0 : addr->lid,
		.sl = addr->sl,
		.port_num = path->port,
	};

	if (pvb_ud_no_gid(addr))
		return attr;
	attr.is_global = 1;
	memcpy(attr.grh.dgid.raw, addr->gid, sizeof(addr->gid));
	attr.grh.sgid_index = path->sgid_index;
	attr.grh.hop_limit = AH_HOP_LIMIT;
	if (pvb_params.traffic_class >= 0)
		attr.grh.traffic_class = (uint8_t)pvb_params.traffic_class;
	return attr;
}

/* With the lock held. */
static int ah_new(struct pvb_domain *domain, struct ibv_ah_attr *attr,
		  const struct ah_key *key, struct pvb_ah **out)
{
	struct pvb_ahs *ahs = &domain->ud->ahs;
	struct pvb_ah *ah;
	int ret = ah_grow(ahs);

	if (ret)
		return ret;
	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return -FI_ENOMEM;
	ah->key = *key;
	ah->handle = ibv_create_ah(domain->pd, attr);
	if (!ah->handle) {
		ret = pvb_errno();
		free(ah);
		return ret;
	}
	ah_link(ahs, ah);
	ahs->count++;
	*out = ah;
	return 0;
}

static bool ah_none_leaving(struct pvb_ahs *ahs)
{
	bool none;

	pthread_mutex_lock(&ahs->lock);
	none = crn_list_empty(&ahs->leaving);
	pthread_mutex_unlock(&ahs->lock);
	return none;
}

/* Has each send queue got to where it stood when those leaving began to? Positions wrap,
 * and mean nothing while none does. */
static bool ah_all_passed(struct pvb_domain *domain)
{
	struct crn_list *entry;
	struct pvb_qp *qp;
	bool passed = true;

	if (ah_none_leaving(&domain->ud->ahs))
		return true;
	pthread_mutex_lock(&domain->qps_lock);
	crn_list_for_each (entry, &domain->qps) {
		qp = crn_container_of(entry, struct pvb_qp, entry);
		passed &= (int32_t)(atomic_load(&qp->sq.ring.tail) - qp->sq.passing) >= 0;
	}
	pthread_mutex_unlock(&domain->qps_lock);
	return passed;
}

static void ah_mark_all(struct pvb_domain *domain)
{
	struct crn_list *entry;
	struct pvb_qp *qp;

	pthread_mutex_lock(&domain->qps_lock);
	crn_list_for_each (entry, &domain->qps) {
		qp = crn_container_of(entry, struct pvb_qp, entry);
		crn_lock(&qp->tx_lock);
		qp->sq.passing = qp->sq.ring.head;
		crn_unlock(&qp->tx_lock);
	}
	pthread_mutex_unlock(&domain->qps_lock);
}

/* Frees those leaving, unless somebody wants one again. */
static void ah_leave(struct pvb_ahs *ahs)
{
	struct pvb_ah *ah;

	pthread_mutex_lock(&ahs->lock);
	while (!crn_list_empty(&ahs->leaving)) {
		ah = crn_container_of(crn_list_pop(&ahs->leaving), struct pvb_ah, entry);
		ah_unlink(ahs, ah);
		ah_free(ah);
	}
	pthread_mutex_unlock(&ahs->lock);
}

/* The idle ones begin to leave; false when there are none. */
static bool ah_begin_to_leave(struct pvb_ahs *ahs)
{
	bool any;

	pthread_mutex_lock(&ahs->lock);
	any = !crn_list_empty(&ahs->idle);
	while (!crn_list_empty(&ahs->idle))
		crn_list_add_tail(&ahs->leaving, crn_list_pop(&ahs->idle));
	pthread_mutex_unlock(&ahs->lock);
	return any;
}

void pvb_ahs_sweep(struct pvb_domain *domain)
{
	struct pvb_ahs *ahs = &domain->ud->ahs;
	int turn;

	if (pthread_mutex_trylock(&ahs->sweeping))
		return;
	/* The second turn frees at once what no send is outstanding for. */
	for (turn = 0; turn < 2 && ah_all_passed(domain); turn++) {
		ah_leave(ahs);
		if (!ah_begin_to_leave(ahs))
			break;
		ah_mark_all(domain);
	}
	pthread_mutex_unlock(&ahs->sweeping);
}

int pvb_ah_get_attr(struct pvb_domain *domain, struct ibv_ah_attr *attr, uint32_t qpn,
		    uint32_t qkey, struct pvb_ud_peer *peer)
{
	const struct ah_key key = ah_key_of(attr);
	struct pvb_ahs *ahs = &domain->ud->ahs;
	struct pvb_ah *ah;
	int ret = 0;

	pthread_mutex_lock(&ahs->lock);
	ah = ah_find(ahs, &key);
	if (!ah)
		ret = ah_new(domain, attr, &key, &ah);
	else if (!ah->uses)
		crn_list_del(&ah->entry);
	if (!ret) {
		ah->uses++;
		*peer = (struct pvb_ud_peer){
			.handle = ah->handle, .qpn = qpn, .qkey = qkey, .ah = ah};
	}
	pthread_mutex_unlock(&ahs->lock);
	return ret;
}

int pvb_ah_get(struct pvb_domain *domain, const struct pvb_ud_addr *addr,
	       struct pvb_ud_peer *peer)
{
	struct ibv_ah_attr attr = ah_attr_of(&domain->ud->path, addr);
	char text[PVB_UD_STRLEN];

	if (!pvb_ud_reachable(addr, domain->ud->path.ethernet)) {
		pvb_ud_text(addr, text, sizeof(text));
		PVB_WARN(FI_LOG_AV,
			 "%s has no %s, which a datagram needs on this port; insert the "
			 "address that fi_getname gives on the peer\n",
			 text, domain->ud->path.ethernet ? "GID" : "LID");
		return -FI_EINVAL;
	}
	return pvb_ah_get_attr(domain, &attr, addr->qpn, pvb_ud_qkey(addr), peer);
}

void pvb_ah_put(struct pvb_domain *domain, struct pvb_ud_peer *peer)
{
	struct pvb_ahs *ahs = &domain->ud->ahs;

	pthread_mutex_lock(&ahs->lock);
	if (!--peer->ah->uses)
		crn_list_add_tail(&ahs->idle, &peer->ah->entry);
	pthread_mutex_unlock(&ahs->lock);
}
