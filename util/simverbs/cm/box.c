/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transport of messages. Each process has a mailbox in its segment; peers put messages
 * in and ring a bell that the service thread watches. Timers are one timerfd there.
 * Processes without that thread check their mailbox in every call.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include "cm.h"
#include "step.h"
#include "verbs/verbs.h"

#define SVB_BOX_MAGIC 0x786f6273u
#define SVB_BOX_SLOTS 1024u
/* Number of ids that can be published; senders cannot know whether other ids exist. */
#define SVB_BOX_IDS 4096u
/* How long a sender waits for a full mailbox before the message is lost. */
#define SVB_BOX_PATIENCE_NS 1000000000ull

struct svb_box_slot {
	uint32_t len;
	uint8_t bytes[SVB_CM_MSG_MAX];
};

struct svb_box {
	uint32_t magic;
	uint32_t bell;
	struct svb_lock lock; /* taken by senders */
	uint32_t head;	      /* next to be taken; moved by the owner only */
	uint32_t tail;	      /* next to be put; published after the slot */
	struct svb_box_slot slot[SVB_BOX_SLOTS];
	uint32_t id[SVB_BOX_IDS]; /* handles by slot, id.c */
};

/* A message that waits to be handled. */
struct svb_note {
	struct crn_list entry;
	struct svb_cm_msg msg;
};

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	struct crn_list notes;
	struct svb_box *box; /* NULL: not started */
	int bell_fd;
	int timer_fd;
	uint64_t next;			/* earliest deadline, ns; 0: none */
	uint32_t watched[SVB_PROC_MAX]; /* tokens of peers whose end we are told of */
	unsigned int readers;		/* in svb_cm_lock_reader */
} svb_cm = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.cond = PTHREAD_COND_INITIALIZER,
	.notes = {&svb_cm.notes, &svb_cm.notes},
	.bell_fd = -1,
	.timer_fd = -1,
};

/* Used when malloc fails: one note at a time. */
static struct svb_note svb_spare;
static bool svb_spare_used;

/* False when there is no memory, and the spare note is still to be handled. */
static bool svb_cm_note(const struct svb_cm_msg *msg)
{
	struct svb_note *note = malloc(sizeof(*note));

	if (!note && svb_spare_used)
		return false;
	if (!note) {
		note = &svb_spare;
		svb_spare_used = true;
	}
	note->msg = *msg;
	crn_list_add_tail(&svb_cm.notes, &note->entry);
	return true;
}

static void svb_note_free(struct svb_note *note)
{
	if (note == &svb_spare)
		svb_spare_used = false;
	else
		free(note);
}

/* Moves what lies in the own box to the notes. What is garbage is dropped here. False:
 * there is more, when the notes are handled. */
static bool svb_box_empty(void)
{
	struct svb_box *box = svb_cm.box;
	const struct svb_box_slot *slot;
	struct svb_cm_msg msg;
	uint8_t bytes[SVB_CM_MSG_MAX];
	uint32_t tail, len;

	if (!box)
		return true;
	tail = __atomic_load_n(&box->tail, __ATOMIC_ACQUIRE);
	if (tail - box->head > SVB_BOX_SLOTS)
		box->head = tail;
	for (; box->head != tail;
	     __atomic_store_n(&box->head, box->head + 1, __ATOMIC_RELEASE)) {
		slot = &box->slot[box->head % SVB_BOX_SLOTS];
		len = slot->len;
		if (len > sizeof(bytes))
			continue;
		/* A copy: the sender could change it while it is looked at. */
		memcpy(bytes, slot->bytes, len);
		if (svb_cm_parse(&msg, bytes, len) && msg.to == svb_lock_token &&
		    msg.from != svb_lock_token && !svb_cm_note(&msg))
			return false;
	}
	return true;
}

static struct svb_box *svb_box_of(uint32_t token)
{
	struct svb_seg *seg = svb_seg_of(svb_token_index(token));
	struct svb_box *box;
	uint64_t offset;

