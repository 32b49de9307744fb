/* SPDX-License-Identifier: BSD-2-Clause */
/* eq.c and event.c: events of the lower provider in a layer's queues. */
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "cairn_test.h"
#include "ct_fid.h"
#include "lower_world.h"

static const struct crn_lower_row rows[] = {
	{CRN_LOWER_CAPS, CRN_LOWER_PASS, FI_MSG},
	{CRN_LOWER_MAX_MSG_SIZE, CRN_LOWER_SHRINK, 28},
};

/*
 * A queue, and an endpoint that listens and one that does not, bound to it; with
 * open_second also another queue with an endpoint.
 */
struct eq_scene {
	struct lower_world w;
	struct crn_lower_eq *eq, *second;
	struct lower_pair ep, pep, other;
};

static int bind(struct eq_scene *s, struct lower_pair *pair, struct crn_lower_eq *eq)
{
	return crn_lower_bind_eq(&s->w.fabric, &pair->obj, &pair->lower.fid,
				 &eq->eq.fid.fid, 0);
}

static int close_pair(struct eq_scene *s, struct lower_pair *pair)
{
	return crn_lower_close(&s->w.fabric, &pair->obj, &pair->lower.fid);
}

static void scene_close(struct eq_scene *s)
{
	if (s->second) {
		CT_EXPECT_EQ(close_pair(s, &s->other), 0);
		CT_EXPECT_EQ(fi_close(&s->second->eq.fid.fid), 0);
	}
	if (s->eq) {
		CT_EXPECT_EQ(close_pair(s, &s->ep), 0);
		CT_EXPECT_EQ(close_pair(s, &s->pep), 0);
		CT_EXPECT_EQ(fi_close(&s->eq->eq.fid.fid), 0);
		CT_EXPECT_EQ(crn_lower_fabric_close(&s->w.fabric), 0);
	}
	s->eq = s->second = NULL;
	lower_world_close(&s->w);
}

/* A scene that is open is closed first. */
static void scene_open(struct eq_scene *s, enum fi_wait_obj wait_obj)
{
	scene_close(s);
	lower_world_open(&s->w, rows, CRN_COUNT(rows));
	lower_fabric(&s->w);
	s->eq = lower_eq_open(&s->w, wait_obj);
	CT_EXPECT_EQ(s->w.open, 2);
	lower_pair_init(&s->ep, FI_CLASS_EP);
	lower_pair_init(&s->pep, FI_CLASS_PEP);
	s->ep.fid.context = &s->ep;
	CT_EXPECT_EQ(bind(s, &s->ep, s->eq), 0);
	CT_EXPECT_EQ(bind(s, &s->pep, s->eq), 0);
}

static void set_up(struct eq_scene *s)
{
	scene_open(s, FI_WAIT_NONE);
}

/* Reads whatever is next. */
static ssize_t read_any(struct crn_lower_eq *eq)
{
	struct fi_eq_cm_entry entry;
	uint32_t event;

	return lower_read(eq, &event, &entry, sizeof(entry));
}

CT_FIXTURE(lower_eq, struct eq_scene, set_up, scene_close);

/* Both queues can be waited for. */
static void open_second(struct eq_scene *s)
{
	scene_open(s, FI_WAIT_FD);
	s->second = lower_eq_open(&s->w, FI_WAIT_FD);
	lower_pair_init(&s->other, FI_CLASS_EP);
	CT_EXPECT_EQ(bind(s, &s->other, s->second), 0);
}

static struct fi_info *request(struct fid *handle)
{
	struct fi_info *info = fi_allocinfo();

	info->caps = FI_MSG | FI_ATOMIC;
	info->ep_attr->max_msg_size = 100;
	info->handle = handle;
	info->fabric_attr->prov_name = strdup("tcp");
	info->fabric_attr->name = strdup("fab");
	info->fabric_attr->fabric = (void *)handle;
	return info;
}

