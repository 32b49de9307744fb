/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/nosys.h>
#include "cairn_test.h"
#include "lower_world.h"

static struct lower_world *world;

/* clang-format off */
int __real_fi_getinfo(uint32_t version, const char *node, const char *service,
		      uint64_t flags, const struct fi_info *hints, struct fi_info **info);
int __wrap_fi_getinfo(uint32_t version, const char *node, const char *service,
		      uint64_t flags, const struct fi_info *hints, struct fi_info **info);
int __real_fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
int __wrap_fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
struct fi_info *__real_fi_dupinfo(const struct fi_info *info);
struct fi_info *__wrap_fi_dupinfo(const struct fi_info *info);
char *__real_strdup(const char *text);
/* clang-format on */

struct fi_info *__wrap_fi_dupinfo(const struct fi_info *info)
{
	void *allocation = malloc(1);

	if (!allocation)
		return NULL;
	free(allocation);
	return __real_fi_dupinfo(info);
}

static void record(const struct fi_info *hints, uint64_t flags, uint32_t version)
{
	struct lower_asked *asked = &world->asks[world->asked];

	CT_ASSERT_LT(world->asked, LOWER_ASKS);
	world->asked++;
	snprintf(asked->prov_name, sizeof(asked->prov_name), "%s",
		 hints->fabric_attr->prov_name);
	asked->flags = flags;
	asked->version = version;
	asked->hints = __real_fi_dupinfo(hints);
}

int __wrap_fi_getinfo(uint32_t version, const char *node, const char *service,
		      uint64_t flags, const struct fi_info *hints, struct fi_info **info)
{
	const struct lower_prov *prov;

	if (!world)
		return __real_fi_getinfo(version, node, service, flags, hints, info);
	record(hints, flags, version);
	if (world->on_ask)
		world->on_ask(world);
	*info = NULL;
	for (prov = world->provs; prov; prov = prov->next) {
		if (!strcmp(prov->name, hints->fabric_attr->prov_name)) {
			*info = __real_fi_dupinfo(prov->info);
			(*info)->fabric_attr->prov_name = __real_strdup(prov->name);
			return 0;
		}
	}
	return -FI_ENODATA;
}

static int lower_fabric_close(struct fid *fid)
{
	if (!world->fabric_close_ret)
		world->open--;
	return world->fabric_close_ret;
}

static int lower_eq_close(struct fid *fid)
{
	world->open--;
	crn_eq_fini(&world->eq);
	return 0;
}

static struct fi_ops lower_eq_fid_ops = {.size = sizeof(struct fi_ops),
					 .close = lower_eq_close,
					 .bind = crn_nosys_bind,
					 .control = crn_eq_control,
					 .ops_open = crn_nosys_ops_open};

static int lower_eq_open_op(struct fid_fabric *fabric, struct fi_eq_attr *attr,
			    struct fid_eq **eq, void *context)
{
	if (world->eq_ret)
		return world->eq_ret;
	CT_EXPECT_EQ(crn_eq_init(&world->eq, &world->prov, attr, context, NULL), 0);
	world->eq.fid.fid.ops = &lower_eq_fid_ops;
	world->open++;
	*eq = &world->eq.fid;
	return 0;
}

static int lower_trywait(struct fid_fabric *fabric, struct fid **fids, int count)
{
	world->trywaits++;
	return world->trywait_ret ? world->trywait_ret : crn_eq_trywait(&world->eq);
}

static struct fi_ops lower_fabric_fid_ops = {.size = sizeof(struct fi_ops),
					     .close = lower_fabric_close,
					     .bind = crn_nosys_bind,
					     .control = crn_nosys_control,
					     .ops_open = crn_nosys_ops_open};

static struct fi_ops_fabric lower_fabric_ops = {.size = sizeof(struct fi_ops_fabric),
						.eq_open = lower_eq_open_op,
						.trywait = lower_trywait};

int __wrap_fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		     void *context)
{
	if (!world)
		return __real_fi_fabric(attr, fabric, context);
	world->attr = *attr;
	snprintf(world->opened, sizeof(world->opened), "%s", attr->prov_name);
	if (world->fabric_ret)
		return world->fabric_ret;
	world->lower = (struct fid_fabric){.fid = {.fclass = FI_CLASS_FABRIC,
						   .ops = &lower_fabric_fid_ops},
					   .ops = &lower_fabric_ops};
	world->open++;
	*fabric = &world->lower;
	return 0;
}

void lower_filter(const char *value)
{
	if (value)
		setenv("FI_PROVIDER", value, 1);
	else
		unsetenv("FI_PROVIDER");
}

/* Until it has started, libfabric knows nothing of FI_PROVIDER. */
static void start_libfabric(void)
{
	struct fi_param *params;
	int count;

	CT_ASSERT_EQ(fi_getparams(&params, &count), 0);
	fi_freeparams(params);
}

void lower_world_open(struct lower_world *w, const struct crn_lower_row *table,
		      size_t rows)
{
	lower_world_close(w);
	start_libfabric();
	memset(w, 0, sizeof(*w));
	w->prov.name = "lay";
	w->layer = (struct crn_lower_layer){
		.prov = &w->prov, .lower = &w->param, .table = table, .rows = rows};
	lower_filter(NULL);
	ct_log_reset();
	world = w;
}

