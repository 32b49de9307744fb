/* SPDX-License-Identifier: BSD-2-Clause */
/* eq.c and event.c: events of the lower provider in a layer's queues. */
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "cairn_test.h"
#include "ct_fid.h"
#include "lower_world.h"

static const struct crn_lower_row rows[] = {
	{CRN_LOWER_CAPS, CRN_LOWER_PASS, FI_MSG},
	{CRN_LOWER_MAX_MSG_SIZE, CRN_LOWER_SHRINK, 28},
};

/* A queue, and an endpoint that listens and one that does not, bound to it. */
struct eq_scene {
	struct lower_world w;
	struct crn_lower_eq *eq;
	struct lower_pair ep, pep;
};

static int bind(struct eq_scene *s, struct lower_pair *pair, struct crn_lower_eq *eq)
{
	return crn_lower_bind_eq(&s->w.fabric, &pair->obj, &pair->lower.fid,
				 &eq->eq.fid.fid, 0);
}

static void scene_open(struct eq_scene *s, enum fi_wait_obj wait_obj)
{
	lower_world_open(&s->w, rows, CRN_COUNT(rows));
	lower_fabric(&s->w);
	s->eq = lower_eq_open(&s->w, wait_obj);
	lower_pair_init(&s->ep, FI_CLASS_EP);
	lower_pair_init(&s->pep, FI_CLASS_PEP);
	s->ep.fid.context = &s->ep;
	CT_EXPECT_EQ(bind(s, &s->ep, s->eq), 0);
	CT_EXPECT_EQ(bind(s, &s->pep, s->eq), 0);
}

static int close_pair(struct eq_scene *s, struct lower_pair *pair)
{
	return crn_lower_close(&s->w.fabric, &pair->obj, &pair->lower.fid);
}

