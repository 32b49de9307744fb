/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines on the standard error: what has happened, with whom, and what to do about it. */
#ifndef FRT_LOG_H
#define FRT_LOG_H

#include <stdint.h>
#include <sys/socket.h>

enum frt_level {
	FRT_ERROR, /* something does not work and stays so */
	FRT_WARN,  /* something is wrong, and the daemon goes on */
	FRT_INFO,
	FRT_DEBUG, /* -v */
};

/* verbose: -v so many times. Under systemd lines have a priority in place of the time. */
void frt_log_open(unsigned int verbose);
/* No more than a burst of lines, and then a few each second. */
void frt_log(enum frt_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A line that who connects can provoke, as often as he likes: these are counted by
 * themselves, and fewer, so that the others are still there. */
void frt_log_peer(enum frt_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ms in which one line suffices of what a host does again and again. */
#define FRT_LOG_AGAIN 60000u
/* The level for a line of that kind about that host: FRT_DEBUG, where there has been one
 * a short time ago, so that nobody fills a log. */
enum frt_level frt_log_first(enum frt_level level, const struct sockaddr *who,
			     uint64_t kind);

#endif
