# SPDX-License-Identifier: BSD-2-Clause
# The scripted provider (script.h): part of the programs that test layers, which take
#	LDADD $(script_libs), and LDFLAGS $(script_export)
# and of a plugin by which libfabric finds it there; another one is for the layer under test.
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/fabtests/unit
script_export = -Wl,--export-dynamic-symbol=scr_prov_ini -Wl,--export-dynamic-symbol=scr_tested_ini
check_LIBRARIES += %D%/libscript.a
%C%_libscript_a_SOURCES = %D%/pair.c %D%/pair.h %D%/atomic.c %D%/cm.c %D%/ep.c %D%/event.c \
	%D%/fabric.c %D%/hold.c %D%/mr.c %D%/msg.c %D%/offer.c %D%/pep.c %D%/post.c %D%/post.h \
	%D%/queues.c %D%/rma.c %D%/script.c %D%/script.h %D%/srx.c %D%/tagged.c %D%/work.c \
	%D%/world.h
script_libs = %D%/libscript.a

check_LTLIBRARIES += %D%/libscript-fi.la %D%/libtested-fi.la
%C%_libscript_fi_la_SOURCES = %D%/plugin.c
# -rpath makes libtool build a shared object, though it is not installed.
%C%_libscript_fi_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -rpath /nonexistent
%C%_libtested_fi_la_SOURCES = %D%/tested.c
%C%_libtested_fi_la_LDFLAGS = $(%C%_libscript_fi_la_LDFLAGS)
