/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups that come and go (traps 66 and 67), and violations of Q_Keys (trap 258). */
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/time.h>
#include <rdma/fi_errno.h>
#include <cairn/bytes.h>

#include "commands.h"
#include "print/print.h"
#include "rules/rules.h"

struct watch {
	struct imc_session *session;
	struct imc_name *only; /* groups that are watched; none: all */
	uint64_t printed;
	uint64_t until;	 /* pvb_umad_now */
	bool violations; /* are subscribed to */
	bool asked;	 /* for that, at least once */
	bool refused;	 /* the subscription of groups, the last time */
};

static bool wanted(const struct watch *watch, const uint8_t mgid[16])
{
	const int words = watch->session->options->words;
	int i;

	for (i = 0; i < words; i++)
		if (!memcmp(watch->only[i].mgid, mgid, 16))
			return true;
	return !words;
}

static void now_text(char text[IMC_TEXT])
{
	struct timeval now;
	struct tm tm;
	size_t len;

	gettimeofday(&now, NULL);
	localtime_r(&now.tv_sec, &tm);
	len = strftime(text, IMC_TEXT, "%F %T", &tm);
	snprintf(text + len, IMC_TEXT - len, ".%03d", (int)(now.tv_usec / 1000));
}

static double now_number(void)
{
	struct timeval now;

	gettimeofday(&now, NULL);
	return (double)now.tv_sec + (double)now.tv_usec / 1e6;
}

static int print_json(json_t *object, const char *event)
{
	json_object_set_new(object, "event", json_string(event));
	json_object_set_new(object, "time", json_real(now_number()));
	return imc_written(imc_json_print(object, true, stdout));
}

static void print_group(const struct watch *watch, const struct imc_name *name,
			const char *event, const char *maker)
{
	char time[IMC_TEXT], gid[IMC_TEXT], address[IMC_TEXT];
	json_t *object;

	if (watch->session->options->json) {
		object = imc_name_json(name);
		json_object_set_new(object, "maker",
				    maker[0] ? json_string(maker) : json_null());
		print_json(object, event);
		return;
	}
	now_text(time);
	printf("%s %s %s%s%s%s%s%s\n", time, event, imc_gid_text(name->mgid, gid),
	       name->ip ? " (" : "", imc_address_text(name, address), name->ip ? ")" : "",
	       maker[0] ? ", " : "", maker);
}

/* A moment after it was created its members are most likely who created it. */
static void created(struct watch *watch, const struct imc_name *name)
{
	struct imc_subnet subnet = {0};
	char maker[IMC_FINDING_SIZE] = "";

	if (!imc_gather(watch->session, 0, name->mgid, &subnet) && subnet.groups)
		imc_maker(&subnet, subnet.group, maker);
	print_group(watch, name, "created", maker);
	imc_subnet_free(&subnet);
}

static void qkey_violated(const struct watch *watch, const struct pvb_notice *notice)
{
	/* Specification 14.2.5.1, table 140. */
	const uint8_t *const details = notice->details;
	const uint16_t lid1 = crn_get_be16(details + 2), lid2 = crn_get_be16(details + 4);
	const uint32_t key = crn_get_be32(details + 6);
	const uint32_t qp1 = crn_get_be32(details + 10) & 0xffffff,
		       qp2 = crn_get_be32(details + 14) & 0xffffff;
	char time[IMC_TEXT];

	if (watch->session->options->json) {
		print_json(json_pack("{s:i, s:i, s:i, s:i, s:i, s:o}", "issuer_lid",
				     notice->issuer_lid, "from_lid", lid1, "from_qp",
				     (int)qp1, "to_lid", lid2, "to_qp", (int)qp2, "qkey",
				     json_sprintf("0x%08x", key)),
			   "qkey-violation");
		return;
	}
	now_text(time);
	printf("%s qkey-violation Q_Key 0x%08x from LID %u QP 0x%x to LID %u QP 0x%x, "
	       "told by LID %u (draft 6.2)\n",
	       time, key, lid1, qp1, lid2, qp2, notice->issuer_lid);
}

