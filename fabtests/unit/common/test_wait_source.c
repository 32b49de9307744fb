/* SPDX-License-Identifier: BSD-2-Clause */
/* Sources of a wait object, and the queues and counters that arm them. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>
#include "cairn_test.h"
#include "cntr_world.h"
#include "eq_world.h"

/* A source whose arm says what the test wants. */
struct scripted {
	struct crn_wait_source source;
	int says;
	unsigned int armed;
};

static int scripted_arm(struct crn_wait_source *source)
{
	struct scripted *scripted = crn_container_of(source, struct scripted, source);

	scripted->armed++;
	return scripted->says;
}

static void scripted_open(struct scripted *scripted)
{
	*scripted = (struct scripted){
		.source = {.fd = eventfd(0, EFD_NONBLOCK), .arm = scripted_arm}};
	CT_EXPECT_GE(scripted->source.fd, 0);
}

static void scripted_close(struct scripted *scripted)
{
	crn_wait_remove(&scripted->source);
	if (scripted->source.fd >= 0)
		close(scripted->source.fd);
	scripted->source.fd = -1;
}

/* A wait object with a descriptor, and two sources that are not added. */
struct source_scene {
	struct crn_wait wait;
	struct scripted one, two;
	struct crn_eq eq;     /* not open */
	struct crn_cntr cntr; /* not open */
};

static void scene_open(struct source_scene *s)
{
	scripted_open(&s->one);
	scripted_open(&s->two);
	CT_ASSERT_EQ(crn_wait_init(&s->wait, FI_WAIT_FD), 0);
}

static void scene_close(struct source_scene *s)
{
	scripted_close(&s->one);
	scripted_close(&s->two);
	crn_wait_fini(&s->wait);
	close_eq(&s->eq);
	close_cntr(&s->cntr);
}

CT_FIXTURE(wait_source, struct source_scene, scene_open, scene_close);

CT_TEST_F(wait_source, it_makes_the_object_readable_until_removed)
{
	CT_EXPECT_EQ(crn_wait_add(&t->wait, &t->one.source), 0);
	CT_EXPECT_EQ(crn_wait_add(&t->wait, &t->two.source), 0);
	CT_EXPECT_EQ(crn_wait_poll(&t->wait, 0), -FI_ETIMEDOUT);
	eventfd_write(t->two.source.fd, 1);
	CT_EXPECT_EQ(crn_wait_poll(&t->wait, 0), 0);
	crn_wait_remove(&t->two.source);
	CT_EXPECT_EQ(crn_wait_poll(&t->wait, 0), -FI_ETIMEDOUT);
	crn_wait_remove(&t->two.source);
	eventfd_write(t->one.source.fd, 1);
	CT_EXPECT_EQ(crn_wait_poll(&t->wait, 0), 0);
	CT_EXPECT_EQ(crn_wait_add(&t->wait, &t->two.source), 0);
	scripted_close(&t->one);
	CT_EXPECT_EQ(crn_wait_poll(&t->wait, 0), 0);
	scripted_close(&t->two);
	CT_EXPECT_EQ(crn_wait_poll(&t->wait, 0), -FI_ETIMEDOUT);
}

CT_TEST_F(wait_source, one_that_is_paused_is_neither_watched_nor_armed)
{
	crn_wait_pause(&t->one.source); /* of no wait object */
	CT_EXPECT_EQ(crn_wait_add(&t->wait, &t->one.source), 0);
	eventfd_write(t->one.source.fd, 1);
	CT_EXPECT_EQ(crn_wait_poll(&t->wait, 0), 0);
	crn_wait_pause(&t->one.source);
	t->one.says = -FI_EAGAIN;
	CT_EXPECT_EQ(crn_wait_poll(&t->wait, 0), -FI_ETIMEDOUT);
	CT_EXPECT_EQ(crn_wait_arm(&t->wait), 0);
	CT_EXPECT_EQ(t->one.armed, 0);
	crn_wait_resume(&t->one.source);
	CT_EXPECT_EQ(crn_wait_poll(&t->wait, 0), 0);
	CT_EXPECT_EQ(crn_wait_arm(&t->wait), -FI_EAGAIN);
	/* Added again it is watched. */
	crn_wait_pause(&t->one.source);
	crn_wait_remove(&t->one.source);
	CT_EXPECT_EQ(crn_wait_add(&t->wait, &t->one.source), 0);
	CT_EXPECT_EQ(crn_wait_poll(&t->wait, 0), 0);
}

