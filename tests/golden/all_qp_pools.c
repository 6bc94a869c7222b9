// SPDX-License-Identifier: Apache-2.0
// Everyone with everyone over few QPs, while packets are lost and come again: each byte is placed
// once, each message is told once, and packets that come after their connection had to make room
// are answered as what they are, duplicates.

#include "../rig.h"

#include <weft/transport/transport_counters.h>

#define RANKS 48u

static const char everyone[] =
	"name: berths\n"
	"fabric: {topology: leaf-spine, nics: 48, nics_per_t0: 12, t1_count: 2, link_rate: "
	"400Gb/s}\n"
	"transport: {hole_age: off}\n"
	"traffic: {kind: collective, collective: all_to_all, algorithm: direct, ranks: 48, "
	"channels: 1, peers: 1, messages: made}\n"
	"faults:\n";
static const char losses[] = "  - {kind: loss, at: all, probability: 2%}\n";
static const char straggler[] = "  - {kind: slow, at: {nic: 7, plane: 0}, rate: 2%}\n";

static struct rig rig;

// All messages come, and each byte once.
static const struct outcome *run(const char *fault, const char *seed, const char *bytes)
{
	char yaml[1024];
	const char *const sets[] = {seed, bytes, NULL};
	snprintf(yaml, sizeof(yaml), "%s%s", everyone, fault);
	rig_run(&rig, yaml, sets);
	const struct outcome *outcome = rig.world_instance.world.outcome;
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_int_equal(outcome->program.fabric_messages, RANKS * (RANKS - 1));
	assert_int_equal(outcome->transport.payload_bytes_placed,
			 (RANKS - 1) * rig.scenario.traffic.bytes);
	return outcome;
}

static uint64_t sent_again(const struct transport_counters *counters)
{
	uint64_t again = 0;
	for (int reason = 0; reason < RTX_REASON_COUNT; reason++)
		again += counters->rtx[reason];
	return again;
}

static void what_comes_twice_is_placed_once(void **)
{
	static const char *const seeds[] = {"seed=1", "seed=2", "seed=3"};
	for (uint32_t i = 0; i < 3; i++) {
		const struct transport_counters *counters =
			&run(losses, seeds[i], "traffic.bytes=768KiB")->transport;
		printf("%s: %lu packets went again, %lu came twice\n", seeds[i],
		       (unsigned long)sent_again(counters), (unsigned long)counters->duplicates);
		assert_true(sent_again(counters) > 100);
		assert_true(counters->duplicates > 10);
		world_instance_free(&rig.world_instance);
	}
}

// All others come to wait for the NIC that is slow, more of them than it has places for: what
// finds none is lost and comes again, and the NIC's own messages go on.
static void what_finds_no_place_comes_again(void **)
{
	const struct outcome *outcome = run(straggler, "seed=1", "traffic.bytes=6MiB");
	uint64_t lost = outcome->dropped_at_host[DROP_UNKNOWN_QP];
	printf("%lu packets found no place, %lu went again\n", (unsigned long)lost,
	       (unsigned long)sent_again(&outcome->transport));
	assert_true(lost > 100);
	world_instance_free(&rig.world_instance);
}
