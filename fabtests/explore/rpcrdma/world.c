/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <libgen.h>
#include <limits.h>
#include <netinet/in.h>
#include "mutants.h"
#include "objects.h"
#include "search.h"
#include "world.h"
#include "wrap.h"

#define PLUGINS "../script/.libs" /* from this program's folder */
#define INLINE "1024"
#define CREDITS "4"
#define STOCK 16u /* of a size */

struct world xrp_world;

struct fi_provider *fi_prov_ini(void);

/* What libfabric looks for behind the second plugin. */
struct fi_provider *scr_tested_ini(void)
{
	return fi_prov_ini();
}

/* The linker puts these where the code under exploration calls them: time does not pass,
 * and infos, which the library would free, stay until the process ends. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
void __wrap_fi_freeinfo(void *info);
/* A connection that ends is one of thousands. */
int __wrap_fi_log_enabled(const struct fi_provider *prov, enum fi_log_level level,
			  enum fi_log_subsys subsys);

int __wrap_fi_log_enabled(const struct fi_provider *prov, enum fi_log_level level,
			  enum fi_log_subsys subsys)
{
	return 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	*now = (struct timespec){.tv_sec = 1};
	return 0;
}

void __wrap_fi_freeinfo(void *info)
{
}

/* Nor does it free what it was given from this heap. */
WRAP(int, fi_getinfo, uint32_t version, const char *node, const char *service,
     uint64_t flags, const struct fi_info *hints, struct fi_info **info)
{
	int ret;

	xpl_heap_use(false);
	ret = __real_fi_getinfo(version, node, service, flags, hints, info);
	xpl_heap_use(true);
	return ret;
}

/* The layer has two receives more than may be needed, for what a peer sends that it
 * should not: without them a search finds where one is posted too late. */
#define SPARE 2u

WRAP(int, rpr_conn_make, struct rpr_ep *ep)
{
	const int ret = __real_rpr_conn_make(ep);

	if (!ret) {
		ep->rx_count -= SPARE;
		xrp_mutant_opened(ep);
	}
	return ret;
}

static void need(ssize_t ret, const char *what)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "explore_rpcrdma: %s: %s\n", what, fi_strerror((int)-ret));
	_exit(2);
}

static void find_plugins(void)
{
	char self[PATH_MAX], path[PATH_MAX + 64];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	need(len, "/proc/self/exe");
	self[len] = '\0';
	snprintf(path, sizeof(path), "%s/" PLUGINS, dirname(self));
	setenv("FI_PROVIDER_PATH", path, 1);
	setenv("FI_RPCRDMA_INLINE", INLINE, 1);
	setenv("FI_RPCRDMA_CREDITS", CREDITS, 1);
}

static struct fi_info *info_of(bool wrap)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	need(hints ? 0 : -FI_ENOMEM, "fi_allocinfo");
	hints->caps = FI_MSG;
	hints->mode = FI_RX_CQ_DATA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->ep_attr->protocol = wrap ? FI_PROTO_UNSPEC : FI_PROTO_CAIRN_RPC;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	hints->tx_attr->size = 4;
	hints->rx_attr->size = 2 * RECEIVES;
	hints->fabric_attr->prov_name = strdup(SCR_NAME ";" RPR_NAME);
	need(__real_fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), NULL, NULL,
			       0, hints, &info),
	     "fi_getinfo");
	return info;
}

static void end_open(struct end *end)
{
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_NONE};
	struct fi_cq_attr cq_attr = {.size = 32,
				     .wait_obj = FI_WAIT_NONE,
				     .format = FI_CQ_FORMAT_DATA};

	need(fi_eq_open(end->fabric, &eq_attr, &end->eq, NULL), "fi_eq_open");
	need(fi_domain(end->fabric, xrp_world.info[0], &end->domain, NULL), "fi_domain");
	need(fi_cq_open(end->domain, &cq_attr, &end->cq, NULL), "fi_cq_open");
	end->memory = calloc(1, sizeof(*end->memory));
	need(end->memory ? 0 : -FI_ENOMEM, "memory");
}

