/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cairn/addr.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "log.h"

#define LINE_SIZE 1024u

/* Hosts and kinds of lines that are remembered: of two in one place the newer. */
#define TOLD 1024u

/* Lines of one kind that may be written. */
struct bucket {
	const char *name; /* of what was left out */
	uint32_t burst, each_second;
	uint32_t tokens;  /* that may be written now */
	uint32_t dropped; /* since the last one that was */
	uint64_t filled;  /* ms */
};

static struct {
	pthread_mutex_t mutex; /* of what is not set at the start */
	bool journal;
	enum frt_level most;
	struct bucket own, peers;
	struct {
		uint64_t mark; /* of host and kind */
		uint64_t at;   /* ms; 0: never */
	} told[TOLD];
} logs = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.most = FRT_INFO,
	.own = {.name = "", .burst = 200, .each_second = 20, .tokens = 200},
	.peers = {.name = " about peers", .burst = 50, .each_second = 5, .tokens = 50},
};

/* sd-daemon(3). */
static const char *const priorities[] = {"<3>", "<4>", "<6>", "<7>"};
static const char *const names[] = {"error: ", "warning: ", "", ""};

void frt_log_open(unsigned int verbose)
{
	logs.journal = getenv("JOURNAL_STREAM") && !isatty(STDERR_FILENO);
	logs.most = verbose ? FRT_DEBUG : FRT_INFO;
	logs.own.filled = logs.peers.filled = crn_now_ms();
}

static bool may_write(struct bucket *bucket)
{
	const uint64_t now = crn_now_ms();
	const uint64_t more = (now - bucket->filled) * bucket->each_second / 1000;

	if (more) {
		bucket->tokens =
			(uint32_t)CRN_MIN(bucket->tokens + more, (uint64_t)bucket->burst);
		bucket->filled = now;
	}
	if (!bucket->tokens) {
		bucket->dropped++;
		return false;
	}
	bucket->tokens--;
	return true;
}

static void begin(enum frt_level level)
{
	struct timespec now;
	struct tm tm;
	char text[32];

	if (logs.journal) {
		fputs(priorities[level], stderr);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	strftime(text, sizeof(text), "%H:%M:%S", &tm);
	fprintf(stderr, "%s.%03ld fi_router: %s", text, now.tv_nsec / 1000000,
		names[level]);
}

static void write_line(struct bucket *bucket, enum frt_level level, const char *line)
{
	if (bucket->dropped) {
		begin(FRT_WARN);
		fprintf(stderr, "%u lines%s were left out: there were too many\n",
			bucket->dropped, bucket->name);
		bucket->dropped = 0;
	}
	begin(level);
	fputs(line, stderr);
	fputc('\n', stderr);
}

__attribute__((format(printf, 3, 0))) static void log_to(struct bucket *bucket,
							 enum frt_level level,
							 const char *format, va_list args)
{
	char line[LINE_SIZE];

	if (level > logs.most)
		return;
	vsnprintf(line, sizeof(line), format, args);
	pthread_mutex_lock(&logs.mutex);
	if (may_write(bucket))
		write_line(bucket, level, line);
	pthread_mutex_unlock(&logs.mutex);
}

/* FNV-1a. */
static uint64_t mix(uint64_t mark, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	while (len--)
		mark = (mark ^ *at++) * 0x100000001b3u;
	return mark;
}

static uint64_t mark_of(const struct sockaddr *who, uint64_t kind)
{
	uint64_t mark = mix(0xcbf29ce484222325u, &kind, sizeof(kind));
	union crn_addr addr;

	memcpy(&addr, who, crn_addr_len(who));
	crn_addr_set_port(&addr.sa, 0);
	return mix(mark, &addr, crn_addr_len(who));
}

enum frt_level frt_log_first(enum frt_level level, const struct sockaddr *who,
			     uint64_t kind)
{
	const uint64_t mark = mark_of(who, kind), now = crn_now_ms();
	const size_t i = (size_t)((mark >> 32) % TOLD);

	pthread_mutex_lock(&logs.mutex);
	if (logs.told[i].mark == mark && logs.told[i].at &&
	    now - logs.told[i].at < FRT_LOG_AGAIN) {
		level = FRT_DEBUG;
	} else {
		logs.told[i].mark = mark;
		logs.told[i].at = now;
	}
	pthread_mutex_unlock(&logs.mutex);
	return level;
}

void frt_log(enum frt_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_to(&logs.own, level, format, args);
	va_end(args);
}

void frt_log_peer(enum frt_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_to(&logs.peers, level, format, args);
	va_end(args);
}
