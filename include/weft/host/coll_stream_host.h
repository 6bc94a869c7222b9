// SPDX-License-Identifier: Apache-2.0
// The part of a host that runs its rank of a collective stream (coll_stream.h), one rank a host:
// posts what is to be sent, tells the collective stream what was sent and what is here. Few others
// are reached over connections that are there from the start (lines, as an opgraph host's),
// everyone over pooled QPs.
//
//   coll_stream_host.c   while it runs     coll_stream_hosts.c  building: lines, checks
#pragma once

#include <stdint.h>

#include <weft/core/machine.h>
#include <weft/host/world_program.h>
#include <weft/workload/coll_stream.h>

#include <weft/host/nic.h>

// A message that found its QP full, or no QP.
struct coll_stream_host_wait {
	uint32_t number;
	uint32_t next; // behind it in its list, or in that of free ones; OP_NONE: none
};

// What the stream hosts of one shard's hosts share.
struct coll_stream_host {
	struct coll_stream *coll_stream;  // each host touches what belongs to its rank alone
	struct opgraph_connection *lines; // of the world
	const uint32_t *line_first; // [ranks + 1] lines from each rank; NULL: there are pooled QPs
	struct coll_stream_host_wait *waits; // [waits_max]
	uint32_t *waits_to;		     // [waits_max] whom it is for; NULL: no NIC lacks a QP
	uint32_t waits_fresh, waits_free, waits_max;
};
