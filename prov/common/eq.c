/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>
#include <cairn/compat.h>
#include <cairn/eq.h>
#include <cairn/nosys.h>

#define EQ_SIZE_DEFAULT 256
/* Events held per event of the size asked for, before more are refused. */
#define EQ_LIMIT_FACTOR 16

struct crn_eq_event {
	struct crn_list entry;
	fid_t fid; /* what crn_eq_forget compares with; may be NULL */
	uint32_t event;
	bool is_error;	/* err, with err.err_data in data; otherwise data alone */
	bool owns_info; /* data is a fi_eq_cm_entry, whose info is still ours */
	struct fi_eq_err_entry err;
	size_t len; /* bytes of data */
	uint8_t data[] __attribute__((aligned(sizeof(void *))));
};

static struct crn_eq_event *eq_event_of(struct crn_list *entry)
{
	return crn_container_of(entry, struct crn_eq_event, entry);
}

static struct crn_eq_event *eq_event_fill(struct crn_eq_event *event, const void *data,
					  size_t len)
{
	if (!event)
		return NULL;
	*event = (struct crn_eq_event){.len = len};
	if (len)
		memcpy(event->data, data, len);
	return event;
}

static struct crn_eq_event *eq_event_alloc(const void *data, size_t len)
{
	struct crn_eq_event *event = malloc(sizeof(*event) + len);

	return eq_event_fill(event, data, len);
}

/* The spare one if it will do. */
static struct crn_eq_event *eq_event_get(struct crn_eq *eq, const void *data, size_t len)
{
	struct crn_eq_event *event = NULL;

	crn_lock(&eq->lock);
	if (eq->spare && len <= eq->spare_len) {
		event = eq->spare;
		eq->spare = NULL;
	}
	crn_unlock(&eq->lock);
	return event ? eq_event_fill(event, data, len) : eq_event_alloc(data, len);
}

static void eq_event_free(struct crn_eq_event *event)
{
	if (event->owns_info)
		fi_freeinfo(((struct fi_eq_cm_entry *)event->data)->info);
	free(event);
}

/*
 * The wait object is signaled exactly while there are events, or somebody was woken: both
 * change under the lock, so a thread that found the queue empty and then blocks is woken
 * by the next insert.
 */
static int eq_append(struct crn_eq *eq, struct crn_eq_event *event)
{
	int ret = 0;

	crn_lock(&eq->lock);
	if (eq->count < eq->limit) {
		crn_list_add_tail(&eq->events, &event->entry);
		if (!eq->count++)
			crn_wait_signal(&eq->wait);
	} else {
		ret = -FI_EAGAIN;
	}
	crn_unlock(&eq->lock);
	if (ret) {
		FI_WARN_SPARSE(
			eq->prov, FI_LOG_EQ,
			"an event was refused: %zu wait to be read with fi_eq_read\n",
			eq->limit);
		free(event);
	}
	return ret;
}

static void eq_remove(struct crn_eq *eq, struct crn_eq_event *event)
{
	crn_lock_assert_held(&eq->lock);
	crn_list_del(&event->entry);
	if (!--eq->count)
		crn_wait_clear(&eq->wait);
}

int crn_eq_insert(struct crn_eq *eq, uint32_t event, fid_t fid, const void *buf,
		  size_t len)
{
	struct crn_eq_event *copy = eq_event_get(eq, buf, len);

	if (!copy)
		return -FI_ENOMEM;
	copy->fid = fid;
	copy->event = event;
	copy->owns_info = event == FI_CONNREQ && len >= sizeof(struct fi_eq_cm_entry);
	return eq_append(eq, copy);
}

int crn_eq_insert_err(struct crn_eq *eq, const struct fi_eq_err_entry *err)
{
	struct crn_eq_event *copy = eq_event_get(eq, err->err_data, err->err_data_size);

	if (!copy)
		return -FI_ENOMEM;
	copy->fid = err->fid;
	copy->is_error = true;
	copy->err = *err;
	return eq_append(eq, copy);
}

int crn_eq_prepare(struct crn_list *batch, uint32_t event, fid_t fid, const void *buf,
		   size_t len)
{
	struct crn_eq_event *copy = eq_event_alloc(buf, len);

	if (!copy)
		return -FI_ENOMEM;
	copy->fid = fid;
	copy->event = event;
	copy->owns_info = event == FI_CONNREQ && len >= sizeof(struct fi_eq_cm_entry);
	crn_list_add_tail(batch, &copy->entry);
	return 0;
}

