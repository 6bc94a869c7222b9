// SPDX-License-Identifier: Apache-2.0
// Collectives as programs: (collective, algorithm, group, bytes, channels) becomes sends and
// receives that wait for each other, with the offsets of every message, so that the data can be
// checked. The pipelined ring of NCCL's Simple protocol, with its slices and credits, is a machine
// of its own (workload.h); what is here has no credits: a send leaves when its bytes are there.
//
//   coll.c          names, checks, sizes        coll_put.c    adding operations
//   coll_choose.c   what NCCL would take        coll_data.c   values, and what becomes of them
//   coll_ring.c     rings and chains            coll_tree.c   binary and double binary trees
//   coll_halving.c  halving and doubling        coll_pat.c    PAT
//   coll_direct.c   everyone with everyone      coll_levels.c, coll_exchange.c   hierarchical
//
// The result does not depend on the order in which messages arrive or operations run: a receive
// may take its bytes as soon as they are sent, so what a message overwrites has always been read,
// and sums that meet in one place commute (tests/property/workload_coll.c plays every order).
//
// A rank's buffer. `bytes` is S as nccl-tests' column "size" has it:
//   all_reduce, reduce, broadcast  [0, S): the values, then the result (reduce, broadcast: `root`)
//   reduce_scatter                 [0, S): the values; block r of rank r is its result, the rest is
//                                  scratch afterwards
//   all_gather                     [0, S): block r of rank r, then all blocks
//   gather, scatter                as all_gather and its reverse, with `root`
//   send_receive                   [0, S) to the next rank, [S, 2 S) from the one before
//   all_to_all                     [0, S): block r is for rank r; from `coll_out()` on: the blocks
//                                  of all ranks, each as long as the block that is this rank's. A
//                                  rank's block for itself is copied by nobody: it is no traffic.
// Block r of n is elements [E r / n, E (r + 1) / n) of the E elements: blocks differ by one at
// most.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/refusal.h>
#include <weft/core/time.h>
#include <weft/workload/program.h>

