/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every call that a provider makes of memory, of the system and of the device fails once,
 * and every one from some call on. Each time is a process of its own.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"

#define RUN_SECONDS 100u
#define MOST_RUNS 2000u

/* What the process of one run says to the one that started it. */
struct outcome {
	bool hit;	  /* a call failed */
	bool absent;	  /* nothing can fail: such an endpoint is not offered */
	bool told;	  /* and the program was told of it */
	const char *name; /* the call; a constant, so the same in both */
	struct scene scene;
	char wrong[512];
};

static struct outcome *outcome;

static int wrong(const char *what, long have, long want)
{
	if (!outcome->wrong[0])
		snprintf(outcome->wrong, sizeof(outcome->wrong), "%s: %ld, expected %ld",
			 what, have, want);
	return -1;
}

static int check_scene(const struct scene *s, const char *which)
{
	if (s->wrong[0] && !outcome->wrong[0])
		snprintf(outcome->wrong, sizeof(outcome->wrong), "%s: %s", which,
			 s->wrong);
	if (s->silent && !outcome->wrong[0])
		snprintf(outcome->wrong, sizeof(outcome->wrong),
			 "%s: nothing told that \"%s\" will not come", which, s->doing);
	return outcome->wrong[0] ? -1 : 0;
}

/* A connection that nothing fails for is not to notice what fails for others. */
static int other_connection(struct scene *other)
{
	fct_fault_hold(true);
	fct_scene_message(other);
	fct_fault_hold(false);
	if (other->err)
		return wrong("the other connection", other->err, 0);
	return check_scene(other, "the other connection");
}

static void play(struct scene *s, struct scene *other)
{
	if (!fct_scene_open(s) && !other_connection(other) && !fct_scene_message(s) &&
	    !fct_scene_transfers(s))
		fct_scene_ends(s);
	other_connection(other);
	fct_scene_close(s);
}

/* A whole scene without failures, which leaves nothing that was not there before. */
static int play_well(struct scene *other, const char *when)
{
	const int objects = fct_fault_objects();
	struct scene s;

	play(&s, other);
	if (check_scene(&s, when))
		return -1;
	if (s.err)
		return wrong(when, s.err, 0);
	if (fct_fault_objects() != objects)
		return wrong("objects of the device after a scene", fct_fault_objects(),
			     objects);
	return 0;
}

static int one_failure(enum fault_kind kind, unsigned int nth, bool on)
{
	struct scene other, *s = &outcome->scene;
	int fds, objects;

	if (fct_scene_open(&other))
		return wrong("opening without failures", other.err, 0);
	if (play_well(&other, "before the failure"))
		return -1;
	fds = fct_descriptors();
	objects = fct_fault_objects();
	fct_fault_arm(kind, nth, on);
	play(s, &other);
	fct_fault_disarm();
	outcome->name = fct_fault_failed();
	outcome->hit = outcome->name;
	outcome->told = s->err;
	if (check_scene(s, "with the failure"))
		return -1;
	if (s->err && !outcome->hit)
		return wrong("without a failure", s->err, 0);
	if (fct_fault_objects() != objects)
		return wrong("objects of the device", fct_fault_objects(), objects);
	if (fct_descriptors() != fds)
		return wrong("descriptors", fct_descriptors(), fds);
	if (other_connection(&other) || play_well(&other, "after the failure"))
		return -1;
	if (fct_descriptors() != fds)
		return wrong("descriptors in the end", fct_descriptors(), fds);
	fct_scene_close(&other);
	return check_scene(&other, "closing");
}

/* The provider is loaded and asked for the first time. */
static int first_failure(enum fault_kind kind, unsigned int nth, bool on)
{
	struct fi_info *info = NULL, *hints;
	struct fct_setup setup = {.caps = FI_MSG};

	fct_fault_arm(kind, nth, on);
	hints = fct_hints(&setup);
	outcome->told =
		!hints || fi_getinfo(FCT_API, fct.opts.src, "0", FI_SOURCE, hints, &info);
	fct_fault_disarm();
	outcome->name = fct_fault_failed();
	outcome->hit = outcome->name;
	fi_freeinfo(hints);
	fi_freeinfo(info);
	if (outcome->told && !outcome->hit)
		return wrong("fi_getinfo without a failure", -1, 0);
	return 0;
}

struct campaign {
	int (*run)(enum fault_kind kind, unsigned int nth, bool on);
	enum fault_kind kind;
	bool on;
};

/* In a process that has not used libfabric yet; its end is looked at by a leak checker.
 */
static void run_in_child(const struct campaign *c, unsigned int nth)
{
	signal(SIGALRM, SIG_DFL);
	alarm(RUN_SECONDS * fct.scale);
	if (fct_fault_hook(fct.opts.prov))
		wrong("the provider's library", 0, 1);
	else
		c->run(c->kind, nth, c->on);
	exit(outcome->wrong[0] ? 1 : 0);
}

