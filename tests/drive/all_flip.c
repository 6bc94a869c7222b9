// SPDX-License-Identifier: Apache-2.0
// The frames are the truth: what is done to the bytes of a frame between two ports shows in the
// result. A byte that the ICRC covers costs the frame, and the transport repairs it; whatever the
// byte is, a run ends whole and its books balance (they are checked at the end of every run).

#include <weft/wire/wire.h>

#include "truth.h"

#define BTH_AT(ip) ((ip) == 4 ? 42u : 62u)
#define HEADERS_BYTES 36u // BTH, METH, TSETH, RETH

enum what { DATA, SACKS };

// Which byte of which frame is changed.
struct flip {
	uint32_t ip;
	enum what what;
	uint32_t nth;	 // of these, on all cables
	uint32_t passed; // switches that it has passed: 0 to 3
	uint32_t offset;
	uint8_t mask;
	// what was found
	uint32_t frames, length, done;
};

static bool is_of(const struct flip *flip, const uint8_t *bytes)
{
	uint8_t opcode = bytes[BTH_AT(flip->ip)];
	bool is_data = opcode >= PACKET_WRITE_FIRST && opcode <= PACKET_WRITE_ONLY_IMM;
	return flip->what == DATA ? is_data : opcode == PACKET_SACK;
}

// The hop limit tells how many switches a frame has passed.
static uint32_t passed_of(const struct flip *flip, const uint8_t *bytes)
{
	struct wire_config config;
	wire_config_default((uint8_t)flip->ip, &config);
	return (uint32_t)(config.hop_limit - bytes[flip->ip == 4 ? 14 + 8 : 14 + 7]);
}

static void flip_byte(void *context, const struct cable_plan *cable, ps_t at, uint8_t *bytes,
		      uint32_t length)
{
	struct flip *flip = context;
	if (flip->done > 0 || !is_of(flip, bytes) || passed_of(flip, bytes) != flip->passed)
		return;
	if (flip->frames++ != flip->nth)
		return;
	flip->length = length;
	flip->done = 1;
	if (flip->offset < length)
		bytes[flip->offset] ^= flip->mask;
}

static void run_flipped(const char *yaml, struct flip *flip, struct rig *ret)
{
	const struct sim_options options = {.ports = {.kind = PORTS_MEMORY,
						      .watch = flip_byte,
						      .watch_context = flip,
						      .watch_changes = true}};
	rig_run_with(ret, yaml, NULL, &options);
	assert_int_equal(flip->done, 1);
}

// The run is whole: all that was sent is there once, and what was verified was right.
static void check_whole(const struct rig *rig)
{
	const struct transport_counters *transport = &rig->outcome->transport;
	uint64_t bad = 0;
	for (int i = 0; i < WIRE_REASON_COUNT; i++)
		bad += rig->run.bad_frames[i];
	assert_int_equal(rig->run.end, RUN_DONE);
	assert_true(rig->run.is_drained);
	assert_int_equal(rig->run.held, 0);
	assert_int_equal(rig->run.dropped[DROP_BAD_FRAME], bad);
	assert_int_equal(rig->run.payload_bytes_wrong, 0);
	assert_int_equal(rig->run.payload_bytes_good, transport->payload_bytes_new);
	assert_int_equal(transport->payload_bytes_placed, transport->payload_bytes_new);
	assert_int_equal(transport->qps_failed, 0);
	assert_int_equal(rig->run.ports.sent, rig->run.ports.received);
}

// ---------------------------------------------------------------- one byte of payload

static const char flow[] =
	"name: flip\nfabric: {nics: 4, nics_per_t0: 2, t1_count: 2, link_rate: 100Gb/s}\n"
	"transport: {evs: 8, rto: 40us, payload: 1024B}\n"
	"traffic: {kind: flows, flows: [{from: 0, to: 3, bytes: 40000B}]}\n"
	"limits: {packets: 2000, memory: 64MiB, time: 1s}\n";

static void a_flipped_payload_byte_is_dropped_and_repaired(void **state)
{
	static struct rig truth, rig;
	rig_run(&truth, flow, NULL);
	for (uint32_t passed = 0; passed < 4; passed++) {
		struct flip flip = {.ip = 6,
				    .nth = 7,
				    .passed = passed,
				    .mask = 0x10,
				    .offset = BTH_AT(6) + HEADERS_BYTES + 500};
		uint64_t rtx = 0;
		run_flipped(flow, &flip, &rig);
		check_whole(&rig);
		assert_int_equal(rig.run.bad_frames[WIRE_BAD_ICRC], 1);
		assert_int_equal(rig.run.dropped[DROP_BAD_FRAME], 1);
		for (int i = 0; i < RTX_REASON_COUNT; i++)
			rtx += rig.outcome->transport.rtx[i];
		assert_true(rtx >= 1);
		assert_int_not_equal(rig.run.digest, truth.run.digest);
		world_instance_free(&rig.world_instance);
	}
	world_instance_free(&truth.world_instance);
}

