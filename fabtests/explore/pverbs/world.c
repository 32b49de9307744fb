/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <rdma/providers/fi_prov.h>
#include "model/medium.h"
#include "persist/control/control.h"
#include "persist/facts/facts.h"
#include "state.h"
#include "step.h"
#include "world.h"
#include "wrap.h"

#define ADDRESS "10.77.0.1"
#define DEPTH                                                                    \
	72 /* room for a group of writes with FI_MORE: persist/initiator/group.c \
	    */
#define DEPTH_SHORT 8
#define PATIENCE 100000 /* looks at the event queue */

/* init.c: what libfabric looks for in the provider. */
struct fi_provider *fi_prov_ini(void);

struct world xpv_world;

/* The linker puts these where the provider and the device call them: the machine has one
 * address, whatever the interfaces of this one are, and time does not pass. */
int __wrap_getifaddrs(struct ifaddrs **list);
void __wrap_freeifaddrs(struct ifaddrs *list);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
void __wrap_fi_freeinfo(void *info);

int __wrap_getifaddrs(struct ifaddrs **list)
{
	static char name[] = "sim";
	static struct sockaddr_in address = {.sin_family = AF_INET},
				  mask = {.sin_family = AF_INET};
	static struct ifaddrs one = {.ifa_name = name,
				     .ifa_flags = IFF_UP | IFF_RUNNING,
				     .ifa_addr = (struct sockaddr *)&address,
				     .ifa_netmask = (struct sockaddr *)&mask};

	inet_pton(AF_INET, ADDRESS, &address.sin_addr);
	inet_pton(AF_INET, "255.255.255.0", &mask.sin_addr);
	*list = &one;
	return 0;
}

void __wrap_freeifaddrs(struct ifaddrs *list)
{
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	now->tv_sec = (time_t)(xpv_program.now / 1000000000);
	now->tv_nsec = (long)(xpv_program.now % 1000000000);
	return 0;
}

/* The library would free what was allocated here: infos stay until the process ends. */
void __wrap_fi_freeinfo(void *info)
{
}

static uint64_t now(void)
{
	return xpv_program.now;
}

static void need(ssize_t ret, const char *what)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "explore: %s: %s\n", what, fi_strerror((int)-ret));
	_exit(2);
}

static off_t pm_size(const struct machine *machine)
{
	return machine->special == SPECIAL_WIDE ? PM_WIDE : PM_SIZE;
}

void xpv_world_settings(const struct machine *machine, const char *dir)
{
	char file[128];
	int fd;

	snprintf(file, sizeof(file), "%s/pm", dir);
	fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, pm_size(machine)))
		need(-FI_EIO, file);
	close(fd);
	setenv("SIMVERBS_DIR", dir, 1);
	setenv("SIMVERBS_PERSISTENT_FILE", file, 1);
	setenv("SIMVERBS_DRAIN", "explore", 1);
	setenv("SIMVERBS_THREADS", "off", 1);
	setenv("SIMVERBS_SIM0_ADDRESS", ADDRESS "/24", 1);
	setenv("SIMVERBS_PERSISTENCE", machine->domain, 1);
	setenv("SIMVERBS_DDIO", machine->ddio ? "on" : "off", 1);
	setenv("SIMVERBS_LINK_LAYER", machine->iwarp ? "iwarp" : "infiniband", 1);
	/* Half a second until a queue pair gives up. */
	setenv("FI_PVERBS_ACK_TIMEOUT", "14", 1);
	if (machine->special == SPECIAL_RELAXED)
		setenv("SIMVERBS_RELAXED", "on", 1);
	if (machine->special == SPECIAL_LIAR)
		setenv("FI_PVERBS_DDIO", "off", 1);
	if (machine->special == SPECIAL_MESSAGE)
		setenv("FI_PVERBS_COMMIT_METHOD", "message", 1);
	setenv("SIMVERBS_FLUSH", machine->flush ? "on" : "off", 1);
}

static struct fi_info *hints(void)
{
	struct fi_info *info = fi_allocinfo();

