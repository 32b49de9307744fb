EXTRA_DIST += util/local.mk
