# SPDX-License-Identifier: BSD-2-Clause
# The scripted provider (script.h): part of the programs that test layers, which take
#	LDADD libscript.la, and LDFLAGS SCRIPT_EXPORT
# and of a plugin by which libfabric finds it there; another one is for the layer under test.
SCRIPT_EXPORT = -Wl,--export-dynamic-symbol=scr_prov_ini \
	-Wl,--export-dynamic-symbol=scr_tested_ini

check_LTLIBRARIES += fabtests/unit/script/libscript.la fabtests/unit/script/libscript-fi.la \
	fabtests/unit/script/libtested-fi.la
fabtests_unit_script_libscript_la_SOURCES = \
	fabtests/unit/script/atomic.c \
	fabtests/unit/script/cm.c \
	fabtests/unit/script/ep.c \
	fabtests/unit/script/event.c \
	fabtests/unit/script/fabric.c \
	fabtests/unit/script/hold.c \
	fabtests/unit/script/mr.c \
	fabtests/unit/script/msg.c \
	fabtests/unit/script/offer.c \
	fabtests/unit/script/pep.c \
	fabtests/unit/script/post.c \
	fabtests/unit/script/post.h \
	fabtests/unit/script/queues.c \
	fabtests/unit/script/rma.c \
	fabtests/unit/script/script.c \
	fabtests/unit/script/script.h \
	fabtests/unit/script/srx.c \
	fabtests/unit/script/tagged.c \
	fabtests/unit/script/work.c \
	fabtests/unit/script/world.h
fabtests_unit_script_libscript_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit \
	$(LIBFABRIC_CFLAGS)

fabtests_unit_script_libscript_fi_la_SOURCES = fabtests/unit/script/plugin.c
fabtests_unit_script_libscript_fi_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
# -rpath makes libtool build a shared object, though it is not installed.
fabtests_unit_script_libscript_fi_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version \
	-rpath /nonexistent

fabtests_unit_script_libtested_fi_la_SOURCES = fabtests/unit/script/tested.c
fabtests_unit_script_libtested_fi_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
fabtests_unit_script_libtested_fi_la_LDFLAGS = \
	$(fabtests_unit_script_libscript_fi_la_LDFLAGS)

check_PROGRAMS += fabtests/unit/unit_script
TESTS += fabtests/unit/unit_script
fabtests_unit_unit_script_SOURCES = \
	fabtests/unit/script/pair.c \
	fabtests/unit/script/pair.h \
	fabtests/unit/script/test_atomic.c \
	fabtests/unit/script/test_calls.c \
	fabtests/unit/script/test_cm.c \
	fabtests/unit/script/test_hold.c \
	fabtests/unit/script/test_info.c \
	fabtests/unit/script/test_layer.c \
	fabtests/unit/script/test_msg.c \
	fabtests/unit/script/test_rma.c \
	fabtests/unit/script/test_srx.c \
	fabtests/unit/script/test_tagged.c \
	fabtests/unit/script/test_threads.c
nodist_EXTRA_fabtests_unit_unit_script_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_script_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit \
	-I$(top_srcdir)/fabtests/unit/script $(LIBFABRIC_CFLAGS)
fabtests_unit_unit_script_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG) \
	$(CT_WRAP_TIME) $(SCRIPT_EXPORT)
fabtests_unit_unit_script_LDADD = fabtests/unit/script/libscript.la fabtests/unit/libct.la \
	prov/common/libcairn-common.la $(LIBFABRIC_LIBS)
