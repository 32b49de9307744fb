/* SPDX-License-Identifier: BSD-2-Clause */
/* What a running router says at its control socket (fi_router(8)), for people and for
 * programs. Functions return the exit status of the process. */
#ifndef RCT_LIVE_H
#define RCT_LIVE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Of the router that is asked, where nothing else is named. */
#define RCT_CONFIG "/etc/cairn/fi_router.conf"

enum rct_live_command {
	RCT_SHOW,
	RCT_PING,
	RCT_TRACE,
	RCT_READY,
	RCT_TOP,
	RCT_WHY,
	RCT_FAULT,
};

struct rct_live_options {
	enum rct_live_command command;
	const char *what;	     /* SHOW: "topology"; PING, TRACE, WHY: a target */
	const char *from;	     /* WHY: a subnet; NULL: the router's own */
	const char *socket, *config; /* at most one of them */
	bool json, dot;
	uint32_t count;	  /* PING; TOP: 0: without end */
	uint32_t timeout; /* ms; READY: 0: it is asked once */
	uint32_t delay;	  /* TOP: ms */
};

/* Is it one of those commands? */
bool rct_live_is(const char *command);
/* All of it: argv[0] is the command. */
int rct_live(int argc, char **argv);

/* --- options.c; ends the process where the line is wrong --- */

void rct_live_options(int argc, char **argv, struct rct_live_options *options);

/* --- ask.c --- */

/*
 * The path of the socket, in memory that stays; NULL: it has been printed why not.
 */
const char *rct_live_path(const struct rct_live_options *options);
/*
 * Asks the router, which has so many ms to say something. The request is taken over.
 * NULL: it has been printed why not.
 */
json_t *rct_ask(const char *path, json_t *request, uint32_t timeout);
/* The same, and nothing is printed: why says it. */
#define RCT_WHY_SIZE 256u
json_t *rct_ask_quietly(const char *path, json_t *request, uint32_t timeout,
			char why[RCT_WHY_SIZE]);

/* --- fault.c: all of it; argv[0] is the command --- */

int rct_live_fault(int argc, char **argv);

/* --- show*.c, probe.c, ready.c, top.c, why.c --- */

int rct_live_show(const struct rct_live_options *options, const char *path);
int rct_live_ping(const struct rct_live_options *options, const char *path);
int rct_live_trace(const struct rct_live_options *options, const char *path);
int rct_live_ready(const struct rct_live_options *options, const char *path);
int rct_live_top(const struct rct_live_options *options, const char *path);
int rct_live_why(const struct rct_live_options *options, const char *path);

/* drain.c: all of the command; and a line of its answer, without the name. */
int rct_live_drain(int argc, char **argv);
void rct_print_draining(const json_t *draining);

/* 0 or -FI_ENOMEM. */
int rct_sheet_topology(const json_t *document);
int rct_sheet_routes(const json_t *document);
int rct_sheet_connections(const json_t *document);
int rct_sheet_counters(const json_t *document);
int rct_sheet_adjacencies(const json_t *document);
int rct_sheet_blocked(const json_t *document);
/* As simulate prints it (names.c); names: of the policy. */
#define RCT_SCORE_SIZE 128u
const char *rct_score(const json_t *names, const json_t *cost, char text[RCT_SCORE_SIZE]);
void rct_dot_topology(const json_t *document);

/* --- time.c --- */

uint64_t rct_now_ms(void);
void rct_pause(uint32_t ms);

/* --- members.c: of an object that may lack them --- */

const char *rct_text(const json_t *object, const char *member);
/* A number, also one that is written as text, as it is printed. */
const char *rct_number(const json_t *object, const char *member, char text[32]);
uint64_t rct_count(const json_t *object, const char *member);
bool rct_true(const json_t *object, const char *member);
/* "1.5 s", "3 min", of ms. */
const char *rct_age(uint64_t ms, char text[32]);
/* Elements with a comma between, or "-". */
const char *rct_list(const json_t *array, char *text, size_t size);

#endif