static void one_notice(struct watch *watch, const struct pvb_notice *notice)
{
	struct imc_name name;

	if (notice->trap == IMC_TRAP_QKEY) {
		qkey_violated(watch, notice);
		watch->printed++;
		return;
	}
	imc_name_of(notice->details + PVB_NOTICE_GID_AT, &name);
	if ((notice->trap != PVB_TRAP_GROUP_CREATED &&
	     notice->trap != PVB_TRAP_GROUP_DELETED) ||
	    !wanted(watch, name.mgid))
		return;
	if (notice->trap == PVB_TRAP_GROUP_CREATED)
		created(watch, &name);
	else
		print_group(watch, &name, "deleted", "");
	watch->printed++;
}

/* Also where groups come faster than they are printed. */
static bool ended(const struct watch *watch)
{
	return imc_stopped() || watch->printed >= watch->session->options->count ||
	       pvb_umad_now() >= watch->until || ferror(stdout);
}

/* Others may come meanwhile. */
static void take_notices(struct watch *watch)
{
	struct imc_session *session = watch->session;
	struct pvb_notice notice;

	while (session->notices && !ended(watch)) {
		notice = session->notice[0];
		session->notices--;
		memmove(session->notice, session->notice + 1,
			session->notices * sizeof(notice));
		one_notice(watch, &notice);
	}
	fflush(stdout);
	if (session->lost)
		fprintf(stderr, "fi_ibmc: %llu notices were lost\n",
			(unsigned long long)session->lost);
	session->lost = 0;
}

static void tell(const struct watch *watch, const char *event)
{
	char time[IMC_TEXT];

	if (watch->session->options->json) {
		print_json(json_object(), event);
	} else {
		now_text(time);
		printf("%s %s\n", time, event);
	}
	fflush(stdout);
}

/* Violations are told by the subnet managers that can. */
static void subscribe_violations(struct watch *watch)
{
	const bool before = watch->violations;

	watch->violations = !imc_subscribe_port(watch->session, IMC_TRAP_QKEY, true);
	if (!watch->violations && (before || !watch->asked))
		fputs("fi_ibmc: the subnet manager does not tell of violations of Q_Keys "
		      "(trap 258)\n",
		      stderr);
	watch->asked = true;
}

static void take_events(struct watch *watch)
{
	struct imc_session *session = watch->session;
	const uint32_t events = session->events;

	session->events = 0;
	if (events & IMC_RESTARTED)
		tell(watch, "restarted");
	if (events & (IMC_REFUSED | IMC_SUBSCRIBED))
		watch->refused = !(events & IMC_SUBSCRIBED);
	if (events & IMC_REFUSED)
		imc_failed(session, "subscribing to traps 66 and 67, tried again",
			   session->refused_err, session->refused_status);
	if (events & IMC_SUBSCRIBED) {
		subscribe_violations(watch);
		tell(watch, "watching");
	}
}

static int run(struct watch *watch)
{
	int ret = 0;

	watch->until = imc_deadline(watch->session->options->seconds);
	while (!ret && !ended(watch)) {
		ret = imc_wait(watch->session, watch->until);
		take_events(watch);
		take_notices(watch);
	}
	if (ret)
		return imc_failed(watch->session, "watching", ret, 0);
	return watch->refused ? IMC_FAILED : IMC_DONE;
}

static int begin(struct watch *watch)
{
	const struct imc_session *session = watch->session;

	if (!imc_follow(watch->session, true))
		return IMC_DONE;
	fprintf(stderr,
		"fi_ibmc: another program receives the reports of %s port %d: end it, or "
		"choose another port\n",
		session->umad.port.ca, session->umad.port.number);
	return IMC_FAILED;
}

int imc_watch(struct imc_session *session)
{
	const struct imc_options *options = session->options;
	struct watch watch = {.session = session};
	int status = IMC_DONE, i;

	watch.only = calloc((size_t)options->words + 1, sizeof(*watch.only));
	if (!watch.only)
		return imc_failed(session, "watching", -FI_ENOMEM, 0);
	imc_catch();
	for (i = 0; i < options->words && !status; i++)
		status = imc_find_name(session, options->word[i], &watch.only[i], NULL);
	if (!status)
		status = begin(&watch);
	if (!status)
		status = run(&watch);
	/* That of groups ends with the session. */
	if (watch.violations && !session->umad.gone)
		imc_subscribe_port(session, IMC_TRAP_QKEY, false);
	free(watch.only);
	return status;
}