	need(info ? 0 : -FI_ENOMEM, "fi_allocinfo");
	info->caps = FI_MSG | FI_RMA | FI_RMA_PMEM;
	if (!xpv_world.machine->iwarp)
		info->caps |= FI_ATOMIC;
	info->mode = FI_RX_CQ_DATA;
	info->ep_attr->type = FI_EP_MSG;
	info->domain_attr->threading = FI_THREAD_DOMAIN;
	info->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	info->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	info->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	info->tx_attr->size =
		xpv_world.machine->special == SPECIAL_SHORT ? DEPTH_SHORT : DEPTH;
	if (xpv_world.machine->special == SPECIAL_COUNTED)
		info->tx_attr->op_flags = FI_COMMIT_COMPLETE;
	info->rx_attr->size = DEPTH_SHORT;
	if (xpv_world.machine->special == SPECIAL_UNORDERED)
		info->tx_attr->msg_order = FI_ORDER_SAS | FI_ORDER_SAW;
	return info;
}

static void listener(void)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_NONE};
	struct fi_info *wish = hints(), *local;
	size_t len = sizeof(struct sockaddr_in);

	need(xpv_world.provider->getinfo(FI_VERSION(1, 17), ADDRESS, NULL, FI_SOURCE,
					 wish, &local),
	     "fi_getinfo");
	need(xpv_world.provider->fabric(local->fabric_attr, &xpv_world.fabric, NULL),
	     "fi_fabric");
	xpv_world.fabric->api_version = FI_VERSION(1, 17);
	need(fi_eq_open(xpv_world.fabric, &attr, &xpv_world.eq, NULL), "fi_eq_open");
	need(fi_passive_ep(xpv_world.fabric, local, &xpv_world.pep, NULL),
	     "fi_passive_ep");
	need(fi_pep_bind(xpv_world.pep, &xpv_world.eq->fid, 0), "fi_pep_bind");
	need(fi_listen(xpv_world.pep), "fi_listen");
	wish->dest_addr = calloc(1, len);
	need(fi_getname(&xpv_world.pep->fid, wish->dest_addr, &len), "fi_getname");
	wish->dest_addrlen = len;
	wish->src_addr = calloc(1, len);
	memcpy(wish->src_addr, wish->dest_addr, len);
	((struct sockaddr_in *)wish->src_addr)->sin_port = 0;
	wish->src_addrlen = len;
	wish->addr_format = local->addr_format;
	need(xpv_world.provider->getinfo(FI_VERSION(1, 17), NULL, NULL, 0, wish,
					 &xpv_world.info),
	     "fi_getinfo");
}

static void domain(int side, struct fi_info *info)
{
	struct fi_cq_attr attr = {.size = DEPTH, .format = FI_CQ_FORMAT_DATA};
	struct pvb_control *control;

	if (xpv_world.domain[side])
		return;
	need(fi_domain(xpv_world.fabric, info, &xpv_world.domain[side], NULL),
	     "fi_domain");
	/* Its timer wakes who sleeps, and nobody does here: it passes for one that ticks
	 * all the time. */
	control =
		crn_container_of(xpv_world.domain[side], struct pvb_domain, fid)->control;
	if (control)
		atomic_store(&control->ticks, 1);
	need(fi_cq_open(xpv_world.domain[side], &attr, &xpv_world.cq[side], NULL),
	     "fi_cq_open");
}

static struct fid_mr *region(int side, void *at, size_t len, uint64_t access,
			     uint64_t flags)
{
	struct fid_mr *mr;

	need(fi_mr_reg(xpv_world.domain[side], at, len, access, 0, 0, flags, &mr, NULL),
	     "fi_mr_reg");
	return mr;
}

static void initiator_memory(void)
{
	xpv_world.source = aligned_alloc(64, CALLS * LEN_MAX);
	xpv_world.result = aligned_alloc(64, CALLS * LEN_MAX);
	xpv_world.inject = aligned_alloc(64, LEN_MAX);
	need(xpv_world.source && xpv_world.result && xpv_world.inject ? 0 : -FI_ENOMEM,
	     "memory");
	/* Sums tell which calls took place. */
	for (unsigned int i = 0; i < CALLS; i++)
		memset(xpv_world.source[i], 1 << i, LEN_MAX);
	xpv_world.source_mr = region(INITIATOR, xpv_world.source, CALLS * LEN_MAX,
				     FI_WRITE | FI_SEND, 0);
	xpv_world.result_mr =
		region(INITIATOR, xpv_world.result, CALLS * LEN_MAX, FI_READ, 0);
}