#ifdef __cplusplus
extern "C" {
#endif

// As nccl-tests names them (all_reduce_perf, sendrecv_perf, ...).
enum coll_kind {
	COLL_REDUCE_SCATTER, // these three as enum collective_kind has them
	COLL_ALL_GATHER,
	COLL_ALL_REDUCE,
	COLL_ALL_TO_ALL,
	COLL_BROADCAST,
	COLL_REDUCE,
	COLL_GATHER,
	COLL_SCATTER,
	COLL_SEND_RECEIVE,
	COLL_KIND_COUNT
};

enum coll_algorithm {
	COLL_RING,	       // reduce, broadcast: a chain
	COLL_TREE,	       // one binary tree, NCCL's shape
	COLL_DOUBLE_TREE,      // two, each with half of the data; a rank is a leaf in one of them
	COLL_HALVING_DOUBLING, // Rabenseifner
	COLL_PAT,	       // parallel aggregated trees, NCCL 2.23; one rank per domain
	COLL_DIRECT,	       // everyone with everyone
	COLL_HIERARCHICAL,     // inside the domains, across them, inside
	COLL_ALGORITHM_COUNT
};

// "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", ...
const char *coll_kind_name(enum coll_kind kind);
// "ring", "tree", "double_tree", "halving_doubling", "pat", "direct", "hierarchical".
const char *coll_algorithm_name(enum coll_algorithm algorithm);

// Whether one rank has a part of its own.
bool coll_has_root(enum coll_kind kind);

// Whether there is such a form of a collective.
bool coll_is_known(enum coll_kind kind, enum coll_algorithm algorithm);

#define COLL_RANKS_MAX 65536u
#define COLL_CHANNELS_MAX 64u
#define COLL_CHUNK_BYTES_MAX (UINT32_C(1) << 30)

struct coll_config {
	enum coll_kind kind;
	enum coll_algorithm algorithm;
	uint32_t ranks;
	uint64_t bytes;		// S
	uint32_t element_bytes; // what messages are cut at: 1, 2, 4, 8
	uint32_t channels;	// parts that do not wait for each other, with a tag each; in rings
				// and trees channel c leaves a domain by its member c % domain
	uint32_t
		chunk_bytes; // longest message. Pieces of rings and trees flow on their own; a step
			     // of the others is as many messages as it takes. 1 element .. 1 GiB
	uint32_t domain;     // ranks r / domain share a scale-up domain; divides `ranks`
	uint32_t root;	     // broadcast, reduce, gather, scatter
	uint32_t peers; // direct, of blocks: others that a rank sends to at once on each channel;
			// 0: all
};

// -EINVAL with the reason: no such algorithm of it, halving-doubling of a number of ranks that is
// no power of two (all_reduce folds the rest, the others cannot), PAT with several ranks a domain,
// bytes that are no whole elements, ...
int coll_check(const struct coll_config *config, struct refusal *refusal);

// Operations and dependencies that coll_put() adds, exactly; with the joins of `is_joined`. Checked
// configurations only. -EOVERFLOW when they are more than a program can have.
int coll_count(const struct coll_config *config, struct arena *arena, bool is_joined,
	       uint32_t *ret_ops, uint32_t *ret_edges, struct refusal *refusal);

// Where a collective goes in a program.
struct coll_place {
	const uint32_t *ranks; // [config.ranks] rank of the program behind each member; NULL: same
	uint32_t *after; // [config.ranks] in: what each member's first operations wait for; out: an
			 // operation (of no time) that ends with the member's part. NULL: neither
	uint32_t tag;	 // the collective takes tags [tag, tag + channels)
	uint16_t stream; // of the operations of no time
	uint64_t offset; // of its buffer in the ranks' buffers
};

// Adds the operations to a program that has the room. -ENOMEM from `arena`, which holds what is
// needed meanwhile (coll_bytes()). The caller seals.
int coll_put(struct program *program, struct arena *arena, const struct coll_config *config,
	     const struct coll_place *place, struct refusal *refusal);

// A message, as coll_walk() passes it on. What it waits for is said in marks that the caller gave.
struct coll_message {
	uint32_t from, to; // ranks
	uint64_t bytes;	   // 1 and more
	uint32_t after;	   // the mark of what the sender must have first; OP_NONE: nothing
	uint32_t before;   // the same of what the receiver must have before this counts as received
};

// The caller's marks of a message, anything but OP_NONE: of the time when its sender has sent it,
// and of when its receiver has it.
struct coll_marks {
	uint32_t sent, received;
};

typedef struct coll_marks coll_walk_fn(void *context, const struct coll_message *message);

// Tells all messages that coll_put() would add, each after those that it waits for, and stores
// none. Checked configurations only. -ENOMEM from `arena`, which holds coll_bytes() meanwhile.
int coll_walk(const struct coll_config *config, struct arena *arena, coll_walk_fn *tell,
	      void *context, struct refusal *refusal);

// Bytes that coll_count(), coll_put() and coll_walk() draw each.
uint64_t coll_bytes(const struct coll_config *config);

// A sealed program with this collective alone: coll_check(), coll_count(), program_create(),
// coll_put(), program_seal().
int coll_program(struct program **ret, struct arena *arena, const struct coll_config *config,
		 struct refusal *refusal);

// First byte and length of block `rank` of the buffer.
uint64_t coll_block_offset(const struct coll_config *config, uint32_t rank);
uint64_t coll_block_bytes(const struct coll_config *config, uint32_t rank);

// Where an all_to_all's or send_receive's results begin.
uint64_t coll_out(const struct coll_config *config);

// Bytes of each rank's buffer that hold what goes in and what comes out; a program's buffer_bytes
// is more where there is scratch behind.
uint64_t coll_buffer_bytes(const struct coll_config *config);

// ---------------------------------------------------------------- data

// Writes what `rank` has before into coll_buffer_bytes(): unsigned integers of the elements' size,
// low byte first, other ones for each rank and element.
void coll_fill(const struct coll_config *config, uint32_t rank, uint8_t *ret);

// Elements of a rank's buffer that are not what the collective promises of coll_fill()'s values
// (sums modulo 2^bits). Parts that it leaves open count as right.
uint64_t coll_wrong(const struct coll_config *config, uint32_t rank, const uint8_t *buffer);

// ---------------------------------------------------------------- figures

// What algorithm bandwidth S / t is multiplied with to give bus bandwidth: nccl-tests,
// doc/PERFORMANCE.md.
double coll_bus_factor(enum coll_kind kind, uint32_t ranks);

#define COLL_PARTS 2

// What a model of times goes by.
struct coll_lines {
	uint64_t bus_bps;	      // of the NICs of one domain together
	uint64_t inside_bps;	      // of one GPU inside a domain of several
	double inside_us, network_us; // a hop inside a domain, and between any two
	double near_us;		      // between two domains of the lowest part
	double ring_us;		      // between two domains that follow each other, on average
	struct {
		uint32_t ranks;	 // one after the other, whole domains of them
		uint64_t up_bps; // of all links that leave them; 0: there is no such tier
	} parts[COLL_PARTS]; // of the fabric: below a T0, a pod. Rails: one rail's, a rank of each
			     // domain
	bool is_rail;	     // member i of every domain is on rail i
};

// The likely fastest of what NCCL would choose among (coll_choose.c). The algorithm of `config` is
// not looked at. *ret_other: the one that may be as fast, for all that such a model can tell; the
// same where there is none.
enum coll_algorithm coll_choose(const struct coll_config *config, const struct coll_lines *lines,
				enum coll_algorithm *ret_other);

#ifdef __cplusplus
}
#endif
