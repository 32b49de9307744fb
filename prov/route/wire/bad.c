/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire.h"

const char *rte_bad_text(enum rte_bad bad)
{
	static const char *const texts[RTE_BADS] = {
		[RTE_OK] = "nothing is wrong",
		[RTE_MORE] = "pieces are missing",
		[RTE_BAD_SHORT] = "it ends too early",
		[RTE_BAD_MAGIC] = "it is not of this protocol",
		[RTE_BAD_MAJOR] = "another major version",
		[RTE_BAD_MINOR] = "a minor version that was not agreed on",
		[RTE_BAD_TYPE] = "another type of message",
		[RTE_BAD_HLEN] = "wrong length of the header",
		[RTE_BAD_PLEN] = "wrong length of the payload",
		[RTE_BAD_FLAGS] = "flags that contradict each other or the body",
		[RTE_BAD_TLV] = "a malformed TLV",
		[RTE_BAD_CRITICAL] = "an unknown critical TLV",
		[RTE_BAD_TEXT] = "a text without its end, or not of printable ASCII",
		[RTE_BAD_LIMIT] = "a number beyond its bound",
		[RTE_BAD_RANGE] = "offset and length do not go together",
		[RTE_BAD_ORDER] = "a list out of order",
		[RTE_BAD_VALUE] = "a number without a meaning",
		[RTE_BAD_PIECE] = "not the piece that comes next",
	};

	return (unsigned int)bad < RTE_BADS ? texts[bad] : "unknown";
}