int crn_eq_prepare_err(struct crn_list *batch, const struct fi_eq_err_entry *err)
{
	struct crn_eq_event *copy = eq_event_alloc(err->err_data, err->err_data_size);

	if (!copy)
		return -FI_ENOMEM;
	copy->fid = err->fid;
	copy->is_error = true;
	copy->err = *err;
	crn_list_add_tail(batch, &copy->entry);
	return 0;
}

int crn_eq_insert_batch(struct crn_eq *eq, struct crn_list *batch)
{
	struct crn_list *entry;
	size_t events = 0;
	int ret = 0;

	crn_list_for_each (entry, batch)
		events++;
	crn_lock(&eq->lock);
	if (events <= eq->limit - eq->count) {
		if (!eq->count && events)
			crn_wait_signal(&eq->wait);
		eq->count += events;
		while ((entry = crn_list_pop(batch)))
			crn_list_add_tail(&eq->events, entry);
	} else {
		ret = -FI_EAGAIN;
	}
	crn_unlock(&eq->lock);
	return ret;
}

void crn_eq_drop_batch(struct crn_list *batch)
{
	struct crn_list *entry;

	while ((entry = crn_list_pop(batch)))
		eq_event_free(eq_event_of(entry));
}

int crn_eq_reserve(struct crn_eq *eq, size_t len)
{
	struct crn_eq_event *event, *old;
	bool enough;

	crn_lock(&eq->lock);
	enough = eq->spare && len <= eq->spare_len;
	crn_unlock(&eq->lock);
	if (enough)
		return 0;
	event = malloc(sizeof(*event) + len);
	if (!event)
		return -FI_ENOMEM;
	crn_lock(&eq->lock);
	old = eq->spare;
	eq->spare = event;
	eq->spare_len = len;
	crn_unlock(&eq->lock);
	free(old);
	return 0;
}

void crn_eq_forget(struct crn_eq *eq, fid_t fid)
{
	struct crn_list *pos, *tmp;
	struct crn_eq_event *event;

	crn_lock(&eq->lock);
	crn_list_for_each_safe (pos, tmp, &eq->events) {
		event = eq_event_of(pos);
		if (event->fid == fid) {
			eq_remove(eq, event);
			eq_event_free(event);
		}
	}
	crn_unlock(&eq->lock);
}

bool crn_eq_has_request(struct crn_eq *eq, const struct fid *handle)
{
	struct crn_eq_event *event;
	struct crn_list *pos;
	bool has = false;

	crn_lock(&eq->lock);
	crn_list_for_each (pos, &eq->events) {
		event = eq_event_of(pos);
		has = event->owns_info &&
		      ((struct fi_eq_cm_entry *)event->data)->info->handle == handle;
		if (has)
			break;
	}
	crn_unlock(&eq->lock);
	return has;
}

struct fi_info *crn_eq_take_request(struct crn_eq *eq, fid_t fid)
{
	struct crn_eq_event *event, *request = NULL;
	struct fi_info *info = NULL;
	struct crn_list *pos;

	crn_lock(&eq->lock);
	crn_list_for_each (pos, &eq->events) {
		event = eq_event_of(pos);
		if (event->owns_info && event->fid == fid) {
			request = event;
			break;
		}
	}
	if (request) {
		info = ((struct fi_eq_cm_entry *)request->data)->info;
		request->owns_info = false;
		eq_remove(eq, request);
		eq_event_free(request);
	}
	crn_unlock(&eq->lock);
	return info;
}

bool crn_eq_pending(struct crn_eq *eq)
{
	bool pending;

	crn_lock(&eq->lock);
	pending = eq->count;
	crn_unlock(&eq->lock);
	return pending;
}

bool crn_eq_full(struct crn_eq *eq)
{
	bool full;

	crn_lock(&eq->lock);
	full = eq->count >= eq->limit;
	crn_unlock(&eq->lock);
	return full;
}

void crn_eq_wake(struct crn_eq *eq)
{
	crn_lock(&eq->lock);
	atomic_store(&eq->woken, true);
	crn_wait_signal(&eq->wait);
	crn_unlock(&eq->lock);
}

/* Before progress is made, so that who is woken meanwhile comes back. */
static void eq_settle(struct crn_eq *eq)
{
	crn_lock(&eq->lock);
	atomic_store(&eq->woken, false);
	if (!eq->count)
		crn_wait_clear(&eq->wait);
	crn_unlock(&eq->lock);
}

