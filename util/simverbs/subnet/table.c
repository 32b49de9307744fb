/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tables.h"

/* A slot of the hash whose group is gone: others may lie behind it. */
#define SVB_HASH_GONE UINT32_MAX
#define SVB_HASH_SLOTS (2 * SVB_MAX_GROUPS)
#define SVB_SCOPE_LINK 2

static struct svb_subnet *svb_subnet_mapped;

static const uint8_t svb_ipoib_signature[2] = {0x40, 0x1b};

struct svb_group_attr svb_subnet_default(uint16_t pkey)
{
	return (struct svb_group_attr){
		.qkey = 0xb1b,
		.pkey = pkey | SVB_PKEY_FULL,
		.mtu = (uint8_t)svb_self.settings.mtu,
		.rate = IBV_RATE_100_GBPS,
		.life = 18,
	};
}

/* RFC 4391 section 4: the broadcast group of a partition. */
static union ibv_gid svb_broadcast(uint16_t pkey, uint8_t scope, bool v6)
{
	union ibv_gid gid = {.raw = {0xff, 0x10 | scope}};

	memcpy(gid.raw + 2, svb_ipoib_signature, 2);
	gid.raw[4] = (uint8_t)((pkey | SVB_PKEY_FULL) >> 8);
	gid.raw[5] = (uint8_t)pkey;
	if (v6) {
		gid.raw[2] = 0x60;
		gid.raw[15] = 1;
	} else {
		memset(gid.raw + 12, 0xff, 4);
	}
	return gid;
}

bool svb_subnet_ipoib(uint16_t pkey, struct svb_group_attr *attr)
{
	static const uint8_t scopes[] = {SVB_SCOPE_LINK, 5, 8, 14};
	struct svb_group group;
	union ibv_gid mgid;
	size_t i;
	int at;

	for (i = 0; i < sizeof(scopes); i++) {
		mgid = svb_broadcast(pkey, scopes[i], false);
		at = svb_subnet_find(&mgid);
		if (at >= 0 && svb_subnet_get((uint32_t)at, &group)) {
			*attr = group.attr;
			return true;
		}
	}
	*attr = svb_subnet_default(pkey);
	return false;
}

/* Groups that the subnet manager makes: IPoIB's of each partition of the ports. */
static void svb_subnet_partition(struct svb_subnet *subnet, uint16_t pkey)
{
	const struct svb_group_attr attr = svb_subnet_default(pkey);
	union ibv_gid mgid;
	int v6;

	for (v6 = 0; v6 < 2; v6++) {
		mgid = svb_broadcast(pkey, SVB_SCOPE_LINK, v6);
		if (svb_subnet_find(&mgid) < 0)
			svb_group_add(subnet, &mgid, &attr, true);
	}
}

/* The one that a setting names. */
static void svb_subnet_named(struct svb_subnet *subnet, const struct svb_made_group *made)
{
	struct svb_group_attr attr = svb_subnet_default((uint16_t)made->pkey);
	union ibv_gid mgid;

	memcpy(mgid.raw, made->mgid, 16);
	attr.qkey = made->qkey;
	attr.flow = made->flow;
	attr.tclass = (uint8_t)made->tclass;
	attr.sl = (uint8_t)made->sl;
	/* 256 bytes are 1, 4096 are 5. */
	if (made->mtu)
		attr.mtu = (uint8_t)(31 - __builtin_clz(made->mtu) - 7);
	if (svb_subnet_find(&mgid) < 0)
		svb_group_add(subnet, &mgid, &attr, true);
}

static void svb_subnet_partitions(struct svb_subnet *subnet)
{
	const struct svb_made_groups *made = &svb_self.settings.groups;
	const struct svb_device_settings *device;
	uint32_t i, k;

	for (i = 0; i < made->count; i++)
		svb_subnet_named(subnet, &made->group[i]);
	for (i = 0; made->automatic && i < svb_self.settings.devices; i++) {
		device = &svb_self.settings.device[i];
		for (k = 0; k < device->port[0].pkeys; k++)
			svb_subnet_partition(subnet, device->port[0].pkey[k]);
	}
}