static void expect_event(struct eq_scene *s, struct crn_lower_eq *eq, uint32_t wanted,
			 struct lower_pair *about)
{
	struct fi_eq_cm_entry entry;
	uint32_t event = 99;

	CT_EXPECT_EQ(lower_read(eq, &event, &entry, sizeof(entry)), sizeof(entry));
	CT_EXPECT_EQ(event, wanted);
	CT_EXPECT_EQ(entry.fid, &about->fid);
}

CT_TEST_F(lower_eq, an_event_is_about_the_layers_object_with_its_data)
{
	union {
		struct fi_eq_cm_entry cm;
		uint8_t bytes[100];
	} entry;
	uint32_t event = 0;

	CT_EXPECT_EQ(read_any(t->eq), -FI_EAGAIN);
	lower_event(&t->w, FI_CONNECTED, &t->ep, NULL, "hello", 5);
	CT_EXPECT_EQ(lower_read(t->eq, &event, &entry.cm, sizeof(entry)),
		     sizeof(entry.cm) + 5);
	CT_EXPECT_EQ(event, FI_CONNECTED);
	CT_EXPECT_EQ(entry.cm.fid, &t->ep.fid);
	CT_EXPECT_MEMEQ(entry.cm.data, "hello", 5);
	lower_event(&t->w, FI_SHUTDOWN, &t->ep, NULL, NULL, 0);
	expect_event(t, t->eq, FI_SHUTDOWN, &t->ep);
}

CT_TEST_F(lower_eq, a_request_is_answered_as_the_layer_answers)
{
	struct fi_eq_cm_entry entry = {0};
	struct fid handle;
	uint32_t event;

	lower_event(&t->w, FI_CONNREQ, &t->pep, request(&handle), NULL, 0);
	CT_EXPECT_EQ(lower_read(t->eq, &event, &entry, sizeof(entry)), sizeof(entry));
	CT_EXPECT_EQ(event, FI_CONNREQ);
	CT_EXPECT_EQ(entry.fid, &t->pep.fid);
	CT_ASSERT_NE(entry.info, NULL);
	CT_EXPECT_EQ(entry.info->caps, FI_MSG);
	CT_EXPECT_EQ(entry.info->ep_attr->max_msg_size, 72);
	CT_EXPECT_EQ(entry.info->handle, &handle);
	CT_EXPECT_STREQ(entry.info->fabric_attr->prov_name, "lay");
	CT_EXPECT_STREQ(entry.info->fabric_attr->name, "tcp;lay:fab");
	CT_EXPECT_EQ(entry.info->fabric_attr->fabric, NULL);
	fi_freeinfo(entry.info);
	CT_EXPECT_EQ(close_pair(t, &t->pep), 0);
	CT_EXPECT_EQ(t->pep.lower.rejects, 0);
}

CT_TEST_F(lower_eq, requests_that_nobody_read_are_refused_when_nobody_listens)
{
	struct fid handles[2];
	struct fi_eq_cm_entry entry;
	uint32_t event;

	lower_event(&t->w, FI_CONNREQ, &t->pep, request(&handles[0]), NULL, 0);
	lower_event(&t->w, FI_CONNECTED, &t->ep, NULL, NULL, 0);
	CT_EXPECT_EQ(fi_eq_read(&t->eq->eq.fid, &event, &entry, sizeof(entry), FI_PEEK),
		     sizeof(entry));
	CT_EXPECT_EQ(close_pair(t, &t->pep), 0);
	CT_EXPECT_EQ(t->pep.lower.rejects, 1);
	CT_EXPECT_EQ(t->pep.lower.rejected, &handles[0]);
	expect_event(t, t->eq, FI_CONNECTED, &t->ep);
}