void xrp_world_open(void)
{
	scr_begin();
	find_plugins();
	/* A handle of a chunk has as many bits. */
	scr_offer()->domain_attr->mr_key_size = 4;
	xrp_world.info[0] = info_of(false);
	xrp_world.info[1] = info_of(true);
	xpl_heap_use(true);
	for (unsigned int i = 0; i < SIDES; i++)
		need(fi_fabric(xrp_world.info[0]->fabric_attr, &xrp_world.end[i].fabric,
			       NULL),
		     "fi_fabric");
	for (unsigned int i = 0; i < SIDES; i++)
		end_open(&xrp_world.end[i]);
	xpl_heap_use(false);
}

static void set(struct fid_ep *ep, int name, const void *value, size_t len)
{
	need(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, name, value, len), "fi_setopt");
}

/* Room for works and regions, so that no end takes what is behind what the other took. */
static void stock(void)
{
	static const size_t sizes[] = {64, 128, 256, 512, 1024, 2048};
	void *at[STOCK];

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (unsigned int n = 0; n < STOCK; n++)
			at[n] = malloc(sizes[i]);
		for (unsigned int n = 0; n < STOCK; n++)
			free(at[n]);
	}
}

static void endpoint(unsigned int side, const struct plan_side *plan,
		     struct fi_info *info)
{
	const size_t credits = plan->credits ? plan->credits : 1;
	const size_t grant = plan->grant ? plan->grant : 1;
	const int none = FI_CAIRN_RPC_CHUNKS_NONE;
	const size_t copy = plan->copies ? LONG_LEN : 0;
	struct end *end = &xrp_world.end[side];

	xpl_heap_room(1 + side);
	stock();
	need(fi_endpoint(end->domain, info, &end->ep, NULL), "fi_endpoint");
	need(fi_ep_bind(end->ep, &end->eq->fid, 0), "fi_ep_bind");
	need(fi_ep_bind(end->ep, &end->cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
	set(end->ep, FI_OPT_CAIRN_RPC_CALLS, &credits, sizeof(credits));
	set(end->ep, FI_OPT_CAIRN_RPC_GRANT, &grant, sizeof(grant));
	set(end->ep, FI_OPT_CAIRN_RPC_COPY, &copy, sizeof(copy));
	if (plan->chunkless)
		set(end->ep, FI_OPT_CAIRN_RPC_CHUNKS, &none, sizeof(none));
	need(fi_enable(end->ep), "fi_enable");
	xpl_heap_room(0);
}

static struct fi_info *event(unsigned int side, uint32_t wanted)
{
	struct {
		struct fi_eq_cm_entry entry;
		char data[64];
	} got;
	uint32_t came = 0;

	need(fi_eq_read(xrp_world.end[side].eq, &came, &got, sizeof(got), 0),
	     "fi_eq_read");
	need(came == wanted ? 0 : -FI_EOTHER, "the next event");
	return got.entry.info;
}

void xrp_world_connect(const struct scenario *scenario)
{
	struct fi_info *info = xrp_world.info[scenario->wrap];
	char addr[sizeof(struct sockaddr_in)];
	size_t len = sizeof(addr);

	scr_hold(0);
	xpl_heap_use(true);
	need(fi_passive_ep(xrp_world.end[1].fabric, info, &xrp_world.pep, NULL),
	     "fi_passive_ep");
	need(fi_pep_bind(xrp_world.pep, &xrp_world.end[1].eq->fid, 0), "fi_pep_bind");
	need(fi_listen(xrp_world.pep), "fi_listen");
	endpoint(0, &scenario->side[0], info);
	need(fi_getname(&xrp_world.pep->fid, addr, &len), "fi_getname");
	need(fi_connect(xrp_world.end[0].ep, addr, NULL, 0), "fi_connect");
	endpoint(1, &scenario->side[1], event(1, FI_CONNREQ));
	need(fi_accept(xrp_world.end[1].ep, NULL, 0), "fi_accept");
	event(0, FI_CONNECTED);
	event(1, FI_CONNECTED);
	xpl_heap_use(false);
	scr_hold(SCR_ARRIVALS | SCR_COMPLETIONS | SCR_EVENTS);
}

static struct rpr_ep *layer(unsigned int side)
{
	return rpr_ep_of(xrp_world.end[side].ep);
}

struct fid_ep *xrp_world_lower(unsigned int side)
{
	return layer(side)->lower;
}