/* What a client made is gone, and who subscribed is not told (opensm keeps neither). */
static void svb_subnet_forget(struct svb_subnet *subnet)
{
	uint32_t i;

	for (i = 0; i < subnet->groups; i++)
		svb_set(subnet->group[i].used, 0);
	memset(subnet->hash, 0, sizeof(subnet->hash));
	memset(subnet->hold, 0, sizeof(subnet->hold));
	memset(subnet->inform, 0, sizeof(subnet->inform));
	memset(subnet->report, 0, sizeof(subnet->report));
	subnet->groups = subnet->holds = subnet->acts = 0;
	subnet->era++;
	/* Before its groups are made: none is found while it says so. */
	__atomic_store_n(&subnet->restart, 0, __ATOMIC_RELEASE);
	svb_subnet_partitions(subnet);
}

static struct svb_subnet *svb_subnet_map(void)
{
	struct svb_subnet *subnet = MAP_FAILED;
	int fd = openat(svb_self.dir_fd, "subnet",
			O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return NULL;
	if (!posix_fallocate(fd, 0, sizeof(*subnet)))
		subnet = mmap(NULL, sizeof(*subnet), PROT_READ | PROT_WRITE, MAP_SHARED,
			      fd, 0);
	close(fd);
	if (subnet == MAP_FAILED)
		return NULL;
	if (!subnet->magic)
		subnet->magic = SVB_SUBNET_MAGIC;
	if (subnet->magic == SVB_SUBNET_MAGIC)
		return subnet;
	munmap(subnet, sizeof(*subnet));
	return NULL;
}

struct svb_subnet *svb_subnet(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	struct svb_subnet *subnet = __atomic_load_n(&svb_subnet_mapped, __ATOMIC_ACQUIRE);

	if (subnet || svb_self.settings.link != SVB_LINK_IB)
		return subnet;
	pthread_mutex_lock(&mutex);
	subnet = svb_subnet_mapped;
	if (!subnet)
		subnet = svb_subnet_map();
	if (subnet && !svb_subnet_mapped) {
		__atomic_store_n(&svb_subnet_mapped, subnet, __ATOMIC_RELEASE);
		svb_lock(&subnet->lock);
		if (__atomic_load_n(&subnet->restart, __ATOMIC_ACQUIRE))
			svb_subnet_forget(subnet);
		else
			svb_subnet_partitions(subnet);
		svb_unlock(&subnet->lock);
	}
	pthread_mutex_unlock(&mutex);
	return subnet;
}

struct svb_subnet *svb_subnet_lock(void)
{
	struct svb_subnet *subnet = svb_subnet();