	if (!seg || svb_token(svb_token_index(token), seg->generation) != token)
		return NULL;
	offset = __atomic_load_n(&seg->cm, __ATOMIC_ACQUIRE);
	if (!svb_seg_holds(offset, sizeof(*box)) || offset % 64)
		return NULL;
	box = svb_seg_at(seg, offset);
	return box->magic == SVB_BOX_MAGIC ? box : NULL;
}

static bool svb_box_put(struct svb_box *box, const struct svb_cm_msg *msg)
{
	struct svb_box_slot *slot;
	bool room;

	svb_lock(&box->lock);
	room = box->tail - __atomic_load_n(&box->head, __ATOMIC_ACQUIRE) < SVB_BOX_SLOTS;
	if (room) {
		slot = &box->slot[box->tail % SVB_BOX_SLOTS];
		slot->len = (uint32_t)svb_cm_pack(slot->bytes, msg);
		__atomic_store_n(&box->tail, box->tail + 1, __ATOMIC_RELEASE);
	}
	svb_unlock(&box->lock);
	return room;
}

void svb_cm_watch(uint32_t token)
{
	uint32_t *watched = &svb_cm.watched[svb_token_index(token)];

	if (token != svb_lock_token && *watched != token &&
	    !svb_service_watch_peer(svb_token_index(token)))
		*watched = token;
}

void svb_cm_publish(struct svb_cm_id *id, bool there)
{
	const uint32_t slot = svb_cm_slot(id->handle);

	if (svb_cm.box && slot < SVB_BOX_IDS)
		svb_set(svb_cm.box->id[slot], there ? id->handle : 0);
}

static void svb_cm_publish_one(struct svb_cm_id *id, void *unused)
{
	svb_cm_publish(id, true);
}

/* A process without a thread would wake for it and find nothing. */
static bool svb_box_needs(const struct svb_box *box, const struct svb_cm_msg *msg)
{
	const uint32_t slot = svb_cm_slot(msg->to_id);

	return slot >= SVB_BOX_IDS || svb_get(box->id[slot]) == msg->to_id ||
	       svb_cm_is_answered(msg->type);
}

/* False when the receiver has ended. */
static bool svb_cm_post(const struct svb_cm_msg *msg)
{
	struct svb_box *box;
	uint64_t give_up;

	if (msg->to == svb_lock_token)
		return svb_cm_note(msg);
	/* The answer must be able to reach this process. */
	if (svb_cm_start())
		return false;
	svb_cm_watch(msg->to);
	box = svb_box_of(msg->to);
	if (!box)
		return false;
	if (!svb_box_needs(box, msg))
		return true;
	give_up = svb_now() + SVB_BOX_PATIENCE_NS;
	while (!svb_box_put(box, msg)) {
		/* The peer may be waiting for room in this process' mailbox. */
		svb_box_empty();
		svb_bell_ring(box->bell);
		if (svb_now() > give_up || !svb_registry_alive(msg->to))
			return false;
		sched_yield();
	}
	/* The message was taken already: does not wake the peer for nothing. */
	if (__atomic_load_n(&box->head, __ATOMIC_ACQUIRE) != svb_get(box->tail))
		svb_bell_ring(box->bell);
	return true;
}

void svb_cm_send(struct svb_cm_id *id, struct svb_cm_msg *msg)
{
	if (!id->peer)
		return;
	msg->from = svb_lock_token;
	msg->to = id->peer;
	msg->from_id = id->handle;
	msg->to_id = id->peer_id;
	msg->ps = id->ps;
	/* No answer will come: ends what waits for one. */
	if (!svb_cm_post(msg) && id->deadline)
		svb_cm_set_timer(id, 1);
}

void svb_cm_answer(const struct svb_cm_msg *to, enum svb_cm_type type, uint32_t reason)
{
	struct svb_cm_msg msg = {
		.type = type,
		.from = svb_lock_token,
		.to = to->from,
		.from_id = to->to_id,
		.to_id = to->from_id,
		.ps = to->ps,
		.reason = reason,
	};

	svb_cm_post(&msg);
}