void lower_world_close(struct lower_world *w)
{
	struct lower_prov *prov;

	if (world != w)
		return;
	CT_EXPECT_EQ(w->open, 0);
	while ((prov = w->provs)) {
		w->provs = prov->next;
		fi_freeinfo(prov->info);
		free(prov);
	}
	for (unsigned int i = 0; i < w->asked; i++)
		fi_freeinfo(w->asks[i].hints);
	lower_filter(NULL);
	world = NULL;
}

struct lower_prov *lower_add(struct lower_world *w, const char *name, const char *fabric)
{
	struct lower_prov *prov = calloc(1, sizeof(*prov));

	prov->name = name;
	prov->info = __real_fi_dupinfo(NULL);
	prov->info->caps = FI_MSG | FI_RMA | FI_SEND | FI_RECV;
	prov->info->ep_attr->type = FI_EP_MSG;
	prov->info->fabric_attr->name = strdup(fabric);
	prov->info->domain_attr->name = strdup("dom");
	prov->next = w->provs;
	w->provs = prov;
	return prov;
}

int lower_getinfo(struct lower_world *w, const char *prov_name, struct fi_info **info)
{
	struct fi_info *hints = prov_name ? __real_fi_dupinfo(NULL) : NULL;
	int ret;

	if (prov_name)
		hints->fabric_attr->prov_name = strdup(prov_name);
	ret = crn_lower_getinfo(&w->layer, FI_VERSION(1, 17), NULL, NULL, 0, hints, info);
	if (hints)
		fi_freeinfo(hints);
	return ret;
}

int lower_answers(struct lower_world *w, const char *prov_name)
{
	struct fi_info *info;
	int ret = lower_getinfo(w, prov_name, &info);

	CT_EXPECT_EQ(!ret, info != NULL);
	if (!ret)
		fi_freeinfo(info);
	return ret;
}

void lower_fabric(struct lower_world *w)
{
	char prov_name[] = "lay", name[] = "tcp;lay:fab";
	struct fi_fabric_attr attr = {.prov_name = prov_name,
				      .name = name,
				      .api_version = FI_VERSION(1, 17)};

	lower_add(w, "tcp", "fab");
	CT_EXPECT_EQ(crn_lower_fabric_open(&w->layer, &attr, &w->fabric, NULL), 0);
}

static struct lower_object *lower_of(struct fid *fid)
{
	return crn_container_of(fid, struct lower_object, fid);
}

static int object_close(struct fid *fid)
{
	struct lower_object *object = lower_of(fid);

	object->closes++;
	if (!object->close_ret && object->eq)
		crn_eq_forget(object->eq, fid);
	return object->close_ret;
}

static int object_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct lower_object *object = lower_of(fid);

	if (!object->bind_ret)
		object->eq = crn_container_of(bfid, struct crn_eq, fid.fid);
	return object->bind_ret;
}

static int object_reject(struct fid_pep *pep, fid_t handle, const void *param,
			 size_t paramlen)
{
	struct lower_object *object = lower_of(&pep->fid);

	object->rejects++;
	object->rejected = handle;
	return 0;
}

static struct fi_ops object_ops = {.size = sizeof(struct fi_ops),
				   .close = object_close,
				   .bind = object_bind,
				   .control = crn_nosys_control,
				   .ops_open = crn_nosys_ops_open};

static struct fi_ops_cm object_cm = {.size = sizeof(struct fi_ops_cm),
				     .reject = object_reject};

void lower_pair_init(struct lower_pair *pair, size_t fclass)
{
	memset(pair, 0, sizeof(*pair));
	pair->fid.fclass = fclass;
	pair->obj.fid = &pair->fid;
	pair->lower.fid.fclass = fclass;
	pair->lower.fid.context = &pair->obj;
	pair->lower.fid.ops = &object_ops;
	if (fclass == FI_CLASS_PEP)
		pair->lower.pep.cm = &object_cm;
}

struct crn_lower_eq *lower_eq_open(struct lower_world *w, enum fi_wait_obj wait_obj)
{
	struct fi_eq_attr attr = {.wait_obj = wait_obj, .flags = FI_WRITE};
	struct fid_eq *eq = NULL;

	CT_EXPECT_EQ(crn_lower_eq_open(&w->fabric.fid, &attr, &eq, NULL), 0);
	return crn_container_of(eq, struct crn_lower_eq, eq.fid);
}

void lower_event(struct lower_world *w, uint32_t event, struct lower_pair *about,
		 struct fi_info *info, const void *data, size_t len)
{
	union {
		struct fi_eq_cm_entry cm;
		uint8_t bytes[512];
	} entry = {.cm = {.fid = &about->lower.fid, .info = info}};

	if (len)
		memcpy(entry.cm.data, data, len);
	CT_EXPECT_EQ(crn_eq_insert(&w->eq, event, &about->lower.fid, &entry,
				   sizeof(entry.cm) + len),
		     0);
}

ssize_t lower_read(struct crn_lower_eq *eq, uint32_t *event, struct fi_eq_cm_entry *entry,
		   size_t size)
{
	return fi_eq_read(&eq->eq.fid, event, entry, size, 0);
}