	if (!subnet)
		return NULL;
	svb_lock(&subnet->lock);
	if (__atomic_load_n(&subnet->restart, __ATOMIC_ACQUIRE))
		svb_subnet_forget(subnet);
	subnet->acts++;
	svb_holds_sweep(subnet);
	return subnet;
}

void svb_subnet_unlock(struct svb_subnet *subnet)
{
	svb_unlock(&subnet->lock);
}

uint32_t svb_subnet_acts(void)
{
	struct svb_subnet *subnet = svb_subnet_lock();
	uint32_t acts;

	if (!subnet)
		return 0;
	acts = subnet->acts;
	svb_subnet_unlock(subnet);
	return acts;
}

static uint32_t svb_group_hash(const union ibv_gid *mgid)
{
	uint32_t hash = 2166136261u, i;

	for (i = 0; i < 16; i++)
		hash = (hash ^ mgid->raw[i]) * 16777619u;
	return (hash ^ hash >> 15) % SVB_HASH_SLOTS;
}

static bool svb_group_is(const struct svb_group *group, const union ibv_gid *mgid)
{
	return __atomic_load_n(&group->used, __ATOMIC_ACQUIRE) &&
	       !memcmp(&group->mgid, mgid, sizeof(*mgid));
}

int svb_subnet_find(const union ibv_gid *mgid)
{
	struct svb_subnet *subnet = svb_subnet();
	uint32_t at = svb_group_hash(mgid), tries, place;

	if (!subnet || svb_get(subnet->restart))
		return -1;
	for (tries = 0; tries < SVB_HASH_SLOTS; tries++) {
		place = __atomic_load_n(&subnet->hash[at], __ATOMIC_ACQUIRE);
		if (!place)
			return -1;
		if (place <= SVB_MAX_GROUPS &&
		    svb_group_is(&subnet->group[place - 1], mgid))
			return (int)place - 1;
		at = (at + 1) % SVB_HASH_SLOTS;
	}
	return -1;
}

uint32_t svb_subnet_receivers(const union ibv_gid *mgid, uint32_t lid)
{
	struct svb_subnet *subnet = svb_subnet();
	const uint32_t place = lid - SVB_MLID_FIRST;

	if (!subnet || place >= SVB_MAX_GROUPS || svb_get(subnet->restart) ||
	    !svb_group_is(&subnet->group[place], mgid))
		return 0;
	return svb_get(subnet->group[place].receivers);
}

bool svb_subnet_get(uint32_t at, struct svb_group *group)
{
	struct svb_subnet *subnet = svb_subnet_lock();
	bool used;

	if (!subnet)
		return false;
	used = at < SVB_MAX_GROUPS && subnet->group[at].used;
	if (used)
		*group = subnet->group[at];
	svb_subnet_unlock(subnet);
	return used;
}

uint32_t svb_subnet_places(void)
{
	struct svb_subnet *subnet = svb_subnet_lock();
	uint32_t places;

	if (!subnet)
		return 0;
	places = subnet->groups;
	svb_subnet_unlock(subnet);
	return places;
}

static void svb_group_enter(struct svb_subnet *subnet, const union ibv_gid *mgid,
			    uint32_t place)
{
	uint32_t at = svb_group_hash(mgid);

	while (subnet->hash[at] && subnet->hash[at] != SVB_HASH_GONE)
		at = (at + 1) % SVB_HASH_SLOTS;
	__atomic_store_n(&subnet->hash[at], place + 1, __ATOMIC_RELEASE);
}

static void svb_group_strike(struct svb_subnet *subnet, uint32_t place)
{
	uint32_t at = svb_group_hash(&subnet->group[place].mgid), tries;

	for (tries = 0; tries < SVB_HASH_SLOTS; tries++) {
		if (subnet->hash[at] == place + 1) {
			svb_set(subnet->hash[at], SVB_HASH_GONE);
			return;
		}
		at = (at + 1) % SVB_HASH_SLOTS;
	}
}

static int svb_group_place(struct svb_subnet *subnet)
{
	const uint32_t limit = svb_self.settings.mlids;
	uint32_t tries, at;

	for (tries = 0; tries < limit; tries++) {
		at = (subnet->next_group + tries) % limit;
		if (subnet->group[at].used)
			continue;
		subnet->next_group = at + 1;
		return (int)at;
	}
	return -1;
}

int svb_group_add(struct svb_subnet *subnet, const union ibv_gid *mgid,
		  const struct svb_group_attr *attr, bool made)
{
	const int place = svb_group_place(subnet);
	struct svb_group *group;

	if (place < 0)
		return -1;
	group = &subnet->group[place];
	memset(group, 0, sizeof(*group));
	group->mgid = *mgid;
	group->attr = *attr;
	group->made = made;
	if ((uint32_t)place >= subnet->groups)
		svb_set(subnet->groups, (uint32_t)place + 1);
	svb_group_enter(subnet, mgid, (uint32_t)place);
	__atomic_store_n(&group->used, 1, __ATOMIC_RELEASE);
	svb_inform_all(subnet, SVB_TRAP_CREATED, mgid);
	return place;
}

void svb_group_del(struct svb_subnet *subnet, uint32_t place)
{
	struct svb_group *group = &subnet->group[place];

	svb_group_strike(subnet, place);
	__atomic_store_n(&group->used, 0, __ATOMIC_RELEASE);
	svb_set(group->receivers, 0);
	svb_inform_all(subnet, SVB_TRAP_DELETED, &group->mgid);
}