CT_TEST(wait_source, one_that_was_never_added_may_be_removed)
{
	struct crn_wait_source source = {0};

	crn_wait_remove(&source);
	CT_EXPECT_EQ(source.wait, NULL);
}

CT_TEST_F(wait_source, all_are_armed_up_to_the_first_that_is_not_ready)
{
	struct crn_wait_source plain = {.fd = eventfd(0, 0)};

	CT_EXPECT_EQ(crn_wait_arm(&t->wait), 0);
	CT_EXPECT_EQ(crn_wait_add(&t->wait, &t->one.source), 0);
	CT_EXPECT_EQ(crn_wait_add(&t->wait, &plain), 0);
	CT_EXPECT_EQ(crn_wait_add(&t->wait, &t->two.source), 0);
	CT_EXPECT_EQ(crn_wait_arm(&t->wait), 0);
	CT_EXPECT_EQ(t->one.armed, 1);
	CT_EXPECT_EQ(t->two.armed, 1);
	t->one.says = -FI_EAGAIN;
	CT_EXPECT_EQ(crn_wait_arm(&t->wait), -FI_EAGAIN);
	CT_EXPECT_EQ(t->two.armed, 1);
	t->one.says = 0;
	t->two.says = -FI_ENODEV;
	CT_EXPECT_EQ(crn_wait_arm(&t->wait), -FI_ENODEV);
	crn_wait_remove(&t->two.source);
	CT_EXPECT_EQ(crn_wait_arm(&t->wait), 0);
	CT_EXPECT_EQ(t->two.armed, 2);
	CT_EXPECT_EQ(t->one.armed, 4);
	crn_wait_remove(&plain);
	close(plain.fd);
}

CT_TEST_F(wait_source, NONE_takes_and_arms_nothing)
{
	struct crn_wait_lower lower;
	struct crn_wait_inner node;
	struct crn_wait wait, inner;

	CT_ASSERT_EQ(crn_wait_init(&wait, FI_WAIT_NONE), 0);
	CT_ASSERT_EQ(crn_wait_init(&inner, FI_WAIT_FD), 0);
	t->one.says = -FI_EAGAIN;
	t->one.source.wait = &inner;
	CT_EXPECT_EQ(crn_wait_add(&wait, &t->one.source), 0);
	CT_EXPECT_EQ(t->one.source.wait, NULL);
	CT_EXPECT_EQ(crn_wait_add_lower(&wait, &lower, NULL, NULL), 0);
	CT_EXPECT_EQ(crn_wait_add_inner(&wait, &node, &inner), 0);
	CT_EXPECT_EQ(crn_wait_arm(&wait), 0);
	CT_EXPECT_EQ(t->one.armed, 0);
	crn_wait_remove(&lower.source);
	crn_wait_remove(&node.source);
	crn_wait_fini(&inner);
	crn_wait_fini(&wait);
}

CT_TEST_F(wait_source, one_that_cannot_be_watched_is_a_source_of_nothing)
{
	struct scripted same = t->one;
	struct scripted closed = {.source = {.fd = -1, .arm = scripted_arm}};

	CT_EXPECT_EQ(crn_wait_add(&t->wait, &t->one.source), 0);
	CT_EXPECT_EQ(crn_wait_add(&t->wait, &same.source), -EEXIST);
	CT_EXPECT_EQ(same.source.wait, NULL);
	CT_EXPECT_EQ(crn_wait_add(&t->wait, &closed.source), -EBADF);
	CT_EXPECT_EQ(closed.source.wait, NULL);
	CT_EXPECT_EQ(crn_wait_arm(&t->wait), 0);
	CT_EXPECT_EQ(t->one.armed, 1);
	CT_EXPECT_EQ(same.armed + closed.armed, 0);
	crn_wait_remove(&same.source);
	eventfd_write(t->one.source.fd, 1);
	CT_EXPECT_EQ(crn_wait_poll(&t->wait, 0), 0);
}

CT_TEST_F(wait_source, the_end_of_the_object_removes_those_that_are_left)
{
	CT_EXPECT_EQ(crn_wait_add(&t->wait, &t->one.source), 0);
	CT_EXPECT_EQ(crn_wait_add(&t->wait, &t->two.source), 0);
	crn_wait_fini(&t->wait);
	CT_EXPECT_EQ(t->one.source.wait, NULL);
	CT_EXPECT_EQ(t->two.source.wait, NULL);
	CT_EXPECT_GE(fcntl(t->one.source.fd, F_GETFD), 0);
}

/* A fabric whose event queue is another provider's, for the source over it. */
static unsigned int tried;

