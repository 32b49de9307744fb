/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BIND_CONN_TO_SESSION (RFC 8881 section 18.34): fore channel alone, back channel alone
 * on another connection of rpcrdma or of TCP, and both on one.
 */
#include <string.h>
#include <unistd.h>

#include "contest.h"
#include "tcp.h"

static struct nfs_contest contest;
static struct nfc_conn other;

/* The keeper's connection is lost; the next one is bound as dir says. */
static enum nfs_verdict rebind(struct nfs_place *place, uint32_t dir, bool back)
{
	contest.keeper.dir = dir;
	if (nfs_lose(place, &contest.keeper, &contest.kept))
		return NFS_FAILED;
	if (contest.keeper.back != back)
		return nfs_failed(place, back ? "no back channel"
					      : "a back channel that nobody wanted");
	return NFS_PASSED;
}

/* The server says whether it has a way for its Calls (section 18.46.3). */
static enum nfs_verdict path_down(struct nfs_place *place, bool down)
{
	const uint32_t bits = SEQ4_STATUS_CB_PATH_DOWN | SEQ4_STATUS_CB_PATH_DOWN_SESSION;
	const uint64_t end = lnk_now_ms() + 60000;
	struct nfc_attrs attrs;

	do {
		if (nfc_attrs(&contest.keeper, &contest.kept.handle, &attrs))
			return nfs_failed_in(place, &contest.keeper, "attributes");
		if (!(contest.keeper.status_flags & bits) == !down)
			return NFS_PASSED;
		nfc_conn_rest(&contest.keeper.conn, 50);
	} while (lnk_now_ms() < end);
	return nfs_failed(place, "the server %s a way for its Calls",
			  down ? "believes to have" : "does not see");
}

static enum nfs_verdict fore_alone(struct nfs_place *place)
{
	enum nfs_verdict verdict = rebind(place, CDFC4_FORE, false);

	return verdict ? verdict : path_down(place, true);
}

static int rest_other(void *arg, int ms)
{
	return nfc_conn_rest(arg, ms);
}

static enum nfs_verdict back_on_other(struct nfs_place *place)
{
	struct nfc_session *keeper = &contest.keeper;
	uint32_t dir;

	if (nfc_conn_open(&other, &place->where) || nfc_conn_connect(&other))
		return nfs_failed(place, "another connection: %s", other.link.why);
	other.serve = nfc_callback_serve;
	other.serve_arg = &keeper->callbacks;
	if (nfc_bind(keeper, &other, CDFC4_BACK, &dir))
		return nfs_failed_in(place, keeper, "the back channel");
	if (dir != CDFS4_BACK)
		return nfs_failed(place, "bound as %u instead of the back channel", dir);
	contest.rest = rest_other;
	contest.arg = &other;
	return path_down(place, false);
}

enum nfs_verdict nfs_case_bind_back(struct nfs_place *place)
{
	enum nfs_verdict verdict = nfs_contest_open(place, &contest, "recalled-back");

	memset(&other, 0, sizeof(other));
	if (!verdict)
		verdict = fore_alone(place);
	if (!verdict)
		verdict = back_on_other(place);
	if (!verdict)
		verdict = nfs_contest_recall(place, &contest);
	nfc_conn_close(&other);
	nfs_contest_close(&contest);
	return verdict;
}

enum nfs_verdict nfs_case_bind_both(struct nfs_place *place)
{
	enum nfs_verdict verdict = nfs_contest_open(place, &contest, "recalled-both");

	if (!verdict)
		verdict = fore_alone(place);
	if (!verdict)
		verdict = rebind(place, CDFC4_FORE_OR_BOTH, true);
	if (!verdict)
		verdict = path_down(place, false);
	if (!verdict)
		verdict = nfs_contest_recall(place, &contest);
	nfs_contest_close(&contest);
	return verdict;
}

/* ---- the back channel on TCP ---- */

static int rest_tcp(void *arg, int ms)
{
	struct nfs_tcp *tcp = arg;

	/* What the fore channel may have to say meanwhile. */
	nfc_conn_rest(&contest.keeper.conn, 0);
	return nfs_tcp_serve(tcp, &contest.keeper.callbacks, ms) < 0
		       ? lnk_fail(&contest.keeper.conn.link, -FI_ECONNRESET,
				  "the TCP connection has ended")
		       : 0;
}

static enum nfs_verdict back_on_tcp(struct nfs_place *place, struct nfs_tcp *tcp)
{
	enum nfs_verdict verdict = fore_alone(place);
	uint32_t dir;

	if (verdict)
		return verdict;
	if (!nfs_tcp_bind(tcp, contest.keeper.id, CDFC4_BACK, &dir))
		return nfs_failed(place, "BIND_CONN_TO_SESSION over TCP");
	if (dir != CDFS4_BACK)
		return nfs_failed(place, "bound as %u instead of the back channel", dir);
	contest.rest = rest_tcp;
	contest.arg = tcp;
	return path_down(place, false);
}

enum nfs_verdict nfs_case_bind_tcp(struct nfs_place *place)
{
	enum nfs_verdict verdict;
	struct nfs_tcp tcp;

	if (!nfs_tcp_open(&tcp, place->where.host, place->tcp_port)) {
		nfs_failed(place, "the server does not listen on TCP port %s",
			   place->tcp_port);
		return NFS_SKIPPED;
	}
	verdict = nfs_contest_open(place, &contest, "recalled-tcp");
	if (!verdict)
		verdict = back_on_tcp(place, &tcp);
	if (!verdict)
		verdict = nfs_contest_recall(place, &contest);
	if (!verdict && tcp.served != 1)
		verdict = nfs_failed(place, "%u Calls came over TCP", tcp.served);
	nfs_contest_close(&contest);
	close(tcp.fd);
	return verdict;
}
