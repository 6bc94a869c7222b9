// SPDX-License-Identifier: Apache-2.0
// What frames over ring ports cost, stage by stage.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/fifo.h>
#include <weft/core/machine.h>
#include <weft/core/refusal.h>
#include <weft/ports/dpdk.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RING_SLICES_MAX 200

// Where the time of a loop over ring ports goes.
enum ring_stage {
	RING_RX,
	RING_PARSE,    // headers
	RING_CHECK,    // ICRC of what came
	RING_ENDPOINT, // machines
	RING_VERIFY,   // payload against the pattern
	RING_BUFFERS,  // frames taken from and given to the pool
	RING_BUILD,    // headers
	RING_FILL,     // payload
	RING_SEAL,     // ICRC of what goes
	RING_TX,
	RING_STAGE_COUNT
};

enum ring_loop { RING_ENDPOINTS, RING_BARE, RING_LOOP_COUNT };

struct ring_bench_options {
	struct dpdk_options dpdk;
	// NICs 0, which sends data, and 1; port 0 each. They keep to their outbox's capacity.
	struct machine ends[2];
	struct packet_pool *packets; // of both
	struct fifo_pool *chunks;
	uint16_t payload_bytes;
	ps_t packet_ps;	    // virtual time that a data packet takes
	uint32_t backlog;   // data frames that lie on a cable before they are looked at, 32 and up
	uint32_t data_path; // frames that are left alone before they are used again
	bool has_icrc;
	uint32_t slices; // of each loop, in turn
	uint32_t slice_ms;
};

struct ring_slice {
	uint64_t packets; // with payload, verified
	uint64_t ticks;
	uint64_t stage_ticks[RING_STAGE_COUNT]; // their sum is `ticks`
};

struct ring_bench_result {
	struct ring_slice slices[RING_LOOP_COUNT][RING_SLICES_MAX];
	uint64_t ticks_per_s;
	bool has_cycles;	 // ticks are the CPU's; else nanoseconds
	uint32_t frames;	 // in the pool
	uint32_t frame_bytes;	 // of a data frame
	uint64_t sent, received; // frames, as the ports counted
	uint64_t missed;
	uint64_t held;	     // frames that did not come back to the pool
	uint64_t bad_frames; // that did not parse, or whose ICRC was wrong
	uint64_t payload_bytes_good, payload_bytes_wrong;
};

// Lets the two machines exchange frames over ring ports, in turn with a loop that does only the
// same bytes' work. Starts DPDK if that was not done; draws from `arena`, which is not sealed.
int ring_bench_run(const struct ring_bench_options *options, struct arena *arena,
		   struct ring_bench_result *ret, struct refusal *refusal);

#ifdef __cplusplus
}
#endif
