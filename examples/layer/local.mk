# SPDX-License-Identifier: BSD-2-Clause
# A layer to copy from: built and tested, installed by nobody.
noinst_LIBRARIES += %D%/libexample.a
%C%_libexample_a_SOURCES = %D%/cq.c %D%/domain.c %D%/ep.c %D%/fabric.c %D%/info.c %D%/init.c \
	%D%/layer.h %D%/pep.c
# What is not installed is a convenience library to libtool, unless -rpath names a place.
example_ldflags = $(provider_ldflags) -rpath /nowhere
noinst_LTLIBRARIES += %D%/libexample_layer-fi.la
%C%_libexample_layer_fi_la_SOURCES =
%C%_libexample_layer_fi_la_LDFLAGS = $(example_ldflags) \
	$(call all_of,%D%/libexample.a,$(common_libs))
%C%_libexample_layer_fi_la_DEPENDENCIES = %D%/libexample.a $(filter %.a,$(common_libs))

# A second one, so that the tests can put a layer on a layer.
noinst_LIBRARIES += %D%/libexample_top.a
%C%_libexample_top_a_SOURCES = $(%C%_libexample_a_SOURCES)
%C%_libexample_top_a_CPPFLAGS = $(AM_CPPFLAGS) -DEXL_NAME='"example_top"'
noinst_LTLIBRARIES += %D%/libexample_top-fi.la
%C%_libexample_top_fi_la_SOURCES =
%C%_libexample_top_fi_la_LDFLAGS = $(example_ldflags) $(call all_of,%D%/libexample_top.a,$(common_libs))
%C%_libexample_top_fi_la_DEPENDENCIES = %D%/libexample_top.a $(filter %.a,$(common_libs))

TESTS += %D%/test-layer.sh
EXTRA_DIST += doc/writing-a-layer.md %D%/rooms %D%/test-layer.sh
