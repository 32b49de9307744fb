/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What processes share, and the process as one of them: segments, the locks and bells in
 * them, the registry of who is there.
 */
#ifndef SVB_SHARED_SHARED_H
#define SVB_SHARED_SHARED_H

#include "bell.h"
#include "counts.h"
#include "lock.h"
#include "registry.h"
#include "segment.h"
#include "self.h"

#endif
