# SPDX-License-Identifier: BSD-2-Clause
# The plans of durable operations on the machine model of simverbs: no verbs, no device.
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/fabtests/unit/simverbs -I$(srcdir)/prov/pverbs \
	-I$(srcdir)/util/simverbs
check_PROGRAMS += fabtests/unit/unit_plan
# Nothing of it runs in threads, and it is long.
if !TSAN
TESTS += fabtests/unit/unit_plan
endif
fabtests_unit_unit_plan_SOURCES = %D%/scripts.c %D%/scripts.h %D%/test_mutation.c %D%/test_safe.c \
	fabtests/unit/simverbs/machine/methods.c fabtests/unit/simverbs/machine/methods.h \
	fabtests/unit/simverbs/machine/methods_run.h \
	fabtests/unit/simverbs/machine/methods_words.c
fabtests_unit_unit_plan_LDADD = $(ct_libs) prov/pverbs/libpverbs-objs.a \
	util/simverbs/libsimverbs-verbs.a $(LIBFABRIC_LIBS)
