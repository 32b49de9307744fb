# SPDX-License-Identifier: BSD-2-Clause
# A layer to copy from: built and tested, installed by nobody.
noinst_LTLIBRARIES += %D%/libexample.la
%C%_libexample_la_SOURCES = %D%/cq.c %D%/domain.c %D%/ep.c %D%/fabric.c %D%/info.c %D%/init.c \
	%D%/layer.h %D%/pep.c
# What is not installed is a convenience library to libtool, unless -rpath names a place.
noinst_LTLIBRARIES += %D%/libexample_layer-fi.la
%C%_libexample_layer_fi_la_SOURCES =
%C%_libexample_layer_fi_la_LDFLAGS = $(provider_ldflags) -rpath /nowhere
%C%_libexample_layer_fi_la_LIBADD = %D%/libexample.la $(common_libs)

# A second one, so that the tests can put a layer on a layer.
noinst_LTLIBRARIES += %D%/libexample_top-fi.la
%C%_libexample_top_fi_la_SOURCES = $(%C%_libexample_la_SOURCES)
%C%_libexample_top_fi_la_CPPFLAGS = $(AM_CPPFLAGS) -DEXL_NAME='"example_top"'
%C%_libexample_top_fi_la_LDFLAGS = $(%C%_libexample_layer_fi_la_LDFLAGS)
%C%_libexample_top_fi_la_LIBADD = $(common_libs)

TESTS += %D%/test-layer.sh
EXTRA_DIST += doc/writing-a-layer.md %D%/rooms %D%/test-layer.sh
