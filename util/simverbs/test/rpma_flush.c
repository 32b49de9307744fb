/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rpma_flush ADDRESS PORT: a child writes to its parent's memory and flushes, both
 * through librpma. Ends with 0 when the flush completed and the parent found the bytes.
 */
#include <librpma.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE 4096

static const char text[] = "written and flushed";

static void need(int ret, const char *what)
{
	if (!ret)
		return;
	fprintf(stderr, "%s: %s\n", what, rpma_err_2str(ret));
	exit(1);
}

static struct rpma_peer *open_peer(const char *address,
				   enum rpma_util_ibv_context_type type)
{
	struct ibv_context *verbs;
	struct rpma_peer *peer;

	need(rpma_utils_get_ibv_context(address, type, &verbs),
	     "rpma_utils_get_ibv_context");
	need(rpma_peer_new(verbs, &peer), "rpma_peer_new");
	return peer;
}

static struct rpma_mr_local *open_memory(struct rpma_peer *peer, int usage, char **memory)
{
	struct rpma_mr_local *mr;

	*memory = aligned_alloc(SIZE, SIZE);
	memset(*memory, 0, SIZE);
	need(rpma_mr_reg(peer, *memory, SIZE, usage, &mr), "rpma_mr_reg");
	return mr;
}

static void need_event(struct rpma_conn *conn, enum rpma_conn_event wanted)
{
	enum rpma_conn_event event;

	need(rpma_conn_next_event(conn, &event), "rpma_conn_next_event");
	if (event == wanted)
		return;
	fprintf(stderr, "%s instead of %s\n", rpma_utils_conn_event_2str(event),
		rpma_utils_conn_event_2str(wanted));
	exit(1);
}

static int client(const char *address, const char *port)
{
	struct rpma_peer *peer = open_peer(address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct rpma_conn_private_data data;
	struct rpma_mr_remote *remote;
	struct rpma_mr_local *local;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct ibv_wc wc;
	char *memory;

	local = open_memory(peer, RPMA_MR_USAGE_WRITE_SRC, &memory);
	memcpy(memory, text, sizeof(text));
	need(rpma_conn_req_new(peer, address, port, NULL, &req), "rpma_conn_req_new");
	need(rpma_conn_req_connect(&req, NULL, &conn), "rpma_conn_req_connect");
	need_event(conn, RPMA_CONN_ESTABLISHED);
	need(rpma_conn_get_private_data(conn, &data), "rpma_conn_get_private_data");
	/* Private data is padded; the first byte says how long the descriptor is. */
	need(rpma_mr_remote_from_descriptor((char *)data.ptr + 1, *(uint8_t *)data.ptr,
					    &remote),
	     "rpma_mr_remote_from_descriptor");
	need(rpma_write(conn, remote, 0, local, 0, sizeof(text),
			RPMA_F_COMPLETION_ON_ERROR, NULL),
	     "rpma_write");
	need(rpma_flush(conn, remote, 0, sizeof(text), RPMA_FLUSH_TYPE_VISIBILITY,
			RPMA_F_COMPLETION_ALWAYS, NULL),
	     "rpma_flush");
	need(rpma_conn_get_cq(conn, &cq), "rpma_conn_get_cq");
	need(rpma_cq_wait(cq), "rpma_cq_wait");
	need(rpma_cq_get_wc(cq, 1, &wc, NULL), "rpma_cq_get_wc");
	if (wc.status != IBV_WC_SUCCESS) {
		fprintf(stderr, "flush: %s\n", ibv_wc_status_str(wc.status));
		return 1;
	}
	need(rpma_conn_disconnect(conn), "rpma_conn_disconnect");
	need_event(conn, RPMA_CONN_CLOSED);
	rpma_mr_remote_delete(&remote);
	need(rpma_conn_delete(&conn), "rpma_conn_delete");
	need(rpma_mr_dereg(&local), "rpma_mr_dereg");
	need(rpma_peer_delete(&peer), "rpma_peer_delete");
	free(memory);
	return 0;
}

static int server(const char *address, const char *port, int ready)
{
	struct rpma_peer *peer = open_peer(address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_conn_private_data data;
	struct rpma_conn_req *req;
	struct rpma_mr_local *mr;
	struct rpma_conn *conn;
	struct rpma_ep *ep;
	char descriptor[64], *memory;
	size_t size;
	bool same;

	mr = open_memory(peer,
			 RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_SRC |
				 RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY,
			 &memory);
	need(rpma_mr_get_descriptor_size(mr, &size), "rpma_mr_get_descriptor_size");
	descriptor[0] = (char)size;
	need(rpma_mr_get_descriptor(mr, descriptor + 1), "rpma_mr_get_descriptor");
	data.ptr = descriptor;
	data.len = (uint8_t)(size + 1);
	need(rpma_ep_listen(peer, address, port, &ep), "rpma_ep_listen");
	if (write(ready, "", 1) != 1)
		return 1;
	need(rpma_ep_next_conn_req(ep, NULL, &req), "rpma_ep_next_conn_req");
	need(rpma_conn_req_connect(&req, &data, &conn), "rpma_conn_req_connect");
	need_event(conn, RPMA_CONN_ESTABLISHED);
	need_event(conn, RPMA_CONN_CLOSED);
	same = !memcmp(memory, text, sizeof(text));
	if (!same)
		fprintf(stderr, "the bytes have not arrived\n");
	need(rpma_conn_disconnect(conn), "rpma_conn_disconnect");
	need(rpma_conn_delete(&conn), "rpma_conn_delete");
	need(rpma_ep_shutdown(&ep), "rpma_ep_shutdown");
	need(rpma_mr_dereg(&mr), "rpma_mr_dereg");
	need(rpma_peer_delete(&peer), "rpma_peer_delete");
	free(memory);
	return !same;
}

int main(int argc, char **argv)
{
	int ready[2], status, ret;
	pid_t pid;
	char byte;

	if (argc != 3 || pipe(ready))
		return 2;
	pid = fork();
	if (!pid) {
		close(ready[1]);
		return read(ready[0], &byte, 1) == 1 ? client(argv[1], argv[2]) : 1;
	}
	close(ready[0]);
	ret = server(argv[1], argv[2], ready[1]);
	if (waitpid(pid, &status, 0) != pid)
		return 1;
	return ret || status;
}
