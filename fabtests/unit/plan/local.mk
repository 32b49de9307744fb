# SPDX-License-Identifier: BSD-2-Clause
# The plans of durable operations on the machine model of simverbs: no verbs, no device.
check_PROGRAMS += fabtests/unit/unit_plan
# Nothing of it runs in threads, and it is long.
if !TSAN
TESTS += fabtests/unit/unit_plan
endif
fabtests_unit_unit_plan_SOURCES = \
	fabtests/unit/plan/scripts.c \
	fabtests/unit/plan/scripts.h \
	fabtests/unit/plan/test_mutation.c \
	fabtests/unit/plan/test_safe.c \
	fabtests/unit/simverbs/machine/methods.c \
	fabtests/unit/simverbs/machine/methods.h \
	fabtests/unit/simverbs/machine/methods_run.h \
	fabtests/unit/simverbs/machine/methods_words.c \
	prov/pverbs/persist/plan/plan.c \
	prov/pverbs/persist/plan/plan.h \
	util/simverbs/machine/machine.c \
	util/simverbs/machine/machine.h \
	util/simverbs/machine/choice.c \
	util/simverbs/machine/maybe.c \
	util/simverbs/machine/memory.c \
	util/simverbs/machine/parts.h \
	util/simverbs/machine/save.c \
	util/simverbs/machine/unseen.c \
	util/simverbs/vg.h
nodist_EXTRA_fabtests_unit_unit_plan_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_plan_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit \
	-I$(top_srcdir)/fabtests/unit/simverbs -I$(top_srcdir)/prov/pverbs \
	-I$(top_srcdir)/util/simverbs $(LIBFABRIC_CFLAGS) $(VERBS_CFLAGS)
fabtests_unit_unit_plan_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_plan_LDADD = fabtests/unit/libct.la $(LIBFABRIC_LIBS)
