/* SPDX-License-Identifier: BSD-2-Clause */
/* Memberships of the port: join and leave (draft section 8). */
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>

#include "commands.h"
#include "print/print.h"

/* Until a group that could not be joined again is tried again. */
#define AGAIN_MS 1000

/* What this process joined, and so leaves. */
struct joined {
	uint8_t mgid[16];
	bool ours;
	bool again; /* a manager that has begun anew does not know of it */
};

static void tell(const struct imc_session *session, const struct pvb_mcm *mcm, bool ours,
		 bool created)
{
	static const struct imc_subnet nothing;
	char gid[IMC_TEXT], state[IMC_TEXT];
	struct imc_one one;
	json_t *object;

	imc_one_of(mcm, &one);
	if (session->options->json) {
		object = imc_group_json(&nothing, &one.group);
		json_object_set_new(object, "joined", json_boolean(ours));
		json_object_set_new(object, "created", json_boolean(created));
		json_object_set_new(object, "state",
				    json_string(imc_state_text(mcm->join_state, state)));
		imc_written(imc_json_print(object, true, stdout));
	} else {
		printf("%s %s as %s, MLID 0x%04x: ",
		       created ? "Created and joined"
		       : ours  ? "Joined"
			       : "The port is a member already of",
		       imc_gid_text(mcm->mgid, gid),
		       imc_state_text(mcm->join_state, state), mcm->mlid);
		imc_print_attrs(mcm, stdout);
	}
	fflush(stdout);
}

static int check_mtu(const struct imc_session *session, const struct pvb_mcm *mcm)
{
	char gid[IMC_TEXT];

	if (mcm->mtu <= session->port_mtu)
		return IMC_DONE;
	fprintf(stderr,
		"fi_ibmc: %s: its MTU %u is above the port's, %u: not joined (draft 7: "
		"R16)\n",
		imc_gid_text(mcm->mgid, gid), imc_mtu_bytes(mcm->mtu),
		imc_mtu_bytes(session->port_mtu));
	return IMC_FAILED;
}

/* A membership that is there may be another program's: it stays, also if nobody tells of
 * what state it is. */
static int is_member(struct imc_session *session, const uint8_t mgid[16],
		     struct pvb_mcm *mcm)
{
	const int status = imc_get_member(session, mgid, mcm);

	return !status && mcm->join_state && !(mcm->join_state & session->options->state)
		       ? IMC_NOT_THERE
		       : status;
}

/* One that was not answered may have been done. */
static int join(struct imc_session *session, const uint8_t mgid[16],
		const struct pvb_mcm *attrs, struct pvb_mcm *mcm)
{
	const uint8_t state = session->options->state;
	const int status = imc_join_group(session, mgid, state, attrs, mcm);

	if (status)
		imc_undo_join(session, mgid, state);
	return status;
}

/* Of a link, a group that is absent is created as the link's groups are. */
static int join_one(struct imc_session *session, const char *word, struct joined *joined)
{
	const uint8_t state = session->options->state;
	struct pvb_link link = {0};
	struct imc_name name;
	struct pvb_mcm mcm;
	bool absent = false;
	int status = imc_find_name(session, word, &name, &link);

	if (status)
		return status;
	memcpy(joined->mgid, name.mgid, sizeof(joined->mgid));
	status = is_member(session, name.mgid, &mcm);
	if (!status)
		tell(session, &mcm, false, false);
	if (status != IMC_NOT_THERE)
		return status;
	status = imc_get_group(session, name.mgid, &mcm);
	absent = status == IMC_NOT_THERE;
	if (!status)
		status = check_mtu(session, &mcm);
	else if (absent)
		status = IMC_DONE;
	/* Who only sends creates none (draft section 8). */
	if (absent && (!link.mtu || state != PVB_MCM_FULL)) {
		fprintf(stderr, "fi_ibmc: %s: there is no such group\n", word);
		return IMC_NOT_THERE;
	}
	if (!status)
		status = join(session, name.mgid, absent ? &link.group : NULL, &mcm);
	if (status)
		return status;
	joined->ours = true;
	tell(session, &mcm, true, absent);
	return IMC_DONE;
}

/* It stays ours if it is still there: a manager that was silent for some time is taken
 * for a new one. */
static bool join_again(struct imc_session *session, struct joined *joined)
{
	bool all = true;
	int i;

	for (i = 0; i < session->options->words && !imc_stopped(); i++) {
		if (!joined[i].again)
			continue;
		joined[i].again =
			join_one(session, session->options->word[i], &joined[i]);
		joined[i].ours = true;
		all = all && !joined[i].again;
	}
	return all;
}

/* A subnet manager that has begun anew knows no members. */
static void forget(struct imc_session *session, struct joined *joined)
{
	int i;

	session->events = 0;
	fputs("fi_ibmc: the subnet manager has begun anew: joining again\n", stderr);
	for (i = 0; i < session->options->words; i++)
		joined[i].again = joined[i].ours;
}

static int hold(struct imc_session *session, struct joined *joined)
{
	const uint64_t until = imc_deadline(session->options->seconds);
	uint64_t again = UINT64_MAX;
	int ret;

	/* What is asked for in vain would keep libumad2sim of ibsim from its end. */
	if (pvb_umad_now() >= until)
		return IMC_DONE;
	ret = imc_follow(session, false);
	while (!ret && !imc_stopped() && pvb_umad_now() < until) {
		ret = imc_wait(session, again < until ? again : until);
		if (session->events & IMC_RESTARTED) {
			forget(session, joined);
			again = 0;
		}
		if (!ret && pvb_umad_now() >= again)
			again = join_again(session, joined) ? UINT64_MAX
							    : pvb_umad_now() + AGAIN_MS;
	}
	return ret ? imc_failed(session, "waiting", ret, 0) : IMC_DONE;
}

/* What waits to be joined again may be a membership still. */
static int leave_one(struct imc_session *session, const struct joined *joined)
{
	const uint8_t state = session->options->state;

	if (!joined->again)
		return joined->ours ? imc_leave_group(session, joined->mgid, state)
				    : IMC_DONE;
	imc_undo_join(session, joined->mgid, state);
	return IMC_FAILED;
}

static int leave_all(struct imc_session *session, const struct joined *joined, int count)
{
	int status = IMC_DONE, i;

	for (i = 0; i < count; i++)
		if (leave_one(session, &joined[i]))
			status = IMC_FAILED;
	return status;
}

int imc_join(struct imc_session *session)
{
	const struct imc_options *options = session->options;
	struct joined *joined = calloc((size_t)options->words, sizeof(struct joined));
	int status = IMC_DONE, left, i;

	if (!joined)
		return imc_failed(session, "joining", -FI_ENOMEM, 0);
	imc_catch();
	for (i = 0; i < options->words && !status && !imc_stopped(); i++)
		status = join_one(session, options->word[i], &joined[i]);
	if (!status && !options->stay)
		status = hold(session, joined);
	if (status || !options->stay) {
		left = leave_all(session, joined, options->words);
		status = status ? status : left;
	}
	free(joined);
	return status;
}

int imc_leave(struct imc_session *session)
{
	const struct imc_options *options = session->options;
	struct imc_name name;
	int status = IMC_DONE, one, i;

	for (i = 0; i < options->words; i++) {
		one = imc_find_name(session, options->word[i], &name, NULL);
		if (!one)
			one = imc_leave_group(session, name.mgid, options->state);
		if (one)
			status = one;
	}
	return status;
}