/* The linker puts it where the provider asks what memory is like: the administrator has
 * declared the second part to be less safe than it is. */
WRAP(int, pvb_facts_of, struct ibv_context *verbs, const void *addr, size_t len,
     struct pvb_facts *facts)
{
	const int ret = __real_pvb_facts_of(verbs, addr, len, facts);

	if (ret || xpv_world.machine->special != SPECIAL_MIXED ||
	    addr != xpv_world.pm + xpv_world.second)
		return ret;
	facts->key_attr.domain = CRN_DMP;
	facts->key_attr.ddio = true;
	facts->key_attr.flush = facts->key_attr.atomic_write = false;
	return 0;
}

static void pm_regions(void)
{
	const uint64_t access = FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE;
	const bool two = xpv_world.machine->special == SPECIAL_REGIONS ||
			 xpv_world.machine->special == SPECIAL_MIXED;

	xpv_world.second = two ? SECOND_AT : xpv_world.pm_size;
	xpv_world.pm_mr[0] =
		region(TARGET, xpv_world.pm, xpv_world.second, access, FI_RMA_PMEM);
	if (two)
		xpv_world.pm_mr[1] =
			region(TARGET, xpv_world.pm + xpv_world.second,
			       xpv_world.pm_size - xpv_world.second, access, FI_RMA_PMEM);
}

static void target_memory(void)
{
	int fd = open(svb_medium_mapping(), O_RDWR | O_CLOEXEC);

	xpv_world.pm_size = (size_t)pm_size(xpv_world.machine);
	xpv_world.pm =
		mmap(NULL, xpv_world.pm_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	need(fd < 0 || xpv_world.pm == MAP_FAILED ? -FI_EIO : 0, "persistent memory");
	close(fd);
	xpv_world.receive = aligned_alloc(64, PAIRS * RECEIVES * LEN_MAX);
	need(xpv_world.receive ? 0 : -FI_ENOMEM, "memory");
	pm_regions();
	xpv_world.receive_mr =
		region(TARGET, xpv_world.receive, PAIRS * RECEIVES * LEN_MAX, FI_RECV, 0);
}

static struct fid_cntr *counter(int side)
{
	struct fi_cntr_attr attr = {.wait_obj = FI_WAIT_NONE};
	struct fid_cntr *cntr;

	need(fi_cntr_open(xpv_world.domain[side], &attr, &cntr, NULL), "fi_cntr_open");
	return cntr;
}

/* The target's side of the world, which the first request for a connection brings. */
static void target(struct fi_info *info)
{
	if (xpv_world.domain[TARGET])
		return;
	domain(TARGET, info);
	target_memory();
	if (xpv_world.machine->special != SPECIAL_SHARED)
		return;
	need(fi_srx_context(xpv_world.domain[TARGET], info->rx_attr, &xpv_world.srx,
			    NULL),
	     "fi_srx_context");
}

static struct fid_ep *endpoint(int side, struct fi_info *info, unsigned int number)
{
	const bool counted = xpv_world.machine->special == SPECIAL_COUNTED;
	struct fid_ep *ep;

	if (side == TARGET && xpv_world.srx)
		info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	need(fi_endpoint(xpv_world.domain[side], info, &ep, NULL), "fi_endpoint");
	need(fi_ep_bind(ep, &xpv_world.eq->fid, 0), "fi_ep_bind");
	need(fi_ep_bind(ep, &xpv_world.cq[side]->fid,
			FI_TRANSMIT | FI_SELECTIVE_COMPLETION),
	     "fi_ep_bind");
	need(fi_ep_bind(ep, &xpv_world.cq[side]->fid,
			counted ? FI_RECV | FI_SELECTIVE_COMPLETION : FI_RECV),
	     "fi_ep_bind");
	if (counted) {
		xpv_world.cntr[number][side] = counter(side);
		need(fi_ep_bind(ep, &xpv_world.cntr[number][side]->fid,
				side == TARGET ? FI_RECV : FI_SEND | FI_WRITE | FI_READ),
		     "fi_ep_bind");
	}
	if (side == TARGET && xpv_world.srx)
		need(fi_ep_bind(ep, &xpv_world.srx->fid, 0), "fi_ep_bind");
	need(fi_enable(ep), "fi_enable");
	return ep;
}

static void accept_one(unsigned int number, struct fi_info *info)
{
	struct fid_ep *ep;

	target(info);
	ep = endpoint(TARGET, info, number);
	if (xpv_world.machine->receives == RECEIVES_REPLAY)
		need(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_REPLAY,
			       &xpv_world.pm_mr[0], sizeof(xpv_world.pm_mr[0])),
		     "FI_OPT_CAIRN_REPLAY");
	need(fi_accept(ep, NULL, 0), "fi_accept");
	xpv_world.ep[number][TARGET] = ep;
}