static int run_one(const struct campaign *c, unsigned int nth)
{
	int how;
	pid_t pid;

	memset(outcome, 0, sizeof(*outcome));
	fflush(stdout);
	pid = fork();
	if (!pid)
		run_in_child(c, nth);
	FCT_TRUE(pid > 0);
	FCT_TRUE(waitpid(pid, &how, 0) == pid);
	if (WIFSIGNALED(how))
		FCT_FAIL("failure %u (%s): %s at \"%s\"", nth,
			 outcome->name ? outcome->name : "?", strsignal(WTERMSIG(how)),
			 outcome->scene.doing ? outcome->scene.doing : "?");
	if (outcome->wrong[0])
		FCT_FAIL("failure %u (%s): %s", nth, outcome->name ? outcome->name : "?",
			 outcome->wrong);
	if (WEXITSTATUS(how))
		FCT_FAIL("failure %u (%s): the process ended with status %d", nth,
			 outcome->name ? outcome->name : "?", WEXITSTATUS(how));
	return 0;
}

/* What is over another provider has none. */
static bool has_device(void)
{
	return !strchr(fct.opts.prov, ';') && strcmp(fct.opts.prov, "route") != 0;
}

static int campaign(const struct campaign *c)
{
	unsigned int nth = 0, told = 0;

	do {
		FCT_DO(run_one(c, ++nth));
		told += outcome->hit && outcome->told;
		if (outcome->hit)
			fct_note("%u: %s: %s at %s", nth, outcome->name,
				 outcome->told ? "told" : "borne",
				 outcome->scene.doing ? outcome->scene.doing
						      : "fi_getinfo");
		FCT_TRUE(nth < MOST_RUNS);
	} while (outcome->hit);
	fct_note("%u failures, %u told, %u borne", nth - 1, told, nth - 1 - told);
	FCT_TRUE(nth > 1 || (c->kind == FAULT_DEVICE && !has_device()));
	return 0;
}

FCT_CASE(first, "memory or the device fails when fi_getinfo is called first")
{
	static const struct campaign c[] = {{first_failure, FAULT_MEMORY, false},
					    {first_failure, FAULT_MEMORY, true},
					    {first_failure, FAULT_DEVICE, false}};
	size_t i;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		if (campaign(&c[i]))
			return -1;
	return 0;
}

FCT_CASE_CALL(memory, "each allocation fails",
	      campaign(&(struct campaign){one_failure, FAULT_MEMORY, false}))

FCT_CASE_CALL(memory_gone, "each allocation fails, and all after it",
	      campaign(&(struct campaign){one_failure, FAULT_MEMORY, true}))

FCT_CASE_CALL(system_call,
	      "each call that makes a descriptor or looks up addresses fails",
	      campaign(&(struct campaign){one_failure, FAULT_SYSTEM, false}))

FCT_CASE_CALL(device, "each call of libibverbs and librdmacm fails",
	      campaign(&(struct campaign){one_failure, FAULT_DEVICE, false}))

/* A datagram endpoint, and a group that it joins. */
static void play_datagrams(struct scene *s)
{
	fct_scene_datagrams(s);
	fct_scene_close(s);
}

static int datagrams_well(const char *when)
{
	struct scene s;

	play_datagrams(&s);
	if (check_scene(&s, when))
		return -1;
	outcome->absent = s.err == -FI_ENODATA && !s.fabric;
	if (outcome->absent)
		return -1;
	return s.err ? wrong(when, s.err, 0) : 0;
}

static int datagram_failure(enum fault_kind kind, unsigned int nth, bool on)
{
	struct scene *s = &outcome->scene;
	int fds, objects;

	if (datagrams_well("before the failure"))
		return -1;
	fds = fct_descriptors();
	objects = fct_fault_objects();
	fct_fault_arm(kind, nth, on);
	play_datagrams(s);
	fct_fault_disarm();
	outcome->name = fct_fault_failed();
	outcome->hit = outcome->name;
	outcome->told = s->err;
	if (check_scene(s, "with the failure"))
		return -1;
	if (s->err && !outcome->hit)
		return wrong("without a failure", s->err, 0);
	if (fct_fault_objects() != objects)
		return wrong("objects of the device", fct_fault_objects(), objects);
	if (fct_descriptors() != fds)
		return wrong("descriptors", fct_descriptors(), fds);
	return datagrams_well("after the failure");
}

FCT_CASE(datagrams, "memory or the device fails for a datagram endpoint and a group")
{
	static const struct campaign c[] = {{datagram_failure, FAULT_MEMORY, false},
					    {datagram_failure, FAULT_DEVICE, false}};
	size_t i;

	/* One in which nothing fails. */
	if (run_one(&c[0], 0))
		return -1;
	if (outcome->absent)
		return fct_skip("no datagram endpoint with multicast");
	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		if (campaign(&c[i]))
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_fault",
		.what = "What a provider makes of calls that fail.",
		.single = true,
		.forks = true,
	};

	outcome = mmap(NULL, sizeof(*outcome), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (outcome == MAP_FAILED)
		return 2;
	return fct_main(argc, argv, &prog);
}
