/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes of fi_cairn_link: an endpoint on a device of its own, with libfabric's calls. */
#ifndef FCL_NODE_H
#define FCL_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room of an answer, which is one line. */
#define FCL_TEXT 512

/* Each does what its name says at a node, A to C, and answers with a line: "joined", an
 * error by name, or what has come. */

/* how: "send", "recv", or NULL: both. Waits for the event. */
void fcl_join(char node, const char *group, const char *how, char *answer);
/* Does not wait. */
void fcl_ask(char node, const char *group, const char *how, char *answer);
void fcl_leave(char node, const char *group, char *answer);
/* The next event of the node. */
void fcl_event(char node, char *answer);
void fcl_send(char node, const char *group, const char *text, char *answer);
/* A datagram of so many bytes. */
void fcl_send_long(char node, const char *group, size_t len, char *answer);
/* The next datagram that it receives; "nothing" if there is none now. */
void fcl_take(char node, char *answer);
/* Sends until another node has one; what came before there is forgotten, and what the
 * third one has got of it counted as well. */
void fcl_reach(char from, const char *group, char to, char *answer);
/* All nodes look at what has come. */
void fcl_settle(char *answer);
/* The datagrams that were for nobody. */
void fcl_dropped(char node, char *answer);
/* The node's objects are closed, whatever it has joined. */
void fcl_close(char node);

#endif
