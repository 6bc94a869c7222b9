// SPDX-License-Identifier: Apache-2.0
// A job as operations that wait for each other: what each rank computes, sends and receives, and
// what must have ended before. Whatever is no pipelined ring comes down to it: trees and exchanges,
// the schedule of a step, imported traces. The model is that of GOAL (Hoefler, Schneider,
// Lumsdaine: LogGOPSim, HPDC 2010): an operation begins when all that it waits for has ended.
//
//   program.c        adding operations            program_seal.c  partners, order, checks
//   program_run.c    what may begin, what ended
//
// A send ends when its bytes may be used again: the transport has completed it. A receive ends when
// the message that it is matched with is there, and all that it waits for has ended. Messages of a
// pair of ranks with one tag are matched in the order in which they were added. A receive never
// holds a message back: what arrives early lies where it belongs.
//
// Streams say what a rank can do at the same time: computations of one stream run one after the
// other, in the order in which they become ready (then of their index). Streams of a rank are
// counted from 0; each number up to the largest takes a little memory. Sends and receives have no
// stream: the NIC shares itself.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/refusal.h>
#include <weft/core/time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RING_TAG 64u	      // messages of a step's rings have tags from here on
#define RING_CREDIT_BYTES 64u // of a ring's credit as a message: NCCL's entry in the sender's FIFO
#define OP_NONE UINT32_MAX

// What a computation takes whose end somebody outside tells (world_external_compute.h). It keeps no
// stream busy: who computes it has an order of its own.
#define OP_EXTERNAL_COMPUTE_PS PS_NEVER

enum op_kind {
	OP_COMPUTE,    // takes `compute_ps` of its stream
	OP_SEND,       // `bytes` from `offset` of the rank's buffer to rank `peer`
	OP_RECEIVE,    // `bytes` from rank `peer` to `offset` of the rank's buffer
	OP_COLLECTIVE, // the rank's part of bucket `bucket` of group `group`, on the group's ring
	OP_KIND_COUNT
};

struct op {
	uint8_t kind;	 // enum op_kind
	bool is_sum;	 // receive: is added to what lies there, else it takes its place
	uint16_t stream; // compute
	uint32_t rank;
	union {
		struct {
			uint32_t peer, tag, bytes;
			uint32_t twin;	 // the operation that it is matched with; program_seal()
			uint64_t offset; // of the rank's buffer; 0 where nobody looks at the data
		};
		ps_t compute_ps;
		struct {
			uint32_t group, at, bucket; // see program_collective()
		};
	};
	uint32_t waits_for;		 // so many operations of its rank
	uint32_t next_first, next_count; // in program.next: those of its rank that wait for it
};

// "compute", "send", "receive", "collective".
const char *op_kind_name(enum op_kind kind);

struct job; // workload.h

struct program {
	uint32_t ranks;
	uint32_t op_count, op_max;
	struct op *ops; // [op_max]
	uint32_t edge_count, edge_max;
	uint32_t *edge_from, *edge_to; // [edge_max], as added
	uint32_t *next;		       // [edge_count], after program_seal()
	uint64_t *stream_first; // [ranks + 1] streams of all ranks before, after program_seal()
	uint32_t *nics;	       // [ranks] NIC of each rank; rank = NIC until somebody says otherwise
	uint64_t buffer_bytes; // of each rank: the largest offset + bytes, offsets below 2^63
	const struct job *job; // of its collectives; NULL: there are none
	// of the job's ranks and buckets the operation, after program_seal():
	// program_collective_of()
	uint32_t *collectives;
	uint64_t *collective_first; // [groups + 1]
	uint32_t nics_each;	    // ranks of the source have so many, each a rank here; 0 is 1
	uint32_t refused_op;	    // that program_seal() refused, to tell a place; else OP_NONE
	bool is_sealed;
	bool has_foreign; // a foreign end sends, too: what fits no receive is counted
	// of what is sent to it: its first receive; messages before this receive have no immediate
	// value, and those from it on the values 0, 1 and so on
	uint32_t immediate_first;
	uint64_t plain_bytes; // that it writes behind all receives, without immediate values
};