/* What the provider makes with a side's first message: keys and addresses would tell
 * states apart by which side was first. */
static void make_ready(struct fid_ep *fid)
{
	struct pvb_control_qp *cqp =
		crn_container_of(fid, struct pvb_ep, fid)->qp.control_qp;

	need(cqp ? pvb_control_qp_make_ready(cqp) : 0, "memory to send from");
}

static void pair(unsigned int number)
{
	struct fid_ep **ep = xpv_world.ep[number];
	struct fi_eq_cm_entry entry;
	int connected = 0, looks;
	uint32_t event;
	ssize_t ret;

	ep[INITIATOR] = endpoint(INITIATOR, xpv_world.info, number);
	need(fi_connect(ep[INITIATOR], xpv_world.info->dest_addr, NULL, 0), "fi_connect");
	for (looks = 0; connected < 2; looks++) {
		ret = fi_eq_read(xpv_world.eq, &event, &entry, sizeof(entry), 0);
		if (ret == -FI_EAGAIN && looks < PATIENCE)
			continue;
		need(ret, "connecting");
		if (event == FI_CONNREQ)
			accept_one(number, entry.info);
		else if (event == FI_CONNECTED)
			connected++;
		else
			need(-FI_EOTHER, "the next event");
	}
	make_ready(ep[INITIATOR]);
	make_ready(ep[TARGET]);
	if (number && xpv_world.machine->special == SPECIAL_MIXED)
		crn_container_of(ep[INITIATOR], struct pvb_ep, fid)
			->conn.peer.control.seq_word = false;
}

void xpv_world_forget_idle(void)
{
	for (int side = INITIATOR; side <= TARGET; side++)
		crn_container_of(xpv_world.cq[side], struct pvb_cq, fid)->idle = 0;
}

bool xpv_world_requests(void)
{
	return crn_container_of(xpv_world.ep[0][TARGET], struct pvb_ep, fid)
		->qp.control_qp;
}

void xpv_world_receive(unsigned int number)
{
	const bool pm = xpv_world.machine->receives != RECEIVES_VOLATILE;
	uint8_t *to = pm ? xpv_world.pm + RECEIVE_AT : xpv_world.receive;
	void *desc = fi_mr_desc(pm ? world_region(RECEIVE_AT) : xpv_world.receive_mr);
	struct fid_ep *ep =
		xpv_world.srx ? xpv_world.srx : xpv_world.ep[number / RECEIVES][TARGET];

	need(fi_recv(ep, to + number * LEN_MAX, LEN_MAX, desc, 0,
		     (void *)(uintptr_t)(number + 1)),
	     "fi_recv");
}

void xpv_world_open(const struct machine *machine)
{
	svb_clock_install(now);
	xpv_world.machine = machine;
	xpv_world.provider = fi_prov_ini();
	listener();
	xpl_heap_use(true);
	domain(INITIATOR, xpv_world.info);
	initiator_memory();
	for (unsigned int i = 0; i < machine->pairs; i++)
		pair(i);
	xpv_world.receives = machine->special == SPECIAL_ONE ? 1 : RECEIVES;
	for (unsigned int i = 0; i < machine->pairs * RECEIVES; i++)
		if (i % RECEIVES < xpv_world.receives)
			xpv_world_receive(i);
	need(fi_open_ops(&xpv_world.domain[TARGET]->fid, FI_CAIRN_REPLAY, 0,
			 (void **)&xpv_world.replay, NULL),
	     FI_CAIRN_REPLAY);
	xpl_heap_use(false);
}
