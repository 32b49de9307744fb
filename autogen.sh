#!/bin/sh
# Makes ./configure. Needs autoconf, automake, libtool, autoconf-archive and pkg-config.
set -e
cd "$(dirname "$0")"
mkdir -p m4
exec autoreconf --force --install --warnings=all "$@"
