/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <rdma/fi_errno.h>

#include "session.h"

/* Specification 13.4.8.2: types of notices and who issues them. */
#define TYPE_SECURITY 2
#define PRODUCER_CA 1
/* A subscription that failed is tried again, and the manager is looked at. */
#define AGAIN_MS 5000
#define LOOK_MS 2000
/* Of the general services interface, where datagrams of libibumad arrive. */
#define QPN 1
/* More is no time. */
#define FOREVER_MS (UINT64_MAX / 2)

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = 1;
}

/* The second one of a kind ends the process, as it does by default. A shell without job
 * control has SIGINT ignored; nohup(1) has SIGHUP, which stays so. */
static void catch_one(int signal)
{
	const struct sigaction action = {.sa_handler = stop,
					 .sa_flags = SA_RESTART | SA_RESETHAND};
	struct sigaction before;

	sigaction(signal, &action, &before);
	if (signal == SIGHUP && before.sa_handler == SIG_IGN)
		sigaction(signal, &before, NULL);
}

void imc_catch(void)
{
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		catch_one(signals[i]);
	/* What cannot be written is an error of the output. */
	signal(SIGPIPE, SIG_IGN);
}

bool imc_stopped(void)
{
	return stopped;
}

/* Security traps are told to who knows the SM_Key (opensm). */
static int inform(struct imc_session *session, const struct pvb_inform_info *info)
{
	uint8_t record[PVB_INFORM_SIZE];
	struct pvb_sa_request request = {.method = PVB_SA_SET,
					 .attr = PVB_SA_INFORM_INFO,
					 .sm_key = session->options->sm_key,
					 .data = record,
					 .len = sizeof(record)};
	struct pvb_sa_reply reply;
	int ret;

	pvb_inform_info_pack(record, info);
	ret = imc_ask(session, &request, &reply);
	if (!ret && reply.status)
		ret = -FI_EINVAL;
	pvb_sa_reply_free(&reply);
	return ret;
}

static void subscribed(void *arg)
{
	struct imc_session *session = arg;

	session->events |= IMC_SUBSCRIBED;
}

static void refused(void *arg, int err, uint16_t status)
{
	struct imc_session *session = arg;

	session->events |= IMC_REFUSED;
	session->refused_err = err;
	session->refused_status = status;
}

static void restarted(void *arg)
{
	struct imc_session *session = arg;

	session->events |= IMC_RESTARTED;
}

int imc_follow(struct imc_session *session, bool subscribe)
{
	const struct pvb_sa_watch_config config = {.subscribe = subscribe,
						   .wait_ms =
							   session->options->timeout_ms,
						   .tries = session->options->tries,
						   .again_ms = AGAIN_MS,
						   .look_ms = LOOK_MS,
						   .subscribed = subscribed,
						   .refused = refused,
						   .restarted = restarted,
						   .arg = session};
	const int ret = pvb_umad_watch(&session->umad, &config);

	return subscribe ? ret : 0;
}

int imc_subscribe_port(struct imc_session *session, uint16_t trap, bool subscribe)
{
	const struct pvb_inform_info info = {.lid_begin = PVB_INFORM_ALL_LIDS,
					     .generic = true,
					     .subscribe = subscribe,
					     .type = TYPE_SECURITY,
					     .trap = trap,
					     .qpn = QPN,
					     .producer = PRODUCER_CA};

	return inform(session, &info);
}

uint64_t imc_deadline(double seconds)
{
	return isinf(seconds) ? UINT64_MAX : pvb_umad_now() + (uint64_t)(seconds * 1000);
}

/* No longer than the client has nothing to send. */
static uint64_t sleep_ms(const struct imc_session *session, uint64_t now,
			 uint64_t until_ms)
{
	const int due = pvb_umad_timeout(&session->umad);
	const uint64_t left = until_ms - now;

	return due >= 0 && (uint64_t)due < left ? (uint64_t)due : left;
}

/* None comes between the look and the sleep. */
static void sleep_for(struct imc_session *session, uint64_t ms)
{
	struct pollfd wait = {.fd = pvb_umad_fd(&session->umad), .events = POLLIN};
	const struct timespec time = {.tv_sec = (time_t)(ms / 1000),
				      .tv_nsec = (long)(ms % 1000) * 1000000};
	sigset_t mask, before;
	size_t i;

	sigemptyset(&mask);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&mask, signals[i]);
	sigprocmask(SIG_BLOCK, &mask, &before);
	if (!stopped)
		ppoll(&wait, 1, ms > FOREVER_MS ? NULL : &time, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

int imc_wait(struct imc_session *session, uint64_t until_ms)
{
	uint64_t now;
	int ret = 0;

	while (!ret && !stopped && !session->notices && !session->events) {
		now = pvb_umad_now();
		if (now >= until_ms)
			break;
		sleep_for(session, sleep_ms(session, now, until_ms));
		ret = pvb_umad_progress(&session->umad);
	}
	return ret;
}