static int eq_progress(struct crn_eq *eq)
{
	if (!eq->progress)
		return 0;
	if (atomic_load(&eq->woken))
		eq_settle(eq);
	return eq->progress(eq);
}

int crn_eq_trywait(struct crn_eq *eq)
{
	int ret = eq_progress(eq);

	/* An error of progress is for the reader. */
	if (crn_eq_pending(eq) || (ret < 0 && ret != -FI_EAGAIN))
		return -FI_EAGAIN;
	return crn_wait_arm(&eq->wait);
}

/*
 * fi_eq(3): connection data is "limited to the buffer space provided by the application
 * when fi_eq_read is called". Any other event fits or stays.
 */
static size_t eq_event_least(const struct crn_eq_event *event)
{
	switch (event->event) {
	case FI_CONNREQ:
	case FI_CONNECTED:
	case FI_SHUTDOWN:
		return CRN_MIN(event->len, sizeof(struct fi_eq_cm_entry));
	default:
		return event->len;
	}
}

/* The oldest event, under the lock. */
static ssize_t eq_take(struct crn_eq *eq, uint32_t *event, void *buf, size_t len,
		       uint64_t flags)
{
	struct crn_eq_event *first = eq_event_of(eq->events.next);

	crn_lock_assert_held(&eq->lock);
	if (first->is_error)
		return -FI_EAVAIL;
	if (len < eq_event_least(first))
		return -FI_ETOOSMALL;
	len = CRN_MIN(len, first->len);
	*event = first->event;
	if (len)
		memcpy(buf, first->data, len);
	if (!(flags & FI_PEEK)) {
		first->owns_info = false;
		eq_remove(eq, first);
		eq_event_free(first);
	}
	return (ssize_t)len;
}

static ssize_t eq_read(struct fid_eq *fid, uint32_t *event, void *buf, size_t len,
		       uint64_t flags)
{
	struct crn_eq *eq = crn_eq_of(fid);
	ssize_t ret;

	if (flags & ~FI_PEEK)
		return -FI_EBADFLAGS;
	ret = eq_progress(eq);
	crn_lock(&eq->lock);
	if (eq->count)
		ret = eq_take(eq, event, buf, len, flags);
	else if (ret >= 0)
		ret = -FI_EAGAIN;
	crn_unlock(&eq->lock);
	return ret;
}

static ssize_t eq_sread(struct fid_eq *fid, uint32_t *event, void *buf, size_t len,
			int timeout, uint64_t flags)
{
	struct crn_eq *eq = crn_eq_of(fid);
	uint64_t start = crn_now_ms();
	ssize_t ret;
	int left, woken = 0;

	if (eq->wait.obj == FI_WAIT_NONE)
		return -FI_ENOSYS;
	for (;;) {
		ret = eq_read(fid, event, buf, len, flags);
		if (ret != -FI_EAGAIN)
			return ret;
		left = crn_timeout_left(start, timeout);
		/* fi_eq(3): -FI_EAGAIN when the time is over, and after a signal. */
		if (!left || woken == -FI_EINTR)
			return -FI_EAGAIN;
		woken = crn_wait_arm(&eq->wait);
		if (!woken)
			woken = crn_wait_poll(&eq->wait, left);
		if (woken && woken != -FI_EAGAIN && woken != -FI_EINTR &&
		    woken != -FI_ETIMEDOUT)
			return woken;
	}
}

/* fi_eq(3): into the caller's buffer if it has one, else into memory of the queue. */
static void eq_give_err_data(struct crn_eq *eq, struct crn_eq_event *event,
			     struct fi_eq_err_entry *buf, void *caller_data,
			     size_t caller_size)
{
	if (FI_VERSION_GE(eq->api_version, FI_VERSION(1, 5)) && caller_size) {
		buf->err_data = caller_data;
		buf->err_data_size = CRN_MIN(caller_size, event->len);
		if (buf->err_data_size)
			memcpy(caller_data, event->data, buf->err_data_size);
	} else {
		buf->err_data = event->len ? event->data : NULL;
		buf->err_data_size = event->len;
	}
}