static int try_eq(struct fid_fabric *fabric, struct fid **fids, int count)
{
	CT_EXPECT_EQ(count, 1);
	tried++;
	return crn_eq_trywait(crn_container_of(fids[0], struct crn_eq, fid.fid));
}

static struct fi_ops_fabric fabric_ops = {.size = sizeof(fabric_ops), .trywait = try_eq};
static struct fid_fabric fabric = {.ops = &fabric_ops};

CT_TEST_F(wait_source, a_lower_queue_is_watched_and_tried)
{
	struct crn_wait_lower lower;

	open_eq(&t->eq, FI_WAIT_FD, 0, FI_WRITE);
	tried = 0;
	CT_ASSERT_EQ(crn_wait_add_lower(&t->wait, &lower, &fabric, &t->eq.fid.fid), 0);
	CT_EXPECT_EQ(crn_wait_arm(&t->wait), 0);
	CT_EXPECT_EQ(crn_wait_poll(&t->wait, 0), -FI_ETIMEDOUT);
	write_number(&t->eq, 1);
	CT_EXPECT_EQ(crn_wait_poll(&t->wait, 0), 0);
	CT_EXPECT_EQ(crn_wait_arm(&t->wait), -FI_EAGAIN);
	expect_number(&t->eq, 1);
	CT_EXPECT_EQ(crn_wait_arm(&t->wait), 0);
	CT_EXPECT_EQ(tried, 3);
	write_number(&t->eq, 2);
	crn_wait_remove(&lower.source);
	CT_EXPECT_EQ(crn_wait_poll(&t->wait, 0), -FI_ETIMEDOUT);
	CT_EXPECT_EQ(crn_wait_arm(&t->wait), 0);
	CT_EXPECT_EQ(tried, 3);
}

CT_TEST_F(wait_source, a_lower_queue_without_a_descriptor_is_refused)
{
	struct crn_wait_lower lower;

	open_eq(&t->eq, FI_WAIT_NONE, 0, 0);
	CT_EXPECT_EQ(crn_wait_add_lower(&t->wait, &lower, &fabric, &t->eq.fid.fid),
		     -FI_ENODATA);
	CT_EXPECT_EQ(crn_wait_arm(&t->wait), 0);
	crn_wait_remove(&lower.source);
}

CT_TEST_F(wait_source, what_is_added_to_one_wakes_all_that_it_is_inside_of)
{
	struct crn_wait inner, outer[2];
	struct crn_wait_inner nodes[2];

	CT_ASSERT_EQ(crn_wait_init(&inner, FI_WAIT_FD), 0);
	for (size_t i = 0; i < CRN_COUNT(outer); i++) {
		CT_ASSERT_EQ(crn_wait_init(&outer[i], FI_WAIT_FD), 0);
		CT_ASSERT_EQ(crn_wait_add_inner(&outer[i], &nodes[i], &inner), 0);
		CT_EXPECT_EQ(crn_wait_arm(&outer[i]), 0);
	}
	CT_EXPECT_EQ(crn_wait_add(&inner, &t->one.source), 0);
	t->one.says = -FI_EAGAIN;
	for (size_t i = 0; i < CRN_COUNT(outer); i++) {
		CT_NOTE("outer %zu", i);
		CT_EXPECT_EQ(crn_wait_poll(&outer[i], 0), -FI_ETIMEDOUT);
		eventfd_write(t->one.source.fd, 1);
		CT_EXPECT_EQ(crn_wait_poll(&outer[i], 0), 0);
		CT_EXPECT_EQ(crn_wait_arm(&outer[i]), -FI_EAGAIN);
		eventfd_read(t->one.source.fd, &(eventfd_t){0});
		CT_EXPECT_EQ(crn_wait_poll(&outer[i], 0), -FI_ETIMEDOUT);
		crn_wait_signal(&inner);
		CT_EXPECT_EQ(crn_wait_poll(&outer[i], 0), 0);
		crn_wait_clear(&inner);
		crn_wait_signal(&outer[i]);
		CT_EXPECT_EQ(crn_wait_poll(&inner, 0), -FI_ETIMEDOUT);
	}
	CT_EXPECT_EQ(t->one.armed, 2);
	crn_wait_remove(&nodes[0].source);
	crn_wait_clear(&outer[0]);
	eventfd_write(t->one.source.fd, 1);
	CT_EXPECT_EQ(crn_wait_poll(&outer[0], 0), -FI_ETIMEDOUT);
	CT_EXPECT_EQ(crn_wait_arm(&outer[0]), 0);
	for (size_t i = 0; i < CRN_COUNT(outer); i++)
		crn_wait_fini(&outer[i]);
	crn_wait_fini(&inner);
}

