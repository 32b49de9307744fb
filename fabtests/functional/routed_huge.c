/* SPDX-License-Identifier: BSD-2-Clause */
/* More than 4 GiB at once. */
#include <sys/mman.h>
#include <unistd.h>

#include "routed.h"

#define EDGE ((size_t)2 << 20)
#define FOLD ((size_t)64 << 20)
#define MIDDLE ((size_t)4 << 30)
#define HUGE_LEN (EDGE + MIDDLE + EDGE - 13)

/*
 * Its middle is the same memory again and again, so that it fits; both ends of it are
 * not: what went there by an offset cut short would show.
 */
static uint8_t *map_huge(void)
{
	int fd = memfd_create("middle", 0);
	uint8_t *at = mmap(NULL, 2 * EDGE + MIDDLE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t fold;
	bool well = fd >= 0 && at != MAP_FAILED && !ftruncate(fd, FOLD);

	for (fold = 0; fold < MIDDLE && well; fold += FOLD)
		well = mmap(at + EDGE + fold, FOLD, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED;
	if (fd >= 0)
		close(fd);
	if (well)
		return at;
	if (at != MAP_FAILED)
		munmap(at, 2 * EDGE + MIDDLE);
	return NULL;
}

static void fill_huge(uint8_t *at, uint64_t by)
{
	fct_fill(at, EDGE, by);
	fct_fill(at + EDGE, FOLD, by + 1);
	fct_fill(at + EDGE + MIDDLE, EDGE, by + 2);
}

static int compare_huge(const uint8_t *at, uint64_t by, const char *what)
{
	if (fct_compare(at, EDGE, by, 0, what) ||
	    fct_compare(at + EDGE, FOLD, by + 1, 0, what))
		return -1;
	return fct_compare(at + EDGE + MIDDLE, EDGE - 13, by + 2, 0, what);
}

static int wait_long(struct routed *r, const char *what)
{
	struct fct_wait w;
	int ret = 0;

	fct_wait_init(&w, what);
	w.end_ms = UINT64_MAX; /* the run's deadline holds */
	while (r->busy) {
		FCT_GET(ret, fct_routed_look(r));
		if (!ret && ++w.spins % 1024 == 0)
			FCT_DO(fct_wait_check(&w));
	}
	return 0;
}

static int use_huge(struct routed *r, struct fct_mem *m)
{
	struct routed_conn *conn = &r->conn[0];

	r->local.desc = m->desc;
	if (fct_is_server()) {
		FCT_CALL(fct_routed_recv(r, conn, m->buf, HUGE_LEN, 0));
		FCT_DO(fct_barrier("receive"));
		FCT_DO(wait_long(r, "a message of more than 4 GiB"));
		FCT_DO(compare_huge(m->buf, 1, "the message"));
		fill_huge(m->buf, 5);
		FCT_CALL(fct_routed_recv(r, conn, m->buf + HUGE_LEN, 1, 0));
		FCT_DO(fct_barrier("read"));
		FCT_DO(wait_long(r, "a read of more than 4 GiB"));
		FCT_CALL(fct_routed_recv(r, conn, m->buf + HUGE_LEN, 1, 0));
		FCT_DO(fct_barrier("write"));
		FCT_DO(wait_long(r, "a write of more than 4 GiB"));
		return compare_huge(m->buf, 9, "the write");
	}
	fill_huge(m->buf, 1);
	FCT_DO(fct_barrier("receive"));
	FCT_CALL(fct_routed_send(r, conn, m->buf, HUGE_LEN, 0));
	FCT_DO(wait_long(r, "a message of more than 4 GiB"));
	FCT_DO(fct_barrier("read"));
	FCT_CALL(fct_routed_read(r, conn, m->buf, HUGE_LEN, &r->peer, 0));
	FCT_DO(wait_long(r, "a read of more than 4 GiB"));
	FCT_DO(compare_huge(m->buf, 5, "the read"));
	FCT_DO(fct_routed_stop(r));
	fill_huge(m->buf, 9);
	FCT_DO(fct_barrier("write"));
	FCT_CALL(fct_routed_write(r, conn, m->buf, HUGE_LEN, &r->peer, 0));
	FCT_CALL(fct_routed_send(r, conn, m->buf, 1, 0));
	return wait_long(r, "a write of more than 4 GiB");
}

static void unmap_huge(uint8_t **at)
{
	if (*at)
		munmap(*at, 2 * EDGE + MIDDLE);
}

FCT_CASE(huge, "more than 4 GiB at once")
{
	const struct routed_size size = {
		.connections = 1, .ops = 8, .tx = 16, .rx = 16, .local = 4096};
	FCT_AUTO(unmap_huge) uint8_t *at = NULL;
	FCT_AUTO(fct_routed_end) struct routed r = {0};
	struct fct_target mine;
	struct fct_mem m = {0};

	if (!fct_routed.full)
		return fct_skip("takes long: with --full");
	FCT_DO(fct_routed_up(&r, &size));
	if (r.l.info->ep_attr->max_msg_size < HUGE_LEN)
		FCT_FAIL("messages of %zu bytes at most",
			 r.l.info->ep_attr->max_msg_size);
	at = map_huge();
	FCT_TRUE(at);
	FCT_DO(fct_mem_reg(&r.l, &m, at, 2 * EDGE + MIDDLE,
			   FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ |
				   FI_REMOTE_WRITE));
	mine = fct_mem_target(&r.l, &m);
	FCT_DO(fct_exchange("huge", &mine, &r.peer, sizeof(mine)));
	return use_huge(&r, &m);
}
