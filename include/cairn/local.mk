noinst_HEADERS = \
	include/cairn/addr.h \
	include/cairn/attr.h \
	include/cairn/av.h \
	include/cairn/bytes.h \
	include/cairn/cntr.h \
	include/cairn/compat.h \
	include/cairn/cq.h \
	include/cairn/deadline.h \
	include/cairn/ep.h \
	include/cairn/eq.h \
	include/cairn/list.h \
	include/cairn/lock.h \
	include/cairn/lower.h \
	include/cairn/mr.h \
	include/cairn/nic.h \
	include/cairn/nosys.h \
	include/cairn/opt.h \
	include/cairn/param.h \
	include/cairn/pass.h \
	include/cairn/pmem.h \
	include/cairn/ring.h \
	include/cairn/slab.h \
	include/cairn/thread.h \
	include/cairn/tsan.h \
	include/cairn/wait.h