CT_TEST_F(lower_eq,
	  a_listener_that_does_not_close_has_refused_what_was_not_read_and_listens_on)
{
	struct fid handles[2];
	struct fi_eq_cm_entry entry;
	uint32_t event;

	lower_event(&t->w, FI_CONNREQ, &t->pep, request(&handles[0]), NULL, 0);
	t->pep.lower.close_ret = -FI_EIO;
	CT_EXPECT_EQ(close_pair(t, &t->pep), -FI_EIO);
	CT_EXPECT_EQ(t->pep.lower.rejects, 1);
	CT_EXPECT_EQ(read_any(t->eq), -FI_EAGAIN);
	t->pep.lower.close_ret = 0;
	lower_event(&t->w, FI_CONNREQ, &t->pep, request(&handles[1]), NULL, 0);
	CT_EXPECT_EQ(lower_read(t->eq, &event, &entry, sizeof(entry)), sizeof(entry));
	CT_EXPECT_EQ(entry.info->handle, &handles[1]);
	fi_freeinfo(entry.info);
}

CT_TEST_F(lower_eq, an_error_is_about_the_layers_object_with_its_data)
{
	struct fi_eq_err_entry err = {.fid = &t->ep.lower.fid,
				      .context = &t->ep.obj,
				      .err = FI_ECONNREFUSED,
				      .err_data = (void *)"why",
				      .err_data_size = 3};

	CT_EXPECT_EQ(crn_eq_insert_err(&t->w.eq, &err), 0);
	CT_EXPECT_EQ(read_any(t->eq), -FI_EAVAIL);
	memset(&err, 0, sizeof(err));
	CT_EXPECT_EQ(fi_eq_readerr(&t->eq->eq.fid, &err, 0), sizeof(err));
	CT_EXPECT_EQ(err.fid, &t->ep.fid);
	CT_EXPECT_EQ(err.context, t->ep.fid.context);
	CT_EXPECT_EQ(err.err, FI_ECONNREFUSED);
	CT_ASSERT_EQ(err.err_data_size, 3);
	CT_EXPECT_MEMEQ(err.err_data, "why", 3);
}

static const char *strange_error(struct fid_eq *eq, int prov_errno, const void *err_data,
				 char *buf, size_t len)
{
	return "strange";
}

CT_TEST_F(lower_eq, what_an_error_means_the_lower_provider_says)
{
	static struct fi_ops_eq ops; /* the tear-down uses them, too */

	ops = *t->w.eq.fid.ops;
	ops.strerror = strange_error;
	t->w.eq.fid.ops = &ops;
	CT_EXPECT_STREQ(fi_eq_strerror(&t->eq->eq.fid, 5, NULL, NULL, 0), "strange");
}

CT_TEST_F(lower_eq, the_context_of_an_operation_stays_and_that_of_an_object_is_the_layers)
{
	struct fi_eq_entry entry = {.fid = &t->ep.lower.fid, .context = t};
	uint32_t event;

	crn_eq_insert(&t->w.eq, FI_JOIN_COMPLETE, NULL, &entry, sizeof(entry));
	entry.context = &t->ep.obj;
	crn_eq_insert(&t->w.eq, FI_MR_COMPLETE, NULL, &entry, sizeof(entry));
	CT_EXPECT_EQ(fi_eq_read(&t->eq->eq.fid, &event, &entry, sizeof(entry), 0),
		     sizeof(entry));
	CT_EXPECT_EQ(entry.fid, &t->ep.fid);
	CT_EXPECT_EQ(entry.context, t);
	CT_EXPECT_EQ(fi_eq_read(&t->eq->eq.fid, &event, &entry, sizeof(entry), 0),
		     sizeof(entry));
	CT_EXPECT_EQ(entry.context, t->ep.fid.context);
}

