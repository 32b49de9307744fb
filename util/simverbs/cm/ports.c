/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of ports that all processes share, a file in the directory. Entries of
 * processes that have ended may be reused. Rules as in the kernel's cma_check_port.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>
#include "cm.h"
#include "step.h"

#define SVB_PORTS_MAX 16384u
#define SVB_PORTS_CLOSED 64u
#define SVB_PORT_MEMORY_NS 2000000000ull
#define SVB_PORTS_MAGIC 0x74727063u
/* Free ports are looked for in the range that Linux uses by default. */
#define SVB_PORT_FIRST 32768u
#define SVB_PORT_COUNT 28232u

#define SVB_BOUND_LISTENS 1u
#define SVB_BOUND_REUSE 2u
#define SVB_BOUND_ONE_FAMILY 4u

struct svb_bound {
	uint32_t token; /* 0: free; written last */
	uint32_t handle;
	uint32_t ps;
	uint32_t flags;
	struct svb_cm_wire_addr addr;
};

/* A listener that was closed. */
struct svb_closed {
	uint64_t time; /* ns */
	uint32_t ps;
	uint32_t port;
};

struct svb_ports {
	uint32_t magic;
	struct svb_lock lock;
	uint32_t used; /* no entry beyond was ever used */
	struct svb_bound bound[SVB_PORTS_MAX];
	uint32_t next_closed;
	struct svb_closed closed[SVB_PORTS_CLOSED];
};

static struct svb_ports *svb_ports;