static void scene_close(struct eq_scene *s)
{
	CT_EXPECT_EQ(close_pair(s, &s->ep), 0);
	CT_EXPECT_EQ(close_pair(s, &s->pep), 0);
	CT_EXPECT_EQ(fi_close(&s->eq->eq.fid.fid), 0);
	CT_EXPECT_EQ(crn_lower_fabric_close(&s->w.fabric), 0);
	lower_world_close(&s->w);
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

CT_TEST(lower_eq, an_event_is_about_the_layers_object_with_its_data)
{
	struct eq_scene s;
	union {
		struct fi_eq_cm_entry cm;
		uint8_t bytes[100];
	} entry;
	uint32_t event = 0;

	scene_open(&s, FI_WAIT_NONE);
	CT_EXPECT_EQ(lower_read(s.eq, &event, &entry.cm, sizeof(entry)), -FI_EAGAIN);
	lower_event(&s.w, FI_CONNECTED, &s.ep, NULL, "hello", 5);
	CT_EXPECT_EQ(lower_read(s.eq, &event, &entry.cm, sizeof(entry)),
		     sizeof(entry.cm) + 5);
	CT_EXPECT_EQ(event, FI_CONNECTED);
	CT_EXPECT_EQ(entry.cm.fid, &s.ep.fid);
	CT_EXPECT_MEMEQ(entry.cm.data, "hello", 5);
	lower_event(&s.w, FI_SHUTDOWN, &s.ep, NULL, NULL, 0);
	expect_event(&s, s.eq, FI_SHUTDOWN, &s.ep);
	scene_close(&s);
}

CT_TEST(lower_eq, a_request_is_answered_as_the_layer_answers)
{
	struct eq_scene s;
	struct fi_eq_cm_entry entry = {0};
	struct fid handle;
	uint32_t event;

	scene_open(&s, FI_WAIT_NONE);
	lower_event(&s.w, FI_CONNREQ, &s.pep, request(&handle), NULL, 0);
	CT_EXPECT_EQ(lower_read(s.eq, &event, &entry, sizeof(entry)), sizeof(entry));
	CT_EXPECT_EQ(event, FI_CONNREQ);
	CT_EXPECT_EQ(entry.fid, &s.pep.fid);
	CT_ASSERT_NE(entry.info, NULL);
	CT_EXPECT_EQ(entry.info->caps, FI_MSG);
	CT_EXPECT_EQ(entry.info->ep_attr->max_msg_size, 72);
	CT_EXPECT_EQ(entry.info->handle, &handle);
	CT_EXPECT_STREQ(entry.info->fabric_attr->prov_name, "lay");
	CT_EXPECT_STREQ(entry.info->fabric_attr->name, "tcp;lay:fab");
	CT_EXPECT_EQ(entry.info->fabric_attr->fabric, NULL);
	fi_freeinfo(entry.info);
	CT_EXPECT_EQ(close_pair(&s, &s.pep), 0);
	CT_EXPECT_EQ(s.pep.lower.rejects, 0);
	scene_close(&s);
}

CT_TEST(lower_eq, requests_that_nobody_read_are_refused_when_nobody_listens)
{
	struct eq_scene s;
	struct fid handles[2];
	struct fi_eq_cm_entry entry;
	uint32_t event;

	scene_open(&s, FI_WAIT_NONE);
	lower_event(&s.w, FI_CONNREQ, &s.pep, request(&handles[0]), NULL, 0);
	lower_event(&s.w, FI_CONNECTED, &s.ep, NULL, NULL, 0);
	CT_EXPECT_EQ(fi_eq_read(&s.eq->eq.fid, &event, &entry, sizeof(entry), FI_PEEK),
		     sizeof(entry));
	CT_EXPECT_EQ(close_pair(&s, &s.pep), 0);
	CT_EXPECT_EQ(s.pep.lower.rejects, 1);
	CT_EXPECT_EQ(s.pep.lower.rejected, &handles[0]);
	expect_event(&s, s.eq, FI_CONNECTED, &s.ep);
	scene_close(&s);
}

CT_TEST(lower_eq,
	a_listener_that_does_not_close_has_refused_what_was_not_read_and_listens_on)
{
	struct eq_scene s;
	struct fid handles[2];
	struct fi_eq_cm_entry entry;
	uint32_t event;

	scene_open(&s, FI_WAIT_NONE);
	lower_event(&s.w, FI_CONNREQ, &s.pep, request(&handles[0]), NULL, 0);
	s.pep.lower.close_ret = -FI_EIO;
	CT_EXPECT_EQ(close_pair(&s, &s.pep), -FI_EIO);
	CT_EXPECT_EQ(s.pep.lower.rejects, 1);
	CT_EXPECT_EQ(lower_read(s.eq, &event, &entry, sizeof(entry)), -FI_EAGAIN);
	s.pep.lower.close_ret = 0;
	lower_event(&s.w, FI_CONNREQ, &s.pep, request(&handles[1]), NULL, 0);
	CT_EXPECT_EQ(lower_read(s.eq, &event, &entry, sizeof(entry)), sizeof(entry));
	CT_EXPECT_EQ(entry.info->handle, &handles[1]);
	fi_freeinfo(entry.info);
	scene_close(&s);
}

CT_TEST(lower_eq, an_error_is_about_the_layers_object_with_its_data)
{
	struct eq_scene s;
	struct fi_eq_err_entry err = {.fid = &s.ep.lower.fid,
				      .context = &s.ep.obj,
				      .err = FI_ECONNREFUSED,
				      .err_data = (void *)"why",
				      .err_data_size = 3};
	struct fi_eq_cm_entry entry;
	uint32_t event;

	scene_open(&s, FI_WAIT_NONE);
	CT_EXPECT_EQ(crn_eq_insert_err(&s.w.eq, &err), 0);
	CT_EXPECT_EQ(lower_read(s.eq, &event, &entry, sizeof(entry)), -FI_EAVAIL);
	memset(&err, 0, sizeof(err));
	CT_EXPECT_EQ(fi_eq_readerr(&s.eq->eq.fid, &err, 0), sizeof(err));
	CT_EXPECT_EQ(err.fid, &s.ep.fid);
	CT_EXPECT_EQ(err.context, s.ep.fid.context);
	CT_EXPECT_EQ(err.err, FI_ECONNREFUSED);
	CT_ASSERT_EQ(err.err_data_size, 3);
	CT_EXPECT_MEMEQ(err.err_data, "why", 3);
	scene_close(&s);
}

static const char *strange_error(struct fid_eq *eq, int prov_errno, const void *err_data,
				 char *buf, size_t len)
{
	return "strange";
}

CT_TEST(lower_eq, what_an_error_means_the_lower_provider_says)
{
	struct eq_scene s;
	struct fi_ops_eq ops;

	scene_open(&s, FI_WAIT_NONE);
	ops = *s.w.eq.fid.ops;
	ops.strerror = strange_error;
	s.w.eq.fid.ops = &ops;
	CT_EXPECT_STREQ(fi_eq_strerror(&s.eq->eq.fid, 5, NULL, NULL, 0), "strange");
	scene_close(&s);
}

CT_TEST(lower_eq, the_context_of_an_operation_stays_and_that_of_an_object_is_the_layers)
{
	struct eq_scene s;
	struct fi_eq_entry entry = {.fid = &s.ep.lower.fid, .context = &s};
	uint32_t event;

	scene_open(&s, FI_WAIT_NONE);
	crn_eq_insert(&s.w.eq, FI_JOIN_COMPLETE, NULL, &entry, sizeof(entry));
	entry.context = &s.ep.obj;
	crn_eq_insert(&s.w.eq, FI_MR_COMPLETE, NULL, &entry, sizeof(entry));
	CT_EXPECT_EQ(fi_eq_read(&s.eq->eq.fid, &event, &entry, sizeof(entry), 0),
		     sizeof(entry));
	CT_EXPECT_EQ(entry.fid, &s.ep.fid);
	CT_EXPECT_EQ(entry.context, &s);
	CT_EXPECT_EQ(fi_eq_read(&s.eq->eq.fid, &event, &entry, sizeof(entry), 0),
		     sizeof(entry));
	CT_EXPECT_EQ(entry.context, s.ep.fid.context);
	scene_close(&s);
}

CT_TEST(lower_eq, what_the_program_writes_is_read_as_it_is)
{
	struct eq_scene s;
	struct fi_eq_entry entry = {.fid = &s.ep.lower.fid, .context = &s.ep.obj};
	uint32_t event = 99;

	scene_open(&s, FI_WAIT_NONE);
	CT_EXPECT_EQ(fi_eq_write(&s.eq->eq.fid, FI_NOTIFY, &entry, sizeof(entry), 0),
		     sizeof(entry));
	CT_EXPECT_EQ(fi_eq_read(&s.eq->eq.fid, &event, &entry, sizeof(entry), 0),
		     sizeof(entry));
	CT_EXPECT_EQ(event, FI_NOTIFY);
	CT_EXPECT_EQ(entry.fid, &s.ep.lower.fid);
	CT_EXPECT_EQ(entry.context, &s.ep.obj);
	scene_close(&s);
}

CT_TEST(lower_eq, an_event_about_nobody_is_dropped)
{
	struct eq_scene s;
	struct lower_pair unbound;
	struct fid stranger = {0};
	struct fi_eq_entry entry = {.fid = &stranger};

	scene_open(&s, FI_WAIT_NONE);
	crn_eq_insert(&s.w.eq, FI_NOTIFY, NULL, &entry, sizeof(entry));
	crn_eq_insert(&s.w.eq, FI_NOTIFY, NULL, &entry, 4);
	lower_pair_init(&unbound, FI_CLASS_PEP);
	lower_event(&s.w, FI_CONNREQ, &unbound, request(NULL), NULL, 0);
	lower_event(&s.w, FI_SHUTDOWN, &s.ep, NULL, NULL, 0);
	expect_event(&s, s.eq, FI_SHUTDOWN, &s.ep);
	scene_close(&s);
}

CT_TEST(lower_eq, queues_of_a_fabric_share_the_lower_one_and_each_gets_its_events)
{
	struct eq_scene s;
	struct lower_pair other;
	struct crn_lower_eq *second;

	scene_open(&s, FI_WAIT_FD);
	CT_EXPECT_EQ(s.w.open, 2);
	second = lower_eq_open(&s.w, FI_WAIT_FD);
	CT_EXPECT_EQ(s.w.open, 2);
	lower_pair_init(&other, FI_CLASS_EP);
	CT_EXPECT_EQ(bind(&s, &other, second), 0);
	/* Any of their descriptors tells that there is something to be handed on. */
	CT_EXPECT_FALSE(ct_readable(&s.eq->eq.fid.fid));
	lower_event(&s.w, FI_CONNECTED, &other, NULL, NULL, 0);
	CT_EXPECT_TRUE(ct_readable(&s.eq->eq.fid.fid));
	CT_EXPECT_TRUE(ct_readable(&second->eq.fid.fid));
	CT_EXPECT_EQ(crn_eq_trywait(&s.eq->eq), 0);
	CT_EXPECT_FALSE(ct_readable(&s.eq->eq.fid.fid));
	CT_EXPECT_TRUE(ct_readable(&second->eq.fid.fid));
	CT_EXPECT_EQ(crn_eq_trywait(&second->eq), -FI_EAGAIN);
	expect_event(&s, second, FI_CONNECTED, &other);
	CT_EXPECT_EQ(crn_eq_trywait(&second->eq), 0);
	CT_EXPECT_EQ(close_pair(&s, &other), 0);
	CT_EXPECT_EQ(fi_close(&second->eq.fid.fid), 0);
	CT_EXPECT_EQ(s.w.open, 2);
	scene_close(&s);
}

CT_TEST(lower_eq, waits_are_armed_at_the_lower_provider)
{
	struct eq_scene s;

	scene_open(&s, FI_WAIT_FD);
	s.w.trywait_ret = -FI_EAGAIN;
	CT_EXPECT_EQ(crn_eq_trywait(&s.eq->eq), -FI_EAGAIN);
	s.w.trywait_ret = 0;
	CT_EXPECT_EQ(crn_eq_trywait(&s.eq->eq), 0);
	scene_close(&s);
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

CT_TEST(lower_eq, an_event_for_a_full_queue_waits_with_those_behind_it)
{
	struct eq_scene s;
	struct fi_eq_cm_entry entry;
	uint32_t event;
	size_t limit;

	scene_open(&s, FI_WAIT_NONE);
	limit = s.eq->eq.limit;
	fill(s.eq);
	lower_event(&s.w, FI_CONNECTED, &s.ep, NULL, NULL, 0);
	lower_event(&s.w, FI_SHUTDOWN, &s.ep, NULL, NULL, 0);
	drain(s.eq, limit);
	expect_event(&s, s.eq, FI_CONNECTED, &s.ep);
	expect_event(&s, s.eq, FI_SHUTDOWN, &s.ep);
	/* One that is kept goes with its object. */
	fill(s.eq);
	lower_event(&s.w, FI_CONNREQ, &s.pep, request(&s.pep.fid), NULL, 0);
	drain(s.eq, 1);
	fill(s.eq);
	CT_EXPECT_EQ(close_pair(&s, &s.pep), 0);
	CT_EXPECT_EQ(s.pep.lower.rejects, 1);
	drain(s.eq, limit + 1);
	/* Nothing of it was refused. */
	CT_EXPECT_EQ(ct_log_count(), 0);
	CT_EXPECT_EQ(lower_read(s.eq, &event, &entry, sizeof(entry)), -FI_EAGAIN);
	scene_close(&s);
}

CT_TEST(lower_eq, no_event_is_lost_when_memory_runs_out)
{
	struct eq_scene s;
	struct fi_eq_cm_entry entry = {0};
	uint32_t event;
	unsigned int nth;
	ssize_t ret;

	for (nth = 1;; nth++) {
		scene_open(&s, FI_WAIT_NONE);
		lower_event(&s.w, FI_CONNREQ, &s.pep, request(&s.ep.fid), NULL, 0);
		ct_fail_alloc(nth);
		ret = lower_read(s.eq, &event, &entry, sizeof(entry));
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(ret, -FI_ENOMEM);
		CT_EXPECT_EQ(lower_read(s.eq, &event, &entry, sizeof(entry)),
			     sizeof(entry));
		CT_EXPECT_EQ(entry.info->ep_attr->max_msg_size, 72);
		fi_freeinfo(entry.info);
		scene_close(&s);
	}
	CT_EXPECT_EQ(nth, 4);
	CT_EXPECT_EQ(ret, sizeof(entry));
	fi_freeinfo(entry.info);
	scene_close(&s);
}

/* Two queues that can be waited for, with an endpoint each. */
struct two_scene {
	struct eq_scene s;
	struct crn_lower_eq *second;
	struct lower_pair other; /* bound to it */
};

static void two_open(struct two_scene *t)
{
	scene_open(&t->s, FI_WAIT_FD);
	t->second = lower_eq_open(&t->s.w, FI_WAIT_FD);
	lower_pair_init(&t->other, FI_CLASS_EP);
	CT_EXPECT_EQ(bind(&t->s, &t->other, t->second), 0);
}

static void two_close(struct two_scene *t)
{
	CT_EXPECT_EQ(close_pair(&t->s, &t->other), 0);
	CT_EXPECT_EQ(fi_close(&t->second->eq.fid.fid), 0);
	scene_close(&t->s);
}

/* It may be blocked on, and is not readable: nobody turns in circles. */
static void expect_asleep(struct crn_lower_eq *eq)
{
	CT_EXPECT_EQ(crn_eq_trywait(&eq->eq), 0);
	CT_EXPECT_FALSE(ct_readable(&eq->eq.fid.fid));
}

CT_TEST(lower_eq, who_waits_for_another_queue_sleeps_while_one_is_full)
{
	struct two_scene t;
	struct crn_lower_eq *third;
	size_t limit;

	two_open(&t);
	limit = t.s.eq->eq.limit;
	fill(t.s.eq);
	lower_event(&t.s.w, FI_CONNECTED, &t.s.ep, NULL, NULL, 0);
	lower_event(&t.s.w, FI_CONNECTED, &t.other, NULL, NULL, 0);
	expect_asleep(t.second);
	third = lower_eq_open(&t.s.w, FI_WAIT_FD);
	expect_asleep(third);
	/* Room is made: what is behind reaches its queue, and wakes who sleeps. */
	drain(t.s.eq, 1);
	CT_EXPECT_TRUE(ct_readable(&t.second->eq.fid.fid));
	expect_event(&t.s, t.second, FI_CONNECTED, &t.other);
	expect_asleep(t.second);
	expect_asleep(third);
	CT_EXPECT_EQ(fi_close(&third->eq.fid.fid), 0);
	drain(t.s.eq, limit - 1);
	expect_event(&t.s, t.s.eq, FI_CONNECTED, &t.s.ep);
	/* From then on as before. */
	lower_event(&t.s.w, FI_SHUTDOWN, &t.other, NULL, NULL, 0);
	CT_EXPECT_TRUE(ct_readable(&t.second->eq.fid.fid));
	expect_event(&t.s, t.second, FI_SHUTDOWN, &t.other);
	two_close(&t);
}

CT_TEST(lower_eq, who_sleeps_is_woken_when_what_kept_events_up_is_closed)
{
	struct two_scene t;

	two_open(&t);
	fill(t.s.eq);
	lower_event(&t.s.w, FI_CONNECTED, &t.s.ep, NULL, NULL, 0);
	lower_event(&t.s.w, FI_CONNECTED, &t.other, NULL, NULL, 0);
	expect_asleep(t.second);
	CT_EXPECT_EQ(close_pair(&t.s, &t.s.ep), 0);
	CT_EXPECT_TRUE(ct_readable(&t.second->eq.fid.fid));
	expect_event(&t.s, t.second, FI_CONNECTED, &t.other);
	CT_EXPECT_EQ(bind(&t.s, &t.s.ep, t.s.eq), 0);
	two_close(&t);
}

CT_TEST(lower_eq, closing_an_object_makes_room_for_events_of_others)
{
	struct two_scene t;
	struct lower_pair full;
	size_t sent;

	two_open(&t);
	lower_pair_init(&full, FI_CLASS_EP);
	CT_EXPECT_EQ(bind(&t.s, &full, t.s.eq), 0);
	for (sent = 0; sent < t.s.eq->eq.limit; sent++) {
		lower_event(&t.s.w, FI_NOTIFY, &full, NULL, NULL, 0);
		CT_EXPECT_EQ(crn_eq_trywait(&t.second->eq), 0);
	}
	lower_event(&t.s.w, FI_CONNECTED, &t.s.ep, NULL, NULL, 0);
	lower_event(&t.s.w, FI_CONNECTED, &t.other, NULL, NULL, 0);
	expect_asleep(t.second);
	CT_EXPECT_EQ(close_pair(&t.s, &full), 0);
	CT_EXPECT_TRUE(ct_readable(&t.second->eq.fid.fid));
	expect_event(&t.s, t.second, FI_CONNECTED, &t.other);
	expect_event(&t.s, t.s.eq, FI_CONNECTED, &t.s.ep);
	two_close(&t);
}

CT_TEST(lower_eq, who_sleeps_is_woken_for_an_event_that_another_had_no_memory_for)
{
	struct two_scene t;
	struct fi_eq_cm_entry entry;
	uint32_t event;

	two_open(&t);
	expect_asleep(t.second);
	lower_event(&t.s.w, FI_CONNECTED, &t.other, NULL, NULL, 0);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(lower_read(t.s.eq, &event, &entry, sizeof(entry)), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_TRUE(ct_readable(&t.second->eq.fid.fid));
	expect_event(&t.s, t.second, FI_CONNECTED, &t.other);
	expect_asleep(t.second);
	/* One whose object is closed meanwhile keeps nobody awake. */
	lower_event(&t.s.w, FI_SHUTDOWN, &t.other, NULL, NULL, 0);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(lower_read(t.s.eq, &event, &entry, sizeof(entry)), -FI_ENOMEM);
	CT_EXPECT_EQ(close_pair(&t.s, &t.other), 0);
	expect_asleep(t.second);
	CT_EXPECT_EQ(bind(&t.s, &t.other, t.second), 0);
	two_close(&t);
}

CT_TEST(lower_eq, an_object_is_bound_to_one_queue_of_its_fabric)
{
	struct eq_scene s;
	struct crn_lower_fabric other;
	struct lower_pair third;

	scene_open(&s, FI_WAIT_NONE);
	CT_EXPECT_EQ(bind(&s, &s.ep, s.eq), -FI_EINVAL);
	lower_pair_init(&third, FI_CLASS_EP);
	CT_EXPECT_EQ(crn_lower_bind_eq(&other, &third.obj, &third.lower.fid,
				       &s.eq->eq.fid.fid, 0),
		     -FI_EINVAL);
	CT_EXPECT_EQ(crn_lower_bind_eq(&s.w.fabric, &third.obj, &third.lower.fid,
				       &s.eq->eq.fid.fid, FI_RECV),
		     -FI_EINVAL);
	/* The lower provider's own rules. */
	third.lower.bind_ret = -FI_EOPBADSTATE;
	CT_EXPECT_EQ(bind(&s, &third, s.eq), -FI_EOPBADSTATE);
	CT_EXPECT_EQ(close_pair(&s, &third), 0);
	scene_close(&s);
}

CT_TEST(lower_eq, nothing_closes_before_what_needs_it)
{
	struct eq_scene s;

	scene_open(&s, FI_WAIT_FD);
	CT_EXPECT_EQ(crn_lower_fabric_close(&s.w.fabric), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&s.eq->eq.fid.fid), -FI_EBUSY);
	s.ep.lower.close_ret = -FI_EBUSY;
	CT_EXPECT_EQ(close_pair(&s, &s.ep), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&s.eq->eq.fid.fid), -FI_EBUSY);
	s.ep.lower.close_ret = 0;
	scene_close(&s);
}

CT_TEST(lower_eq, events_that_were_not_read_go_with_their_object)
{
	struct eq_scene s;
	struct fi_eq_cm_entry entry;
	uint32_t event;

	scene_open(&s, FI_WAIT_NONE);
	lower_event(&s.w, FI_CONNECTED, &s.ep, NULL, NULL, 0);
	CT_EXPECT_EQ(fi_eq_read(&s.eq->eq.fid, &event, &entry, sizeof(entry), FI_PEEK),
		     sizeof(entry));
	lower_event(&s.w, FI_SHUTDOWN, &s.ep, NULL, NULL, 0);
	CT_EXPECT_EQ(close_pair(&s, &s.ep), 0);
	CT_EXPECT_EQ(lower_read(s.eq, &event, &entry, sizeof(entry)), -FI_EAGAIN);
	scene_close(&s);
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

CT_TEST(lower_eq, a_layer_may_take_events_itself_and_put_them_off)
{
	struct eq_scene s;
	struct fi_eq_cm_entry entry;
	uint32_t event;

	scene_open(&s, FI_WAIT_NONE);
	taken = 0;
	refusals = 2;
	s.ep.obj.event = take;
	lower_event(&s.w, FI_CONNECTED, &s.ep, NULL, "x", 1);
	CT_EXPECT_EQ(lower_read(s.eq, &event, &entry, sizeof(entry)), -FI_EAGAIN);
	CT_EXPECT_EQ(lower_read(s.eq, &event, &entry, sizeof(entry)), -FI_EAGAIN);
	CT_EXPECT_EQ(taken, 0);
	CT_EXPECT_EQ(lower_read(s.eq, &event, &entry, sizeof(entry)), -FI_EAGAIN);
	CT_EXPECT_EQ(taken, 1);
	CT_EXPECT_EQ(seen.event, FI_CONNECTED);
	CT_EXPECT_EQ(seen.cm.fid, &s.ep.fid);
	CT_EXPECT_EQ(seen.len, sizeof(entry) + 1);
	scene_close(&s);
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
	CT_EXPECT_STRSTR(ct_log_last(), "tcp opens no event queue");
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
