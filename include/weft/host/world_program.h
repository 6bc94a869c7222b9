// SPDX-License-Identifier: Apache-2.0
// What a world holds of a program that its hosts run (include/weft/host/opgraph_host.h).
#pragma once

#include <stdint.h>

#include <weft/workload/mix.h>
#include <weft/workload/program.h>

// NIC `from_nic` sends messages of a program to another host's NIC.
struct opgraph_connection {
	uint32_t from_nic, to_nic;
	uint32_t qpn;  // first of the connection's QPs at the sender
	uint32_t turn; // the one that takes the next message, from 0
};

#define PROGRAM_STREAMS_MAX 8

// When an operation was begun at its rank (a receive: when its message was there), and when it
// ended; PS_NEVER: not yet.
struct op_time {
	ps_t begin_ps, end_ps;
};

// What a world holds of several jobs. All NULL and 0 where there is one.
struct world_jobs {
	const uint8_t *owner_of; // [nics] whose each is, or MIX_NOBODY
	// [cables][jobs of the scenario] wire bytes of data that the NICs of each sent over each,
	// written by the cables' shards
	uint64_t *bytes;
	uint64_t ops[MIX_PARTS_MAX]; // operations of each; 0: it does not run
	uint32_t *beside_qpn; // [nics] the first of the QPs there that receive traffic.beside,
			      // which is no job's; or NULL
};

// Of several jobs: what of one has ended.
struct outcome_job {
	ps_t end_ps;	// the last operation
	uint64_t ended; // operations
};

// Messages of a program that were sent, by what they went over.
struct outcome_program {
	uint64_t fabric_messages, fabric_bytes;
	uint64_t scaleup_messages, scaleup_bytes;
	uint64_t unexpected; // messages of foreign ends, that no receive waits for
};