CT_TEST_F(wait_source, an_object_without_a_descriptor_goes_into_no_other)
{
	struct crn_wait inner, outer;
	struct crn_wait_inner node;

	CT_ASSERT_EQ(crn_wait_init(&inner, FI_WAIT_NONE), 0);
	CT_ASSERT_EQ(crn_wait_init(&outer, FI_WAIT_FD), 0);
	CT_EXPECT_EQ(crn_wait_add_inner(&outer, &node, &inner), -FI_EINVAL);
	CT_EXPECT_EQ(crn_wait_arm(&outer), 0);
	crn_wait_remove(&node.source);
	crn_wait_fini(&outer);
	crn_wait_fini(&inner);
}

CT_TEST_F(wait_source, an_event_queue_arms_them_before_anybody_waits)
{
	open_eq(&t->eq, FI_WAIT_FD, 0, FI_WRITE);
	ct_time_jump();
	CT_ASSERT_EQ(crn_wait_add(&t->eq.wait, &t->one.source), 0);
	CT_EXPECT_EQ(crn_eq_trywait(&t->eq), 0);
	t->one.says = -FI_EAGAIN;
	CT_EXPECT_EQ(crn_eq_trywait(&t->eq), -FI_EAGAIN);
	CT_EXPECT_EQ(t->one.armed, 2);
	write_number(&t->eq, 1);
	CT_EXPECT_EQ(crn_eq_trywait(&t->eq), -FI_EAGAIN);
	CT_EXPECT_EQ(t->one.armed, 2);
	expect_number(&t->eq, 1);
	t->one.says = -FI_ENODEV;
	CT_EXPECT_EQ(crn_eq_trywait(&t->eq), -FI_ENODEV);
	CT_EXPECT_EQ(sread_any(&t->eq, -1), -FI_ENODEV);
	t->one.says = 0;
	CT_EXPECT_EQ(sread_any(&t->eq, 10), -FI_EAGAIN);
	CT_EXPECT_EQ(t->one.armed, 5);
}

/* Says that there is something until progress was made, which finds an event. */
static struct scripted *behind_eq;

static int find_event(struct crn_eq *eq)
{
	if (behind_eq->armed == 1) {
		behind_eq->says = 0;
		insert_number(eq, NULL, 7);
	}
	return 0;
}

CT_TEST_F(wait_source, fi_eq_sread_makes_progress_instead_of_waiting)
{
	struct fi_eq_entry entry;
	uint32_t event;

	open_eq(&t->eq, FI_WAIT_FD, 0, 0);
	t->one.says = -FI_EAGAIN;
	behind_eq = &t->one;
	t->eq.progress = find_event;
	CT_ASSERT_EQ(crn_wait_add(&t->eq.wait, &t->one.source), 0);
	CT_EXPECT_EQ(fi_eq_sread(&t->eq.fid, &event, &entry, sizeof(entry), -1, 0),
		     sizeof(entry));
	CT_EXPECT_EQ(entry.data, 7);
	CT_EXPECT_EQ(t->one.armed, 1);
	CT_EXPECT_EQ(ct_waits(), 0);
}

/* The same of a counter. */
static struct scripted *behind_cntr;

static void find_completion(struct crn_cntr *cntr)
{
	if (behind_cntr->armed == 1 && behind_cntr->says) {
		behind_cntr->says = 0;
		crn_cntr_inc(cntr);
	}
}

CT_TEST_F(wait_source, a_counter_arms_them_before_anybody_waits)
{
	open_cntr(&t->cntr);
	ct_time_jump();
	t->one.says = -FI_EAGAIN;
	behind_cntr = &t->one;
	t->cntr.progress = find_completion;
	CT_ASSERT_EQ(crn_wait_add(&t->cntr.wait, &t->one.source), 0);
	CT_EXPECT_EQ(fi_cntr_wait(&t->cntr.fid, 1, -1), 0);
	CT_EXPECT_EQ(t->one.armed, 1);
	CT_EXPECT_EQ(crn_cntr_trywait(&t->cntr), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_cntr_trywait(&t->cntr), 0);
	CT_EXPECT_EQ(t->one.armed, 2);
	t->one.says = -FI_ENODEV;
	CT_EXPECT_EQ(crn_cntr_trywait(&t->cntr), -FI_ENODEV);
	CT_EXPECT_EQ(fi_cntr_wait(&t->cntr.fid, 2, -1), -FI_ENODEV);
}