// An empty program with room for so many operations and dependencies. -EINVAL without ranks,
// -ENOMEM.
int program_create(struct program **ret, struct arena *arena, uint32_t ranks, uint32_t op_max,
		   uint32_t edge_max, struct refusal *refusal);

// Bytes that program_create() and program_seal() draw, roughly from above, collectives apart: a
// word of four for each of their operations and buckets, eight for each group.
uint64_t program_bytes(uint32_t ranks, uint32_t op_max, uint32_t edge_max);

// Each adds an operation and returns its index. Ranks, peers and the room were checked by the
// caller: our bug otherwise. Bytes are 1 .. UINT32_MAX: a longer message is several. A rank sends
// nothing to itself.
uint32_t program_compute(struct program *program, uint32_t rank, uint16_t stream, ps_t compute_ps);
uint32_t program_send(struct program *program, uint32_t rank, uint32_t to, uint32_t tag,
		      uint32_t bytes, uint64_t offset);
uint32_t program_receive(struct program *program, uint32_t rank, uint32_t from, uint32_t tag,
			 uint32_t bytes, uint64_t offset, bool is_sum);

// Collectives run on the pipelined rings of a job (workload.h: channels, chunks, slices and
// credits). The job's groups say who takes part: rank number `at` of group `group` is the one at
// NIC groups[group].gpus[at], so nics[] is set before. Its buckets, counted from 0 within the
// group, are run one after the other in their order, each once by each of its ranks; a bucket
// starts at a rank when its operation may begin there and the bucket before has ended there, and
// ends there when the rank's part is done. The buckets' own release times hold as well: 0 says
// nothing.
//
//	program_use_job(program, &job);      // before the first; the job outlives the program
//	op = program_collective(program, rank, group, at, bucket);
void program_use_job(struct program *program, const struct job *job);
uint32_t program_collective(struct program *program, uint32_t rank, uint32_t group, uint32_t at,
			    uint32_t bucket);

// After program_seal(): the operation of rank number `at` of a group that runs this bucket.
uint32_t program_collective_of(const struct program *program, uint32_t group, uint32_t at,
			       uint32_t bucket);

// `op` waits for `before`; both of one rank. Nothing when `before` is OP_NONE.
void program_wait(struct program *program, uint32_t op, uint32_t before);

// Matches sends with receives, sorts dependencies, checks that every operation can end. -EINVAL
// with rank, operation and reason: a send without a receive or the reverse, other sizes, a bucket
// that a rank does not run or runs twice, a circle (messages and collectives are part of it).
// -ENOMEM.
int program_seal(struct program *program, struct arena *arena, struct refusal *refusal);

// ---------------------------------------------------------------- running one

// The state of every operation of a program while it runs. One object for all ranks, or one for
// each: an operation is touched by the calls for its own rank alone.
struct program_run;

// -ENOMEM. The program is sealed and stays as it is.
int program_run_create(struct program_run **ret, struct arena *arena,
		       const struct program *program);

// The next operation of `rank` that may begin now, once each: sends to post, computations to time,
// collectives to start once those of earlier buckets have ended.
// Receives are never returned; they end by themselves. OP_NONE when there is nothing to do. Call
// until OP_NONE after each event, and once at the start.
uint32_t program_run_next(struct program_run *run, uint32_t rank);

// Whether program_run_next() has returned `op`.
bool program_run_has_begun(const struct program_run *run, uint32_t op);

// Events: a computation has taken its time, a send has completed, a rank's part of a collective is
// done; a message's bytes are there
// (`receive` is the twin of its send).
void program_run_ended(struct program_run *run, uint32_t op);
void program_run_arrived(struct program_run *run, uint32_t receive);

// Whether the message of a receive has come.
bool program_run_has_arrived(const struct program_run *run, uint32_t receive);

// Operations of `rank` that have not ended.
uint32_t program_run_left(const struct program_run *run, uint32_t rank);

#ifdef __cplusplus
}
#endif
