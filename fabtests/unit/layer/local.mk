# The example layer over libfabric's own tcp provider, where it is called as libfabric would call it, and over the
# scripted provider.
check_PROGRAMS += fabtests/unit/unit_layer
TESTS += fabtests/unit/unit_layer
fabtests_unit_unit_layer_SOURCES = \
	$(EXAMPLE_LAYER_SOURCES) \
	fabtests/unit/layer/layer_world.c \
	fabtests/unit/layer/layer_world.h \
	fabtests/unit/layer/test_close.c \
	fabtests/unit/layer/test_events.c \
	fabtests/unit/layer/test_info.c \
	fabtests/unit/layer/test_open.c \
	fabtests/unit/layer/test_pass.c \
	fabtests/unit/layer/test_refused.c \
	fabtests/unit/layer/test_threads.c \
	fabtests/unit/script/pair.c \
	fabtests/unit/script/pair.h
nodist_EXTRA_fabtests_unit_unit_layer_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_layer_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit -I$(top_srcdir)/examples/layer \
	-I$(top_srcdir)/fabtests/unit/script $(LIBFABRIC_CFLAGS)
fabtests_unit_unit_layer_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG) \
	$(SCRIPT_EXPORT)
fabtests_unit_unit_layer_LDADD = fabtests/unit/script/libscript.la fabtests/unit/libct.la \
	prov/common/libcairn-common.la $(LIBFABRIC_LIBS)
EXTRA_DIST += fabtests/unit/layer/local.mk