CT_TEST_F(lower_eq, what_the_program_writes_is_read_as_it_is)
{
	struct fi_eq_entry entry = {.fid = &t->ep.lower.fid, .context = &t->ep.obj};
	uint32_t event = 99;

	CT_EXPECT_EQ(fi_eq_write(&t->eq->eq.fid, FI_NOTIFY, &entry, sizeof(entry), 0),
		     sizeof(entry));
	CT_EXPECT_EQ(fi_eq_read(&t->eq->eq.fid, &event, &entry, sizeof(entry), 0),
		     sizeof(entry));
	CT_EXPECT_EQ(event, FI_NOTIFY);
	CT_EXPECT_EQ(entry.fid, &t->ep.lower.fid);
	CT_EXPECT_EQ(entry.context, &t->ep.obj);
}

CT_TEST_F(lower_eq, an_event_about_nobody_is_dropped)
{
	struct lower_pair unbound;
	struct fid stranger = {0};
	struct fi_eq_entry entry = {.fid = &stranger};

	crn_eq_insert(&t->w.eq, FI_NOTIFY, NULL, &entry, sizeof(entry));
	crn_eq_insert(&t->w.eq, FI_NOTIFY, NULL, &entry, 4);
	lower_pair_init(&unbound, FI_CLASS_PEP);
	lower_event(&t->w, FI_CONNREQ, &unbound, request(NULL), NULL, 0);
	lower_event(&t->w, FI_SHUTDOWN, &t->ep, NULL, NULL, 0);
	expect_event(t, t->eq, FI_SHUTDOWN, &t->ep);
}

CT_TEST_F(lower_eq, queues_of_a_fabric_share_the_lower_one_and_each_gets_its_events)
{
	open_second(t);
	CT_EXPECT_EQ(t->w.open, 2);
	/* Any of their descriptors tells that there is something to be handed on. */
	CT_EXPECT_FALSE(ct_readable(&t->eq->eq.fid.fid));
	lower_event(&t->w, FI_CONNECTED, &t->other, NULL, NULL, 0);
	CT_EXPECT_TRUE(ct_readable(&t->eq->eq.fid.fid));
	CT_EXPECT_TRUE(ct_readable(&t->second->eq.fid.fid));
	CT_EXPECT_EQ(crn_eq_trywait(&t->eq->eq), 0);
	CT_EXPECT_FALSE(ct_readable(&t->eq->eq.fid.fid));
	CT_EXPECT_TRUE(ct_readable(&t->second->eq.fid.fid));
	CT_EXPECT_EQ(crn_eq_trywait(&t->second->eq), -FI_EAGAIN);
	expect_event(t, t->second, FI_CONNECTED, &t->other);
	CT_EXPECT_EQ(crn_eq_trywait(&t->second->eq), 0);
	CT_EXPECT_EQ(close_pair(t, &t->other), 0);
	CT_EXPECT_EQ(fi_close(&t->second->eq.fid.fid), 0);
	t->second = NULL;
	CT_EXPECT_EQ(t->w.open, 2);
}

CT_TEST_F(lower_eq, waits_are_armed_at_the_lower_provider)
{
	scene_open(t, FI_WAIT_FD);
	t->w.trywait_ret = -FI_EAGAIN;
	CT_EXPECT_EQ(crn_eq_trywait(&t->eq->eq), -FI_EAGAIN);
	t->w.trywait_ret = 0;
	CT_EXPECT_EQ(crn_eq_trywait(&t->eq->eq), 0);
}

static void fill(struct crn_lower_eq *eq)
{
	struct fi_eq_entry entry = {0};

	while (!crn_eq_full(&eq->eq))
		CT_ASSERT_EQ(crn_eq_insert(&eq->eq, FI_NOTIFY, NULL, &entry,
					   sizeof(entry)),
			     0);
}

static void drain(struct crn_lower_eq *eq, size_t count)
{
	struct fi_eq_entry entry;
	uint32_t event;

	while (count--)
		fi_eq_read(&eq->eq.fid, &event, &entry, sizeof(entry), 0);
}

