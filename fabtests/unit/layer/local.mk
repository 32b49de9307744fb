# The example layer over libfabric's own tcp provider. It is called as libfabric would call it.
check_PROGRAMS += fabtests/unit/unit_layer
TESTS += fabtests/unit/unit_layer
fabtests_unit_unit_layer_SOURCES = \
	$(EXAMPLE_LAYER_SOURCES) \
	fabtests/unit/layer/layer_world.c \
	fabtests/unit/layer/layer_world.h \
	fabtests/unit/layer/test_close.c \
	fabtests/unit/layer/test_info.c \
	fabtests/unit/layer/test_open.c
nodist_EXTRA_fabtests_unit_unit_layer_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_layer_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit -I$(top_srcdir)/examples/layer \
	$(LIBFABRIC_CFLAGS)
fabtests_unit_unit_layer_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_layer_LDADD = fabtests/unit/libct.la \
	prov/common/libcairn-common.la $(LIBFABRIC_LIBS)
EXTRA_DIST += fabtests/unit/layer/local.mk