static void svb_cm_next_timer(struct svb_cm_id *id, void *arg)
{
	if (id->deadline && (!svb_cm.next || id->deadline < svb_cm.next))
		svb_cm.next = id->deadline;
}

static void svb_cm_arm(void)
{
	struct itimerspec when = {
		.it_value = {.tv_sec = (time_t)(svb_cm.next / 1000000000),
			     .tv_nsec = (long)(svb_cm.next % 1000000000)},
	};

	if (svb_cm.timer_fd >= 0)
		timerfd_settime(svb_cm.timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

void svb_cm_set_timer(struct svb_cm_id *id, uint32_t ms)
{
	id->deadline = ms ? svb_now() + ms * 1000000ull : 0;
	if (!ms || (svb_cm.next && svb_cm.next <= id->deadline))
		return;
	svb_cm.next = id->deadline;
	svb_cm_arm();
}

static void svb_cm_expire(struct svb_cm_id *id, void *arg)
{
	const uint64_t *now = arg;

	if (!id->deadline || id->deadline > *now)
		return;
	id->deadline = 0;
	svb_cm_expired(id);
}

static void svb_cm_timers(void)
{
	uint64_t now = svb_cm.next ? svb_now() : 0;

	if (!svb_cm.next || svb_cm.next > now)
		return;
	svb_cm_each(svb_cm_expire, &now);
	svb_cm.next = 0;
	svb_cm_each(svb_cm_next_timer, NULL);
	svb_cm_arm();
}

static void svb_cm_handle_notes(void)
{
	struct crn_list *entry;
	struct svb_note *note;

	while ((entry = crn_list_pop(&svb_cm.notes))) {
		note = crn_container_of(entry, struct svb_note, entry);
		svb_cm_handle(&note->msg);
		svb_note_free(note);
	}
}

void svb_cm_lock(void)
{
	int err = errno;

	svb_join();
	errno = err;
	pthread_mutex_lock(&svb_cm.mutex);
	/* Without a thread nobody else takes rings; the mailbox is checked below. */
	while (svb_cm.box && !svb_self.settings.threads && !svb_bell_take(svb_cm.bell_fd))
		;
	while (!svb_box_empty())
		svb_cm_handle_notes();
	svb_cm_timers();
	if (svb_cm_iwarp())
		svb_cm_each(svb_cm_check_stream, NULL);
	svb_cm_handle_notes();
}

void svb_cm_lock_reader(void)
{
	__atomic_add_fetch(&svb_cm.readers, 1, __ATOMIC_RELAXED);
	svb_cm_lock();
	__atomic_sub_fetch(&svb_cm.readers, 1, __ATOMIC_RELAXED);
	svb_cm_wake();
}

bool svb_cm_reader_comes(void)
{
	return __atomic_load_n(&svb_cm.readers, __ATOMIC_RELAXED);
}

void svb_cm_unlock(void)
{
	int err = errno;

	svb_cm_handle_notes();
	pthread_mutex_unlock(&svb_cm.mutex);
	errno = err;
}

void svb_cm_wait(void)
{
	svb_cm_handle_notes();
	pthread_cond_wait(&svb_cm.cond, &svb_cm.mutex);
}

void svb_cm_wake(void)
{
	pthread_cond_broadcast(&svb_cm.cond);
}

static void svb_cm_on_bell(int fd, void *arg)
{
	svb_bell_take(fd);
	svb_cm_lock();
	svb_cm_unlock();
}

static void svb_cm_on_timer(int fd, void *arg)
{
	uint64_t count;

	if (read(fd, &count, sizeof(count)) < 0)
		return;
	svb_cm_lock();
	svb_cm_unlock();
}

static void svb_cm_on_death(uint32_t token, void *arg)
{
	svb_cm_lock();
	svb_cm_peer_died(token);
	svb_cm_unlock();
}

/* The service thread tells of the end of peers. */
static bool svb_cm_hears_of_deaths;

/* The child of a fork has no connections: it begins anew. */
static void svb_cm_forked(void)
{
	svb_cm_hears_of_deaths = false;
	pthread_mutex_init(&svb_cm.mutex, NULL);
	pthread_cond_init(&svb_cm.cond, NULL);
	crn_list_init(&svb_cm.notes);
	svb_spare_used = false;
	if (svb_cm.box) {
		close(svb_cm.bell_fd);
		close(svb_cm.timer_fd);
	}
	svb_cm.box = NULL;
	svb_cm.bell_fd = svb_cm.timer_fd = -1;
	svb_cm.next = 0;
	svb_cm.readers = 0;
	memset(svb_cm.watched, 0, sizeof(svb_cm.watched));
	svb_cm_forget_ids();
}

static int svb_cm_watch_all(void)
{
	int ret;

	if (!svb_self.settings.threads)
		return 0;
	if (!svb_cm_hears_of_deaths) {
		ret = svb_service_on_death(svb_cm_on_death, NULL);
		if (ret)
			return ret;
		svb_cm_hears_of_deaths = true;
	}
	ret = svb_service_watch(svb_cm.bell_fd, svb_cm_on_bell, NULL);
	return ret ? ret : svb_service_watch(svb_cm.timer_fd, svb_cm_on_timer, NULL);
}

/* Undoes a start that failed. */
static void svb_cm_unwatch_all(uint32_t bell)
{
	if (svb_cm.timer_fd >= 0) {
		svb_service_unwatch(svb_cm.timer_fd);
		close(svb_cm.timer_fd);
	}
	if (svb_cm.bell_fd >= 0) {
		svb_service_unwatch(svb_cm.bell_fd);
		svb_bell_close(svb_cm.bell_fd, bell);
	}
	svb_cm.bell_fd = svb_cm.timer_fd = -1;
}

static void svb_cm_leave_one(struct svb_cm_id *id, void *unused)
{
	svb_cm_tell_peer(id);
}

/* As the kernel does when a process ends: closes its connections and informs the peers.
 * Does not wait long for other threads. */
static void svb_cm_leave(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	if (pthread_mutex_timedlock(&svb_cm.mutex, &until))
		return;
	svb_cm_each(svb_cm_leave_one, NULL);
	pthread_mutex_unlock(&svb_cm.mutex);
}

int svb_cm_start(void)
{
	static bool forks;
	struct svb_box *box;
	uint64_t offset;
	uint32_t bell;
	int on = 1, ret;

	if (svb_cm.box)
		return 0;
	ret = svb_join();
	if (ret)
		return ret;
	offset = svb_seg_alloc(sizeof(*box));
	if (!offset)
		return errno;
	svb_cm.bell_fd = svb_bell_open(0, &bell);
	svb_cm.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	ret = svb_cm.bell_fd < 0 || svb_cm.timer_fd < 0 ||
			      ioctl(svb_cm.bell_fd, FIONBIO, &on)
		      ? errno
		      : svb_cm_watch_all();
	if (!ret && !forks)
		ret = pthread_atfork(NULL, NULL, svb_cm_forked);
	if (ret) {
		svb_cm_unwatch_all(bell);
		svb_seg_free(offset, sizeof(*box));
		return ret;
	}
	forks = true;
	box = svb_seg_at(svb_self.seg, offset);
	box->magic = SVB_BOX_MAGIC;
	box->bell = bell;
	svb_self.seg->cm_bell = bell;
	svb_cm.box = box;
	svb_cm_each(svb_cm_publish_one, NULL);
	svb_self.leave = svb_cm_leave;
	__atomic_store_n(&svb_self.seg->cm, offset, __ATOMIC_RELEASE);
	svb_cm_arm();
	return 0;
}

int svb_cm_box_watch(int epoll_fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, svb_cm.bell_fd, &event) ||
			       epoll_ctl(epoll_fd, EPOLL_CTL_ADD, svb_cm.timer_fd, &event)
		       ? errno
		       : 0;
}