CT_TEST_F(lower_eq, an_event_for_a_full_queue_waits_with_those_behind_it)
{
	size_t limit;

	limit = t->eq->eq.limit;
	fill(t->eq);
	lower_event(&t->w, FI_CONNECTED, &t->ep, NULL, NULL, 0);
	lower_event(&t->w, FI_SHUTDOWN, &t->ep, NULL, NULL, 0);
	drain(t->eq, limit);
	expect_event(t, t->eq, FI_CONNECTED, &t->ep);
	expect_event(t, t->eq, FI_SHUTDOWN, &t->ep);
	/* One that is kept goes with its object. */
	fill(t->eq);
	lower_event(&t->w, FI_CONNREQ, &t->pep, request(&t->pep.fid), NULL, 0);
	drain(t->eq, 1);
	fill(t->eq);
	CT_EXPECT_EQ(close_pair(t, &t->pep), 0);
	CT_EXPECT_EQ(t->pep.lower.rejects, 1);
	drain(t->eq, limit + 1);
	/* Nothing of it was refused. */
	CT_EXPECT_EQ(ct_log_count(), 0);
	CT_EXPECT_EQ(read_any(t->eq), -FI_EAGAIN);
}

CT_TEST_F(lower_eq, no_event_is_lost_when_memory_runs_out)
{
	struct fi_eq_cm_entry entry = {0};
	uint32_t event;
	unsigned int nth;
	ssize_t ret;

	for (nth = 1;; nth++) {
		scene_open(t, FI_WAIT_NONE);
		lower_event(&t->w, FI_CONNREQ, &t->pep, request(&t->ep.fid), NULL, 0);
		ct_fail_alloc(nth);
		ret = lower_read(t->eq, &event, &entry, sizeof(entry));
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(ret, -FI_ENOMEM);
		CT_EXPECT_EQ(lower_read(t->eq, &event, &entry, sizeof(entry)),
			     sizeof(entry));
		CT_EXPECT_EQ(entry.info->ep_attr->max_msg_size, 72);
		fi_freeinfo(entry.info);
	}
	CT_EXPECT_EQ(nth, 4);
	CT_EXPECT_EQ(ret, sizeof(entry));
	fi_freeinfo(entry.info);
}

/* It may be blocked on, and is not readable: nobody turns in circles. */
static void expect_asleep(struct crn_lower_eq *eq)
{
	CT_EXPECT_EQ(crn_eq_trywait(&eq->eq), 0);
	CT_EXPECT_FALSE(ct_readable(&eq->eq.fid.fid));
}

CT_TEST_F(lower_eq, who_waits_for_another_queue_sleeps_while_one_is_full)
{
	struct crn_lower_eq *third;
	size_t limit;

	open_second(t);
	limit = t->eq->eq.limit;
	fill(t->eq);
	lower_event(&t->w, FI_CONNECTED, &t->ep, NULL, NULL, 0);
	lower_event(&t->w, FI_CONNECTED, &t->other, NULL, NULL, 0);
	expect_asleep(t->second);
	third = lower_eq_open(&t->w, FI_WAIT_FD);
	expect_asleep(third);
	/* Room is made: what is behind reaches its queue, and wakes who sleeps. */
	drain(t->eq, 1);
	CT_EXPECT_TRUE(ct_readable(&t->second->eq.fid.fid));
	expect_event(t, t->second, FI_CONNECTED, &t->other);
	expect_asleep(t->second);
	expect_asleep(third);
	CT_EXPECT_EQ(fi_close(&third->eq.fid.fid), 0);
	drain(t->eq, limit - 1);
	expect_event(t, t->eq, FI_CONNECTED, &t->ep);
	/* From then on as before. */
	lower_event(&t->w, FI_SHUTDOWN, &t->other, NULL, NULL, 0);
	CT_EXPECT_TRUE(ct_readable(&t->second->eq.fid.fid));
	expect_event(t, t->second, FI_SHUTDOWN, &t->other);
}

