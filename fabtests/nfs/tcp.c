/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tcp.h"

#define MOST 8192u
#define LAST_FRAGMENT 0x80000000u
#define ANSWER_MS 60000
#define XID 0x43524e54u

bool nfs_tcp_open(struct nfs_tcp *tcp, const char *host, const char *port)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	const struct timeval limit = {.tv_sec = ANSWER_MS / 1000};
	struct addrinfo *found;
	bool connected;

	tcp->served = 0;
	if (getaddrinfo(host, port, &hints, &found))
		return false;
	tcp->fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	connected = tcp->fd >= 0 &&
		    !connect(tcp->fd, found->ai_addr, found->ai_addrlen) &&
		    !setsockopt(tcp->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (!connected && tcp->fd >= 0)
		close(tcp->fd);
	freeaddrinfo(found);
	return connected;
}

static bool send_record(const struct nfs_tcp *tcp, const uint8_t *bytes, size_t len)
{
	const uint32_t mark = htonl(LAST_FRAGMENT | (uint32_t)len);
	uint8_t record[sizeof(mark) + MOST];

	memcpy(record, &mark, sizeof(mark));
	memcpy(record + sizeof(mark), bytes, len);
	len += sizeof(mark);
	return send(tcp->fd, record, len, MSG_NOSIGNAL) == (ssize_t)len;
}

/* The bytes of a record, whose fragments are joined; 0: there is none. */
static size_t receive_record(const struct nfs_tcp *tcp, uint8_t *bytes)
{
	size_t len = 0, more;
	uint32_t mark;

	do {
		if (recv(tcp->fd, &mark, sizeof(mark), MSG_WAITALL) != sizeof(mark))
			return 0;
		mark = ntohl(mark);
		more = mark & ~LAST_FRAGMENT;
		if (more > MOST - len ||
		    recv(tcp->fd, bytes + len, more, MSG_WAITALL) != (ssize_t)more)
			return 0;
		len += more;
	} while (!(mark & LAST_FRAGMENT));
	return len;
}

bool nfs_tcp_bind(struct nfs_tcp *tcp, const sessionid4 session, uint32_t dir,
		  uint32_t *got)
{
	struct nfc_compound compound = {.count = 0};
	conn_to_session4 *args =
		&nfc_add(&compound, OP_BIND_CONN_TO_SESSION)->nfs_argop4_u.bind;
	uint8_t bytes[MOST];
	const nfs_resop4 *op;
	char why[LNK_WHY];
	COMPOUND4res res;
	size_t len;
	bool ok;

	memcpy(args->sessionid, session, sizeof(args->sessionid));
	args->dir = dir;
	len = nfc_pack_call(bytes, sizeof(bytes), XID, &compound);
	if (!len || !send_record(tcp, bytes, len))
		return false;
	len = receive_record(tcp, bytes);
	if (!len || nfc_parse_reply(bytes, len, &res, why))
		return false;
	op = res.ops.ops_val;
	ok = !res.status && res.ops.ops_len == 1 && op->op == OP_BIND_CONN_TO_SESSION;
	if (ok)
		*got = op->nfs_resop4_u.bind.BIND_CONN_TO_SESSION4res_u.ok.dir;
	nfc_free_reply(&res);
	return ok;
}

int nfs_tcp_serve(struct nfs_tcp *tcp, struct nfc_callbacks *callbacks, int ms)
{
	struct pollfd wait = {.fd = tcp->fd, .events = POLLIN};
	uint8_t call[MOST], answer[MOST];
	size_t len;

	if (poll(&wait, 1, ms) <= 0)
		return 0;
	len = receive_record(tcp, call);
	if (!len)
		return -1;
	len = nfc_callback_serve(callbacks, call, len, answer, sizeof(answer));
	tcp->served++;
	return len && send_record(tcp, answer, len) ? 0 : -1;
}
