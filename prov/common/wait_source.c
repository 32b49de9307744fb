/* SPDX-License-Identifier: BSD-2-Clause */
/* What a wait object waits for beside crn_wait_signal. */
#include <sys/epoll.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

int crn_wait_add(struct crn_wait *wait, struct crn_wait_source *source)
{
	int ret;

	source->wait = NULL;
	source->paused = false;
	if (wait->obj == FI_WAIT_NONE)
		return 0;
	crn_lock(&wait->lock);
	ret = crn_wait_add_fd(wait, source->fd);
	if (!ret) {
		source->wait = wait;
		crn_list_add_tail(&wait->sources, &source->entry);
	}
	crn_unlock(&wait->lock);
	return ret;
}

void crn_wait_remove(struct crn_wait_source *source)
{
	struct crn_wait *wait = source->wait;

	if (!wait)
		return;
	crn_lock(&wait->lock);
	crn_wait_del_fd(wait, source->fd);
	crn_list_del(&source->entry);
	source->wait = NULL;
	crn_unlock(&wait->lock);
}

/* The descriptor stays in the set, so that to resume needs no memory. */
static void wait_set_paused(struct crn_wait_source *source, bool paused)
{
	struct epoll_event event = {.events = paused ? 0 : EPOLLIN,
				    .data.fd = source->fd};
	struct crn_wait *wait = source->wait;

	if (!wait)
		return;
	crn_lock(&wait->lock);
	source->paused = paused;
	epoll_ctl(wait->epfd, EPOLL_CTL_MOD, source->fd, &event);
	crn_unlock(&wait->lock);
}

void crn_wait_pause(struct crn_wait_source *source)
{
	wait_set_paused(source, true);
}

void crn_wait_resume(struct crn_wait_source *source)
{
	wait_set_paused(source, false);
}

int crn_wait_arm(struct crn_wait *wait)
{
	struct crn_wait_source *source;
	struct crn_list *entry;
	int ret = 0;

	crn_lock(&wait->lock);
	crn_list_for_each (entry, &wait->sources) {
		source = crn_container_of(entry, struct crn_wait_source, entry);
		ret = source->arm && !source->paused ? source->arm(source) : 0;
		if (ret)
			break;
	}
	crn_unlock(&wait->lock);
	return ret;
}

static int wait_lower_arm(struct crn_wait_source *source)
{
	struct crn_wait_lower *lower =
		crn_container_of(source, struct crn_wait_lower, source);

	return fi_trywait(lower->fabric, &lower->fid, 1);
}

int crn_wait_add_lower(struct crn_wait *wait, struct crn_wait_lower *lower,
		       struct fid_fabric *fabric, struct fid *fid)
{
	int ret;

	*lower = (struct crn_wait_lower){
		.source = {.fd = -1, .arm = wait_lower_arm},
		.fabric = fabric,
		.fid = fid,
	};
	if (wait->obj == FI_WAIT_NONE)
		return 0;
	ret = fi_control(fid, FI_GETWAIT, &lower->source.fd);
	return ret ? ret : crn_wait_add(wait, &lower->source);
}

static int wait_inner_arm(struct crn_wait_source *source)
{
	return crn_wait_arm(
		crn_container_of(source, struct crn_wait_inner, source)->inner);
}

int crn_wait_add_inner(struct crn_wait *wait, struct crn_wait_inner *node,
		       struct crn_wait *inner)
{
	*node = (struct crn_wait_inner){
		.source = {.fd = inner->epfd, .arm = wait_inner_arm},
		.inner = inner,
	};
	if (inner->obj == FI_WAIT_NONE)
		return -FI_EINVAL;
	return crn_wait_add(wait, &node->source);
}