CT_TEST_F(lower_eq, who_sleeps_is_woken_when_what_kept_events_up_is_closed)
{
	open_second(t);
	fill(t->eq);
	lower_event(&t->w, FI_CONNECTED, &t->ep, NULL, NULL, 0);
	lower_event(&t->w, FI_CONNECTED, &t->other, NULL, NULL, 0);
	expect_asleep(t->second);
	CT_EXPECT_EQ(close_pair(t, &t->ep), 0);
	CT_EXPECT_TRUE(ct_readable(&t->second->eq.fid.fid));
	expect_event(t, t->second, FI_CONNECTED, &t->other);
	CT_EXPECT_EQ(bind(t, &t->ep, t->eq), 0);
}

CT_TEST_F(lower_eq, closing_an_object_makes_room_for_events_of_others)
{
	struct lower_pair full;

	open_second(t);
	lower_pair_init(&full, FI_CLASS_EP);
	CT_EXPECT_EQ(bind(t, &full, t->eq), 0);
	for (size_t sent = 0; sent < t->eq->eq.limit; sent++) {
		lower_event(&t->w, FI_NOTIFY, &full, NULL, NULL, 0);
		CT_EXPECT_EQ(crn_eq_trywait(&t->second->eq), 0);
	}
	lower_event(&t->w, FI_CONNECTED, &t->ep, NULL, NULL, 0);
	lower_event(&t->w, FI_CONNECTED, &t->other, NULL, NULL, 0);
	expect_asleep(t->second);
	CT_EXPECT_EQ(close_pair(t, &full), 0);
	CT_EXPECT_TRUE(ct_readable(&t->second->eq.fid.fid));
	expect_event(t, t->second, FI_CONNECTED, &t->other);
	expect_event(t, t->eq, FI_CONNECTED, &t->ep);
}

CT_TEST_F(lower_eq, who_sleeps_is_woken_for_an_event_that_another_had_no_memory_for)
{
	open_second(t);
	expect_asleep(t->second);
	lower_event(&t->w, FI_CONNECTED, &t->other, NULL, NULL, 0);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(read_any(t->eq), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_TRUE(ct_readable(&t->second->eq.fid.fid));
	expect_event(t, t->second, FI_CONNECTED, &t->other);
	expect_asleep(t->second);
	/* One whose object is closed meanwhile keeps nobody awake. */
	lower_event(&t->w, FI_SHUTDOWN, &t->other, NULL, NULL, 0);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(read_any(t->eq), -FI_ENOMEM);
	CT_EXPECT_EQ(close_pair(t, &t->other), 0);
	expect_asleep(t->second);
	CT_EXPECT_EQ(bind(t, &t->other, t->second), 0);
}

CT_TEST_F(lower_eq, an_object_is_bound_to_one_queue_of_its_fabric)
{
	struct crn_lower_fabric other;
	struct lower_pair third;

	CT_EXPECT_EQ(bind(t, &t->ep, t->eq), -FI_EINVAL);
	lower_pair_init(&third, FI_CLASS_EP);
	CT_EXPECT_EQ(crn_lower_bind_eq(&other, &third.obj, &third.lower.fid,
				       &t->eq->eq.fid.fid, 0),
		     -FI_EINVAL);
	CT_EXPECT_EQ(crn_lower_bind_eq(&t->w.fabric, &third.obj, &third.lower.fid,
				       &t->eq->eq.fid.fid, FI_RECV),
		     -FI_EINVAL);
	/* The lower provider's own rules. */
	third.lower.bind_ret = -FI_EOPBADSTATE;
	CT_EXPECT_EQ(bind(t, &third, t->eq), -FI_EOPBADSTATE);
	CT_EXPECT_EQ(close_pair(t, &third), 0);
}

CT_TEST_F(lower_eq, nothing_closes_before_what_needs_it)
{
	scene_open(t, FI_WAIT_FD);
	CT_EXPECT_EQ(crn_lower_fabric_close(&t->w.fabric), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&t->eq->eq.fid.fid), -FI_EBUSY);
	t->ep.lower.close_ret = -FI_EBUSY;
	CT_EXPECT_EQ(close_pair(t, &t->ep), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&t->eq->eq.fid.fid), -FI_EBUSY);
	t->ep.lower.close_ret = 0;
}

