/* SPDX-License-Identifier: BSD-2-Clause */
/* Joining, leaving and forking. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include "shared.h"
#include "vg.h"

struct svb_self svb_self = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.contexts = {&svb_self.contexts, &svb_self.contexts},
	.dir_fd = -1,
	.ring_fd = -1,
	.life_fd = -1,
	.registry_fd = -1,
};

#define SVB_PARTS_END (svb_parts + SVB_PARTS)

void svb_parts_mapped(struct svb_seg *seg)
{
	const struct svb_part *part;

	for (part = svb_parts; part < SVB_PARTS_END; part++)
		if (part->mapped)
			part->mapped(seg);
}

static int svb_parts_join(void)
{
	const struct svb_part *part;
	int ret = 0;

	for (part = svb_parts; part < SVB_PARTS_END; part++)
		if (part->join && !ret)
			ret = part->join();
	return ret;
}

static void svb_life_end(void)
{
	if (svb_self.life_fd >= 0)
		close(svb_self.life_fd);
	svb_self.life_fd = -1;
}

/* Takes all locks, so that a fork copies no half-made change. */
static void svb_fork_begin(void)
{
	const struct svb_part *part;

	pthread_mutex_lock(&svb_self.mutex);
	for (part = svb_parts; part < SVB_PARTS_END; part++)
		if (part->hold)
			part->hold();
	svb_seg_hold();
}

static void svb_fork_end(void)
{
	const struct svb_part *part;

	svb_seg_let_go();
	for (part = svb_parts; part < SVB_PARTS_END; part++)
		if (part->let_go)
			part->let_go();
	pthread_mutex_unlock(&svb_self.mutex);
}

/* The child of a fork: what it inherited reaches nobody; it joins anew when it needs to.
 */
static void svb_forked(void)
{
	const struct svb_part *part;

	svb_fork_end();
	if (!svb_self.joined)
		return;
	svb_life_end();
	svb_registry_close();
	for (part = svb_parts; part < SVB_PARTS_END; part++)
		if (part->forget)
			part->forget();
	svb_seg_detach();
	crn_list_init(&svb_self.contexts);
	memset(svb_self.qp, 0, sizeof(svb_self.qp));
	memset(svb_self.cq, 0, sizeof(svb_self.cq));
	memset(svb_self.srq, 0, sizeof(svb_self.srq));
	svb_self.leave = NULL;
	svb_self.joined = false;
}

/* Peers learn of the end of this process like of any other's. */
static void __attribute__((destructor)) svb_leave(void)
{
	const struct svb_part *part;

	if (!svb_self.joined)
		return;
	if (svb_self.leave)
		svb_self.leave();
	for (part = svb_parts; part < SVB_PARTS_END; part++)
		if (part->leave)
			part->leave();
	svb_registry_leave();
	svb_life_end();
}

/* Less address space than all processes' segments take? */
static bool svb_space_limited(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_AS, &limit) &&
	       limit.rlim_cur < SVB_PROC_MAX * SVB_SEG_SIZE;
}

static int svb_join_locked(void)
{
	static bool registered;
	int ret;

	svb_self.valgrind = svb_vg_runs();
	/* Mappings of other processes' segments stay, also in the child of a fork. */
	if (!svb_self.registry)
		svb_self.narrow = svb_self.valgrind || svb_space_limited();
	if (svb_self.ring_fd < 0)
		svb_self.ring_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (svb_self.ring_fd < 0)
		return errno;
	ret = svb_registry_join();
	if (ret)
		return ret;
	if (!svb_self.settings.devices)
		ret = svb_settings_load(&svb_self.settings);
	if (!ret) {
		svb_self.life_fd = svb_life_open();
		ret = svb_self.life_fd < 0 ? errno : svb_seg_create();
	}
	if (!ret) {
		ret = svb_parts_join();
		if (ret)
			svb_seg_destroy();
	}
	if (ret) {
		svb_life_end();
		svb_registry_leave();
		return ret;
	}
	if (!registered && pthread_atfork(svb_fork_begin, svb_fork_end, svb_forked))
		return ENOMEM;
	registered = true;
	/* Yama (ptrace_scope 1) lets only descendants be read otherwise; the other
	 * modules' rules stay. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	svb_self.iwarp = svb_self.settings.link == SVB_LINK_IWARP;
	svb_self.slow = svb_self.iwarp || svb_self.model || svb_self.settings.latency ||
			svb_self.settings.loss > 0 || svb_self.settings.error > 0;
	svb_self.unreliable = svb_self.settings.ud_loss > 0 ||
			      svb_self.settings.ud_duplicate > 0 ||
			      svb_self.settings.ud_reorder > 0;
	__atomic_store_n(&svb_self.joined, true, __ATOMIC_RELEASE);
	return 0;
}

/* Descriptors that stay do not take the number of a standard one that the program has
 * closed: what it prints would go there. */
static int svb_join_above(void)
{
	unsigned int held = 0, fd;
	int null = 0, ret;

	while (null >= 0 && null <= STDERR_FILENO) {
		null = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (null >= 0 && null <= STDERR_FILENO)
			held |= 1u << null;
	}
	if (null > STDERR_FILENO)
		close(null);
	ret = svb_join_locked();
	for (fd = 0; fd <= STDERR_FILENO; fd++)
		if (held & 1u << fd)
			close((int)fd);
	return ret;
}

/* Logs why there is no device: the program only sees that there is none. */
static void svb_join_said(int err)
{
	static int said;
	const char *why = "";

	if (err == ENOMEM)
		why = svb_self.narrow ? " (is its file system full, or the limit of the "
					"address space, ulimit -v, below 1 GB?)"
				      : " (is its file system full?)";
	if (err && err != said)
		fprintf(stderr, "simverbs: no devices, because of %s: %s%s\n",
			*svb_self.dir ? svb_self.dir : "SIMVERBS_DIR", strerror(err),
			why);
	said = err;
}

int svb_join(void)
{
	int ret = 0;

	if (__atomic_load_n(&svb_self.joined, __ATOMIC_ACQUIRE))
		return 0;
	pthread_mutex_lock(&svb_self.mutex);
	if (!svb_self.joined) {
		ret = svb_join_above();
		svb_join_said(ret);
	}
	pthread_mutex_unlock(&svb_self.mutex);
	return ret;
}