static ssize_t eq_readerr(struct fid_eq *fid, struct fi_eq_err_entry *buf, uint64_t flags)
{
	struct crn_eq *eq = crn_eq_of(fid);
	struct crn_eq_event *first;
	void *caller_data = buf->err_data;
	size_t caller_size = buf->err_data_size;
	ssize_t ret = -FI_EAGAIN;

	if (flags & ~FI_PEEK)
		return -FI_EBADFLAGS;
	crn_lock(&eq->lock);
	first = eq_event_of(eq->events.next);
	if (eq->count && first->is_error) {
		*buf = first->err;
		eq_give_err_data(eq, first, buf, caller_data, caller_size);
		if (!(flags & FI_PEEK)) {
			eq_remove(eq, first);
			/* buf may point into it until the next one is read. */
			free(eq->last_error);
			eq->last_error = first;
		}
		ret = sizeof(*buf);
	}
	crn_unlock(&eq->lock);
	return ret;
}

static ssize_t eq_write(struct fid_eq *fid, uint32_t event, const void *buf, size_t len,
			uint64_t flags)
{
	struct crn_eq *eq = crn_eq_of(fid);
	struct crn_eq_event *copy;
	int ret;

	if (flags)
		return -FI_EBADFLAGS;
	if (!eq->writable || len > SSIZE_MAX - sizeof(*copy))
		return -FI_EINVAL;
	copy = eq_event_alloc(buf, len);
	if (!copy)
		return -FI_ENOMEM;
	copy->event = event;
	ret = eq_append(eq, copy);
	return ret ? ret : (ssize_t)len;
}

static const char *eq_strerror(struct fid_eq *fid, int prov_errno, const void *err_data,
			       char *buf, size_t len)
{
	const char *text = fi_strerror(prov_errno < -INT_MAX ? INT_MAX : abs(prov_errno));

	if (!buf || !len)
		return text;
	snprintf(buf, len, "%s", text);
	return buf;
}

int crn_eq_control(struct fid *fid, int command, void *arg)
{
	return crn_wait_control(&crn_container_of(fid, struct crn_eq, fid.fid)->wait,
				command, arg);
}

static int eq_close(struct fid *fid)
{
	struct crn_eq *eq = crn_container_of(fid, struct crn_eq, fid.fid);

	if (atomic_load(&eq->refs))
		return -FI_EBUSY;
	crn_eq_fini(eq);
	return 0;
}

static struct fi_ops eq_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = eq_close,
	.bind = crn_nosys_bind,
	.control = crn_eq_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static struct fi_ops_eq eq_ops = {
	.size = sizeof(struct fi_ops_eq),
	.read = eq_read,
	.readerr = eq_readerr,
	.write = eq_write,
	.sread = eq_sread,
	.strerror = eq_strerror,
};

int crn_eq_init(struct crn_eq *eq, const struct fi_provider *prov,
		const struct fi_eq_attr *attr, void *context,
		int (*progress)(struct crn_eq *eq))
{
	size_t size = attr && attr->size ? attr->size : EQ_SIZE_DEFAULT;
	uint64_t flags = attr ? attr->flags : 0;
	int ret;

	if (flags & ~(FI_WRITE | FI_AFFINITY))
		return -FI_EINVAL;
	memset(eq, 0, sizeof(*eq));
	ret = crn_wait_init(&eq->wait, attr ? attr->wait_obj : FI_WAIT_NONE);
	if (ret)
		return ret;
	ret = crn_lock_init(&eq->lock, true);
	if (ret) {
		crn_wait_fini(&eq->wait);
		return ret;
	}
	eq->fid.fid.fclass = FI_CLASS_EQ;
	eq->fid.fid.context = context;
	eq->fid.fid.ops = &eq_fid_ops;
	eq->fid.ops = &eq_ops;
	eq->prov = prov;
	eq->progress = progress;
	eq->writable = flags & FI_WRITE;
	eq->api_version = FI_VERSION(1, 5);
	crn_list_init(&eq->events);
	if (__builtin_mul_overflow(CRN_MAX(size, EQ_SIZE_DEFAULT), EQ_LIMIT_FACTOR,
				   &eq->limit))
		eq->limit = SIZE_MAX;
	return 0;
}

void crn_eq_fini(struct crn_eq *eq)
{
	struct crn_list *entry;

	while ((entry = crn_list_pop(&eq->events)))
		eq_event_free(eq_event_of(entry));
	free(eq->last_error);
	free(eq->spare);
	crn_lock_fini(&eq->lock);
	crn_wait_fini(&eq->wait);
}