CT_TEST_F(lower_eq, events_that_were_not_read_go_with_their_object)
{
	struct fi_eq_cm_entry entry;
	uint32_t event;

	lower_event(&t->w, FI_CONNECTED, &t->ep, NULL, NULL, 0);
	CT_EXPECT_EQ(fi_eq_read(&t->eq->eq.fid, &event, &entry, sizeof(entry), FI_PEEK),
		     sizeof(entry));
	lower_event(&t->w, FI_SHUTDOWN, &t->ep, NULL, NULL, 0);
	CT_EXPECT_EQ(close_pair(t, &t->ep), 0);
	CT_EXPECT_EQ(read_any(t->eq), -FI_EAGAIN);
}

static unsigned int taken, refusals;
static struct crn_lower_event seen;

static int take(struct crn_lower_obj *obj, struct crn_lower_event *event)
{
	if (refusals) {
		refusals--;
		return -FI_EAGAIN;
	}
	taken++;
	seen = *event;
	return 0;
}

CT_TEST_F(lower_eq, a_layer_may_take_events_itself_and_put_them_off)
{
	struct fi_eq_cm_entry entry;

	taken = 0;
	refusals = 2;
	t->ep.obj.event = take;
	lower_event(&t->w, FI_CONNECTED, &t->ep, NULL, "x", 1);
	CT_EXPECT_EQ(read_any(t->eq), -FI_EAGAIN);
	CT_EXPECT_EQ(read_any(t->eq), -FI_EAGAIN);
	CT_EXPECT_EQ(taken, 0);
	CT_EXPECT_EQ(read_any(t->eq), -FI_EAGAIN);
	CT_EXPECT_EQ(taken, 1);
	CT_EXPECT_EQ(seen.event, FI_CONNECTED);
	CT_EXPECT_EQ(seen.cm.fid, &t->ep.fid);
	CT_EXPECT_EQ(seen.len, sizeof(entry) + 1);
}

CT_TEST(lower_eq, a_lower_queue_that_does_not_open_leaves_nothing)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD};
	struct lower_world w;
	struct fid_eq *eq;
	unsigned int nth;
	int ret;

	lower_world_open(&w, rows, CRN_COUNT(rows));
	lower_fabric(&w);
	w.eq_ret = -FI_EMFILE;
	CT_EXPECT_EQ(crn_lower_eq_open(&w.fabric.fid, &attr, &eq, NULL), -FI_EMFILE);
	CT_EXPECT_EQ(ct_log_count(), 1);
	CT_EXPECT_STRSTR(ct_log_last(), fi_strerror(FI_EMFILE));
	w.eq_ret = 0;
	attr.wait_obj = FI_WAIT_SET;
	CT_EXPECT_EQ(crn_lower_eq_open(&w.fabric.fid, &attr, &eq, NULL), -FI_ENOSYS);
	attr.wait_obj = FI_WAIT_FD;
	for (nth = 1;; nth++) {
		ct_fail_alloc(nth);
		ret = crn_lower_eq_open(&w.fabric.fid, &attr, &eq, NULL);
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(ret, -FI_ENOMEM);
		CT_EXPECT_EQ(w.open, 1);
	}
	CT_EXPECT_EQ(nth, 3);
	CT_EXPECT_EQ(fi_close(&eq->fid), 0);
	CT_EXPECT_EQ(crn_lower_fabric_close(&w.fabric), 0);
	lower_world_close(&w);
}