/*
 * A device: it raises its descriptor for what comes after it was armed, once. Whoever
 * waits without having armed it may wait for ever.
 */
struct device {
	struct crn_wait_source source;
	pthread_mutex_t lock;
	unsigned int there; /* not taken yet */
	bool armed;
};

static int device_arm(struct crn_wait_source *source)
{
	struct device *device = crn_container_of(source, struct device, source);
	int ret = 0;

	pthread_mutex_lock(&device->lock);
	eventfd_read(source->fd, &(eventfd_t){0});
	device->armed = true;
	if (device->there)
		ret = -FI_EAGAIN;
	pthread_mutex_unlock(&device->lock);
	return ret;
}

#define DEVICE_EVENTS 2000

static void *device_run(void *arg)
{
	struct device *device = arg;

	for (unsigned int i = 0; i < DEVICE_EVENTS; i++) {
		pthread_mutex_lock(&device->lock);
		device->there++;
		if (device->armed)
			eventfd_write(device->source.fd, 1);
		device->armed = false;
		pthread_mutex_unlock(&device->lock);
		if (i % 16 == 0)
			sched_yield();
	}
	return NULL;
}

static unsigned int device_take(struct device *device)
{
	unsigned int taken;

	pthread_mutex_lock(&device->lock);
	taken = device->there;
	device->there = 0;
	pthread_mutex_unlock(&device->lock);
	return taken;
}

CT_TEST(wait_source, nothing_is_missed_between_arming_and_waiting)
{
	struct device devices[2];
	pthread_t threads[2];
	unsigned int taken = 0;
	struct crn_wait wait;
	int ret;

	CT_ASSERT_EQ(crn_wait_init(&wait, FI_WAIT_FD), 0);
	for (size_t i = 0; i < CRN_COUNT(devices); i++) {
		devices[i] = (struct device){.source = {.fd = eventfd(0, EFD_NONBLOCK),
							.arm = device_arm},
					     .lock = PTHREAD_MUTEX_INITIALIZER};
		CT_ASSERT_EQ(crn_wait_add(&wait, &devices[i].source), 0);
	}
	for (size_t i = 0; i < CRN_COUNT(devices); i++)
		CT_ASSERT_EQ(pthread_create(&threads[i], NULL, device_run, &devices[i]),
			     0);
	while (taken < CRN_COUNT(devices) * DEVICE_EVENTS) {
		for (size_t i = 0; i < CRN_COUNT(devices); i++)
			taken += device_take(&devices[i]);
		ret = crn_wait_arm(&wait);
		if (ret != -FI_EAGAIN && taken < CRN_COUNT(devices) * DEVICE_EVENTS)
			CT_ASSERT_EQ(crn_wait_poll(&wait, CT_DEADLINE_MS), 0);
	}
	CT_EXPECT_EQ(taken, CRN_COUNT(devices) * DEVICE_EVENTS);
	for (size_t i = 0; i < CRN_COUNT(devices); i++) {
		pthread_join(threads[i], NULL);
		crn_wait_remove(&devices[i].source);
		close(devices[i].source.fd);
	}
	crn_wait_fini(&wait);
}

/* Others arm while one adds and removes; a source that was removed is its owner's. */
#define TURNS 2000

static _Atomic bool over;

static void *arm_until_over(void *arg)
{
	while (!atomic_load(&over))
		CT_EXPECT_EQ(crn_wait_arm(arg), 0);
	return NULL;
}

CT_TEST_F(wait_source, one_that_was_removed_is_not_armed_any_more)
{
	pthread_t threads[2];
	unsigned int armed;

	atomic_store(&over, false);
	for (size_t i = 0; i < CRN_COUNT(threads); i++)
		CT_ASSERT_EQ(pthread_create(&threads[i], NULL, arm_until_over, &t->wait),
			     0);
	for (size_t i = 0; i < TURNS; i++) {
		CT_EXPECT_EQ(crn_wait_add(&t->wait, &t->one.source), 0);
		if (i % 16 == 0)
			sched_yield();
		crn_wait_remove(&t->one.source);
		/* Not atomic: ThreadSanitizer sees whoever still writes it. */
		armed = t->one.armed++;
		CT_EXPECT_EQ(t->one.armed, armed + 1);
	}
	atomic_store(&over, true);
	for (size_t i = 0; i < CRN_COUNT(threads); i++)
		pthread_join(threads[i], NULL);
}