static int svb_ports_open(void)
{
	int ret, fd;

	if (svb_ports)
		return 0;
	fd = openat(svb_self.dir_fd, "cm-ports",
		    O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	ret = posix_fallocate(fd, 0, sizeof(*svb_ports));
	if (!ret) {
		svb_ports = mmap(NULL, sizeof(*svb_ports), PROT_READ | PROT_WRITE,
				 MAP_SHARED, fd, 0);
		if (svb_ports == MAP_FAILED) {
			svb_ports = NULL;
			ret = errno;
		}
	}
	close(fd);
	if (!ret && !svb_ports->magic)
		svb_ports->magic = SVB_PORTS_MAGIC;
	if (!ret && svb_ports->magic != SVB_PORTS_MAGIC) {
		munmap(svb_ports, sizeof(*svb_ports));
		svb_ports = NULL;
		ret = EPROTO;
	}
	return ret == ENOSPC ? ENOMEM : ret;
}

/* True when it belongs to a process that lives. */
static bool svb_bound_used(struct svb_bound *bound)
{
	uint32_t token = __atomic_load_n(&bound->token, __ATOMIC_ACQUIRE);

	if (!token || token == svb_lock_token || svb_registry_alive(token))
		return token;
	__atomic_store_n(&bound->token, 0, __ATOMIC_RELEASE);
	return false;
}

static uint32_t svb_ports_used(void)
{
	return svb_ports->used < SVB_PORTS_MAX ? svb_ports->used : SVB_PORTS_MAX;
}

static bool svb_bound_at(const struct svb_bound *bound, enum rdma_port_space ps,
			 uint16_t port)
{
	return bound->token && bound->ps == ps && bound->addr.port == port;
}

/* An errno if the id cannot share the port with the other one. */
static int svb_bound_conflict(struct svb_cm_id *id, struct svb_bound *bound, bool reuse)
{
	const struct sockaddr *addr = &id->id.route.addr.src_addr;
	struct sockaddr_storage other;

	if (bound->token == svb_lock_token && bound->handle == id->handle)
		return 0;
	if (reuse && bound->flags & SVB_BOUND_REUSE &&
	    !(bound->flags & SVB_BOUND_LISTENS))
		return 0;
	svb_cm_addr_of_wire(&other, &bound->addr, bound->ps);
	if (id->afonly && bound->flags & SVB_BOUND_ONE_FAMILY &&
	    other.ss_family != addr->sa_family)
		return 0;
	if (svb_cm_addr_any(addr) || svb_cm_addr_any((struct sockaddr *)&other))
		return svb_bound_used(bound) ? EADDRNOTAVAIL : 0;
	if (svb_cm_addr_same(addr, (struct sockaddr *)&other))
		return svb_bound_used(bound) ? EADDRINUSE : 0;
	return 0;
}

static int svb_port_check(struct svb_cm_id *id, bool reuse)
{
	uint16_t port = svb_cm_addr_port(&id->id.route.addr.src_addr);
	uint32_t i, used = svb_ports_used();
	struct svb_bound *bound;
	int ret = 0;

	for (i = 0; i < used && !ret; i++) {
		bound = &svb_ports->bound[i];
		if (svb_bound_at(bound, id->ps, port))
			ret = svb_bound_conflict(id, bound, reuse);
	}
	return ret;
}

/* A port that is free on every address. 0: none. */
static uint16_t svb_port_free(enum rdma_port_space ps)
{
	uint32_t start = 0, tries, i, used = svb_ports_used();
	uint16_t port;

	if (getrandom(&start, sizeof(start), GRND_NONBLOCK) < 0)
		start = (uint32_t)getpid();
	for (tries = 0; tries < SVB_PORT_COUNT; tries++) {
		port = (uint16_t)(SVB_PORT_FIRST +
				  (start % SVB_PORT_COUNT + tries) % SVB_PORT_COUNT);
		for (i = 0; i < used; i++)
			if (svb_bound_at(&svb_ports->bound[i], ps, port) &&
			    svb_bound_used(&svb_ports->bound[i]))
				break;
		if (i == used)
			return port;
	}
	return 0;
}

static int svb_bound_add(struct svb_cm_id *id)
{
	uint32_t i, used = svb_ports_used();
	struct svb_bound *bound;

	for (i = 0; i < used && svb_ports->bound[i].token; i++)
		;
	/* Before the table grows: those of processes that have ended. */
	for (i = i < used ? i : 0; i < used && svb_bound_used(&svb_ports->bound[i]); i++)
		;
	if (i == SVB_PORTS_MAX)
		return ENOMEM;
	bound = &svb_ports->bound[i];
	bound->handle = id->handle;
	bound->ps = id->ps;
	bound->flags = (id->reuseaddr ? SVB_BOUND_REUSE : 0) |
		       (id->afonly ? SVB_BOUND_ONE_FAMILY : 0);
	memset(&bound->addr, 0, sizeof(bound->addr));
	svb_cm_addr_to_wire(&id->id.route.addr.src_addr, &bound->addr);
	if (i == used)
		svb_ports->used = used + 1;
	__atomic_store_n(&bound->token, svb_lock_token, __ATOMIC_RELEASE);
	id->binding = i;
	return 0;
}

int svb_cm_port_bind(struct svb_cm_id *id)
{
	struct sockaddr *addr = &id->id.route.addr.src_addr;
	uint16_t port;
	int ret = svb_ports_open();

	if (ret)
		return ret;
	svb_lock(&svb_ports->lock);
	if (svb_cm_addr_port(addr)) {
		ret = svb_port_check(id, id->reuseaddr);
	} else {
		port = svb_port_free(id->ps);
		ret = port ? 0 : EADDRNOTAVAIL;
		svb_cm_addr_set_port(addr, port);
	}
	if (!ret)
		ret = svb_bound_add(id);
	svb_unlock(&svb_ports->lock);
	return ret;
}

int svb_cm_port_listen(struct svb_cm_id *id)
{
	int ret;

	svb_lock(&svb_ports->lock);
	ret = svb_port_check(id, false);
	if (!ret)
		svb_ports->bound[id->binding].flags |= SVB_BOUND_LISTENS;
	svb_unlock(&svb_ports->lock);
	return ret;
}

void svb_cm_port_release(struct svb_cm_id *id)
{
	struct svb_bound *bound;

	if (id->binding < 0)
		return;
	bound = &svb_ports->bound[id->binding];
	svb_lock(&svb_ports->lock);
	if (bound->flags & SVB_BOUND_LISTENS)
		svb_ports->closed[svb_ports->next_closed++ % SVB_PORTS_CLOSED] =
			(struct svb_closed){svb_now(), bound->ps, bound->addr.port};
	__atomic_store_n(&bound->token, 0, __ATOMIC_RELEASE);
	svb_unlock(&svb_ports->lock);
	id->binding = -1;
}

/* 2: bound to just this address; 1: to every address; 0: to another. */
static int svb_bound_matches(const struct svb_bound *bound, const struct sockaddr *dst)
{
	struct sockaddr_storage addr;

	svb_cm_addr_of_wire(&addr, &bound->addr, bound->ps);
	if (!svb_cm_addr_any((struct sockaddr *)&addr))
		return svb_cm_addr_same((struct sockaddr *)&addr, dst) ? 2 : 0;
	return addr.ss_family == dst->sa_family ||
	       (addr.ss_family == AF_INET6 && dst->sa_family == AF_INET &&
		!(bound->flags & SVB_BOUND_ONE_FAMILY));
}

bool svb_cm_port_find(enum rdma_port_space ps, const struct sockaddr *dst,
		      uint32_t *token, uint32_t *handle)
{
	uint16_t port = svb_cm_addr_port(dst);
	struct svb_bound *bound;
	int match, best = 0;
	uint32_t i, used;

	if (svb_ports_open())
		return false;
	svb_lock(&svb_ports->lock);
	used = svb_ports_used();
	for (i = 0; i < used; i++) {
		bound = &svb_ports->bound[i];
		if (!svb_bound_at(bound, ps, port) || !(bound->flags & SVB_BOUND_LISTENS))
			continue;
		match = svb_bound_matches(bound, dst);
		if (match <= best || !svb_bound_used(bound))
			continue;
		best = match;
		*token = bound->token;
		*handle = bound->handle;
	}
	svb_unlock(&svb_ports->lock);
	return best;
}

bool svb_cm_port_was(enum rdma_port_space ps, const struct sockaddr *dst)
{
	uint64_t now = svb_now();
	bool was = false;
	uint32_t i;

	if (svb_ports_open())
		return false;
	svb_lock(&svb_ports->lock);
	for (i = 0; i < SVB_PORTS_CLOSED && !was; i++)
		was = svb_ports->closed[i].ps == ps &&
		      svb_ports->closed[i].port == svb_cm_addr_port(dst) &&
		      now - svb_ports->closed[i].time < SVB_PORT_MEMORY_NS;
	svb_unlock(&svb_ports->lock);
	return was;
}
