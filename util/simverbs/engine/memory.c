/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "engine.h"
#include "tsan.h"

#ifdef __SANITIZE_THREAD__
uint64_t svb_tsan_place[SVB_TSAN_PLACES];
#endif

bool svb_span_of_sges(struct svb_span *span, struct svb_seg *seg, uint32_t pd,
		      const struct ibv_sge *sge, uint32_t count, uint32_t access)
{
	void *where;
	uint32_t i;

	span->seg = seg;
	span->count = 0;
	span->length = 0;
	for (i = 0; i < count && i < SVB_MAX_SGE; i++) {
		if (!sge[i].length)
			continue;
		if (!svb_mr_check(seg, sge[i].lkey, pd, 0, access, sge[i].addr,
				  sge[i].length, &where))
			return false;
		span->iov[span->count++] = (struct iovec){where, sge[i].length};
		span->length += sge[i].length;
	}
	return true;
}

void svb_span_of_range(struct svb_span *span, struct svb_seg *seg, void *where,
		       size_t len)
{
	span->seg = seg;
	span->count = len ? 1 : 0;
	span->length = len;
	span->iov[0] = (struct iovec){where, len};
}

void svb_span_cut(struct svb_span *span, size_t len)
{
	int i;

	if (len >= span->length)
		return;
	span->length = len;
	for (i = 0; len > span->iov[i].iov_len; i++)
		len -= span->iov[i].iov_len;
	span->iov[i].iov_len = len;
	span->count = span->length ? i + 1 : 0;
}

void svb_span_skip(struct svb_span *span, size_t len)
{
	int i = 0;

	len = len < span->length ? len : span->length;
	span->length -= len;
	while (i < span->count && len >= span->iov[i].iov_len)
		len -= span->iov[i++].iov_len;
	span->count -= i;
	memmove(span->iov, span->iov + i, (size_t)span->count * sizeof(span->iov[0]));
	if (!span->count)
		return;
	span->iov[0].iov_base = (char *)span->iov[0].iov_base + len;
	span->iov[0].iov_len -= len;
}

static void svb_copy(const struct svb_span *to, const struct svb_span *from)
{
	size_t at_to = 0, at_from = 0, left = from->length, len;
	const struct iovec *t = to->iov, *f = from->iov;

	while (left) {
		len = t->iov_len - at_to;
		if (len > f->iov_len - at_from)
			len = f->iov_len - at_from;
		if (len > left)
			len = left;
		/* The two may overlap: a program may write to where it reads from. */
		memmove((char *)t->iov_base + at_to, (char *)f->iov_base + at_from, len);
		left -= len;
		at_to += len;
		at_from += len;
		if (at_to == t->iov_len) {
			t++;
			at_to = 0;
		}
		if (at_from == f->iov_len) {
			f++;
			at_from = 0;
		}
	}
}

static void svb_forbidden(const struct svb_seg *seg, pid_t pid, int err)
{
	const char *then = svb_self.settings.copy == SVB_COPY_DIRECT
				   ? "its memory is out of reach"
				   : "a thread of it copies instead, which is slower";
	static bool said;

	if (__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		return;
	if (pid)
		fprintf(stderr,
			"simverbs: process_vm_writev(2) to process %u fails (%s): %s; "
			"allow it by kernel.yama.ptrace_scope below 2, in a container "
			"by CAP_SYS_PTRACE or a seccomp profile with it\n",
			seg->pid, strerror(err), then);
	else
		fprintf(stderr,
			"simverbs: process %u runs in another PID namespace, out of "
			"reach "
			"of process_vm_writev(2): %s; start both processes in one PID "
			"namespace\n",
			seg->pid, then);
}

/* One call moves at most 2 GiB, and what a fault cut short is tried again from there. */
static int svb_transfer(struct svb_span *own, struct svb_span *other, bool write)
{
	struct svb_peer *peer = &svb_self.peer[other->seg->index % SVB_PROC_MAX];
	pid_t pid = (pid_t)peer->pid;
	ssize_t done;

	if (peer->relayed || svb_self.settings.copy == SVB_COPY_THREAD)
		return svb_relay_transfer(own, other, write);
	while (own->length) {
		done = write ? process_vm_writev(pid, own->iov, (unsigned long)own->count,
						 other->iov, (unsigned long)other->count,
						 0)
			     : process_vm_readv(pid, own->iov, (unsigned long)own->count,
						other->iov, (unsigned long)other->count,
						0);
		/* No process has the number 0. */
		if (done < 0 && (errno == EPERM || errno == ENOSYS || !pid)) {
			svb_forbidden(other->seg, pid, errno);
			if (svb_self.settings.copy == SVB_COPY_DIRECT)
				return EPERM;
			peer->relayed = true;
			/* It will be the same the other way round. */
			svb_relay_start();
			return svb_relay_transfer(own, other, write);
		}
		if (done <= 0)
			return done < 0 ? errno : EFAULT;
		svb_span_skip(own, (size_t)done);
		svb_span_skip(other, (size_t)done);
	}
	return 0;
}

int svb_move(const struct svb_span *to, const struct svb_span *from)
{
	struct svb_span own, other;

	if (!from->length)
		return 0;
	if (to->seg == from->seg && to->seg == svb_self.seg) {
		svb_tsan_adapter_begins();
		svb_copy(to, from);
		svb_tsan_adapter_ends();
		return 0;
	}
	if (to->seg != svb_self.seg && from->seg != svb_self.seg)
		return EFAULT;
	own = from->seg == svb_self.seg ? *from : *to;
	other = from->seg == svb_self.seg ? *to : *from;
	svb_span_cut(&own, from->length);
	svb_span_cut(&other, from->length);
	return svb_transfer(&own, &other, from->seg == svb_self.seg);
}

int svb_move_in(const struct svb_span *to, const void *from, size_t len)
{
	struct svb_span span;

	svb_span_of_range(&span, svb_self.seg, (void *)(uintptr_t)from, len);
	return svb_move(to, &span);
}

int svb_move_out(void *to, const struct svb_span *from, size_t len)
{
	struct svb_span span, part = *from;

	svb_span_of_range(&span, svb_self.seg, to, len);
	svb_span_cut(&part, len);
	return svb_move(&span, &part);
}