// ---------------------------------------------------------------- every byte

// Two small messages, so that something is under way whatever happens to one frame.
#define SMALL(ip, checksum) \
	"name: flip\nfabric: {nics: 4, nics_per_t0: 2, t1_count: 2, link_rate: 100Gb/s}\n" \
	"transport: {evs: 8, rto: 40us, payload: 1024B}\n" \
	"wire: {ip: " ip ", udp_checksum: " checksum "}\n" \
	"traffic: {kind: flows, flows: [{from: 0, to: 3, bytes: 45B}, {from: 2, to: 1, bytes: " \
	"45B}]}\nlimits: {packets: 500, memory: 32MiB, time: 1s}\n"

// Flips each bit alone, and all of them, of each byte of one frame.
static void flip_every_byte(const char *yaml, uint32_t ip, enum what what, uint32_t passed)
{
	static struct rig rig;
	uint64_t runs = 0, dropped = 0;
	for (uint32_t offset = 0, length = 1; offset < length; offset++) {
		for (uint32_t bit = 0; bit <= 8; bit++) {
			struct flip flip = {.ip = ip,
					    .what = what,
					    .passed = passed,
					    .offset = offset,
					    .mask = bit < 8 ? (uint8_t)(1u << bit) : 0xff};
			run_flipped(yaml, &flip, &rig);
			check_whole(&rig);
			length = flip.length;
			runs++;
			dropped += rig.run.dropped[DROP_BAD_FRAME];
			world_instance_free(&rig.world_instance);
		}
	}
	printf("IPv%u, %s, behind %u switches: %llu flips, %llu dropped frames\n", ip,
	       what == DATA ? "data" : "SACK", passed, (unsigned long long)runs,
	       (unsigned long long)dropped);
	assert_true(dropped > runs / 2);
}

static void any_byte_of_a_data_frame_may_flip(void **state)
{
	flip_every_byte(SMALL("6", "false"), 6, DATA, 0);
	flip_every_byte(SMALL("6", "true"), 6, DATA, 3);
	flip_every_byte(SMALL("4", "false"), 4, DATA, 1);
}

static void any_byte_of_a_sack_may_flip(void **state)
{
	flip_every_byte(SMALL("6", "true"), 6, SACKS, 0);
	flip_every_byte(SMALL("6", "false"), 6, SACKS, 3);
	flip_every_byte(SMALL("4", "true"), 4, SACKS, 2);
}

// ---------------------------------------------------------------- noise

struct noise {
	struct rng rng;
	uint64_t flips;
};

// One frame of 64, on any cable, loses a bit.
static void flip_some(void *context, const struct cable_plan *cable, ps_t at, uint8_t *bytes,
		      uint32_t length)
{
	struct noise *noise = context;
	if (rng_below(&noise->rng, 64) != 0)
		return;
	uint32_t place = rng_below(&noise->rng, length);
	bytes[place] ^= (uint8_t)(1u << rng_below(&noise->rng, 8));
	noise->flips++;
}

static void runs_end_whole_on_cables_that_flip_bits(void **state)
{
	static struct rig rig;
	for (size_t i = 0; i < TRUTH_CASES * 4; i++) {
		const struct truth_case *test = &truth_cases[i % TRUTH_CASES];
		struct noise noise = {.rng = rng_of(i, RNG_TEST, 3)};
		const struct sim_options options = {.ports = {.kind = PORTS_MEMORY,
							      .watch = flip_some,
							      .watch_context = &noise,
							      .watch_changes = true}};
		if (test->end != RUN_DONE)
			continue;
		rig_run_with(&rig, test->yaml, NULL, &options);
		check_whole(&rig);
		uint64_t fewest = rig.run.hops / 64 /
			4; // of hops / 64; some flip what nobody reads
		if (noise.flips <= fewest || rig.run.dropped[DROP_BAD_FRAME] <= fewest / 2)
			fail_msg("%s: %u flips, %llu dropped frames in %llu hops", test->name,
				 (unsigned)noise.flips,
				 (unsigned long long)rig.run.dropped[DROP_BAD_FRAME],
				 (unsigned long long)rig.run.hops);
		world_instance_free(&rig.world_instance);
	}
}
