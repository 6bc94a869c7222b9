// SPDX-License-Identifier: Apache-2.0
// What PFC does to a fabric, against closed forms: a flow beside an incast, which shares only a
// trunk that is wide enough with it; and ports that wait for each other in a ring.

#include "../rig.h"

#define FULL_PS (4150 * 80)  // at 100 Gb/s
#define TRUNK_PS (4150 * 20) // at 400 Gb/s
#define ACK_PS (64 * 80)
#define ACK_TRUNK_PS (64 * 20)
#define PACKETS 2000

// NICs 0 to 2 send to NIC 4, NIC 3 to NIC 5, over one spine whose links carry all four. The victim
// starts when the trunk has sent the first packets of the others, so that none is in its way.
static const char incast[] =
	"name: victim\n"
	"fabric: {topology: leaf-spine, nics: 8, nics_per_t0: 4, t1_count: 1, link_rate: 100Gb/s, "
	"trunk_rate: 400Gb/s, nic_delay: 1us, trunk_delay: 1us, switch_delay: 0ns}\n"
	"transport: {kind: mrc, payload: 4086B, header: 64B, control: 64B, evs: 16, path: rotate, "
	"sack_rule: htsim, completion: sack, hole_age: off, rto: 100ms}\n"
	"cc: {algorithm: fixed, window: 100MB}\n"
	"traffic: {kind: flows, flows: [{from: 0, to: 4, bytes: 24516000B}, {from: 1, to: 4, "
	"bytes: 24516000B}, {from: 2, to: 4, bytes: 24516000B}, {from: 3, to: 5, bytes: 8172000B, "
	"start: 249ns}]}\n" // the victim: 2,000 packets
	"limits: {packets: 60000}\n";

static struct rig rig;

// When the victim's last byte was acknowledged, since its start.
static ps_t victim_ps(const char *const *sets)
{
	rig_run(&rig, incast, sets);
	assert_int_equal(rig.run.end, RUN_DONE);
	for (int reason = 0; reason < DROP_REASON_COUNT; reason++)
		assert_int_equal(rig.outcome->dropped[reason] + rig.run.dropped[reason], 0);
	return rig.outcome->flow_end_ps[3] - 249 * PS_PER_NS;
}

// Closed form of an idle network with unequal rates: T = sum of s_j + (N-1) max s_j + delays, and
// the acknowledgement back. Tolerance: 1 ns.
static void without_pfc_the_victim_is_untouched(void **state)
{
	(void)state;
	ps_t there = 2 * FULL_PS + 2 * TRUNK_PS + (PACKETS - 1) * (ps_t)FULL_PS + 4 * PS_PER_US;
	ps_t back = 2 * ACK_PS + 2 * ACK_TRUNK_PS + 4 * PS_PER_US;
	ps_t measured = victim_ps((const char *const[]){"queue.trim=false", "queue.ecn=false",
							"queue.bytes=100MB", NULL});
	assert_time(measured, there + back);
	world_instance_free(&rig.world_instance);
}

// With PFC the trunk waits for the incast: of four packets on it three are for NIC 4, which takes
// them at C, so that all four flows go on with C / 3. The victim takes three times as long as
// alone, but for what found room in the switches before. Tolerance: what these hold, of the victim.
static void with_pfc_the_victim_has_the_rate_of_the_incast(void **state)
{
	(void)state;
	ps_t measured = victim_ps((const char *const[]){"queue.pfc=true", "queue.ecn=false",
							"queue.bytes=100kB", NULL});
	const struct topology *topology = &rig.world_instance.world.topology;
	ps_t whole = 3 * PACKETS * (ps_t)FULL_PS;
	// three in-ports on its way: at the first switch its own, then two that all four share
	uint64_t room = topology->pfc_xoff_bytes + topology->pfc_headroom_high_bytes;
	ps_t held_ps = (ps_t)(3 * room) * 80;
	if (measured > whole + held_ps || measured < whole - 2 * held_ps)
		fail_msg("%lld ps, but three times alone is %lld, and switches hold %lld",
			 (long long)measured, (long long)whole, (long long)held_ps);
	const struct pause_counters *pause = &rig.outcome->fabric.pause;
	assert_true(pause->pauses_received > 0); // it spread over switches
	assert_true(rig.world_instance.world.pauses->nic_pauses > 0);
	assert_true(pause->headroom_bytes_max <= topology->pfc_headroom_high_bytes);
	assert_int_equal(rig.world_instance.world.pauses->deadlock_count, 0);
	world_instance_free(&rig.world_instance);
}

// Frames that were sent came to NICs or switches; a port that is paused waits.
static void frames_and_times_add_up(void **state)
{
	(void)state;
	victim_ps((const char *const[]){"queue.pfc=true", "queue.ecn=false", "queue.bytes=100kB",
					NULL});
	const struct pause_counters *pause = &rig.outcome->fabric.pause;
	const struct world_pauses *pauses = rig.world_instance.world.pauses;
	assert_int_equal(pause->pauses_sent, pause->pauses_received + pauses->nic_pauses);
	assert_int_equal(pause->resumes_sent, pause->resumes_received + pauses->nic_resumes);
	assert_int_equal(pause->pauses_sent, pause->resumes_sent); // each was short
	// cables into the first switch of the four senders, and the two trunks on the way
	assert_int_equal(pauses->cable_count, 6);
	ps_t listed_ps = 0;
	for (uint32_t i = 0; i < pauses->listed_count; i++)
		listed_ps += pauses->listed[i].paused_ps;
	assert_int_equal(listed_ps, pauses->nic_paused_ps + (ps_t)pause->paused_ps);
	world_instance_free(&rig.world_instance);
}

// ---------------------------------------------------------------- deadlock

// Four switches in a ring; each NIC sends to the one opposite. From two on the way there are two
// equal ways; the seed says which is taken.
static const char ring[] =
	"name: ring\n"
	"fabric: {topology: graph, nics: 4, link_rate: 100Gb/s, nodes: [{name: a, nics: 1}, {name: "
	"b, nics: 1}, {name: c, nics: 1}, {name: d, nics: 1}], links: [{from: a, to: b}, {from: b, "
	"to: c}, {from: c, to: d}, {from: d, to: a}]}\n"
	"queue: {pfc: true, ecn: false, bytes: 50kB}\n"
	"cc: {algorithm: fixed}\ntransport: {kind: rc, rto: 100ms}\n"
	"traffic: {kind: flows, flows: [{from: 0, to: 2, bytes: 2MB}, {from: 1, to: 3, bytes: "
	"2MB}, {from: 2, to: 0, bytes: 2MB}, {from: 3, to: 1, bytes: 2MB}]}\n"
	"limits: {time: 5ms}\n";

// The seeds of a ring in which all four go around the same way are those that stand still.
static void ports_that_wait_in_a_ring_are_found(void **state)
{
	(void)state;
	uint32_t found = 0;
	for (int seed = 1; seed <= 40; seed++) {
		char set[32];
		snprintf(set, sizeof(set), "seed=%d", seed);
		rig_run(&rig, ring, (const char *const[]){set, NULL});
		const struct world_pauses *pauses = rig.world_instance.world.pauses;
		assert_int_equal(rig.run.end, pauses->deadlock_count > 0 ? RUN_TIME : RUN_DONE);
		assert_int_equal(rig.outcome->fabric.dropped[DROP_HEADROOM_FULL], 0);
		if (pauses->deadlock_count > 0) {
			found++;
			assert_int_equal(pauses->deadlock_count, 4);
			for (uint32_t i = 0; i < 4; i++) { // each leads to where the next begins
				const struct cable_plan *cables = rig.world_instance.world.cables;
				uint32_t here = pauses->deadlock[i];
				uint32_t next = pauses->deadlock[(i + 1) % 4];
				assert_int_equal(cables[here].to_machine,
						 cables[next].from_machine);
			}
		}
		world_instance_free(&rig.world_instance);
	}
	assert_in_range(found, 1, 20); // two of sixteen ways around
}

static uint64_t seed_with_deadlock(void)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		char set[32];
		snprintf(set, sizeof(set), "seed=%d", (int)seed);
		rig_run(&rig, ring, (const char *const[]){set, NULL});
		bool is_found = rig.world_instance.world.pauses->deadlock_count > 0;
		world_instance_free(&rig.world_instance);
		if (is_found)
			return seed;
	}
	return 0;
}

// The cure that operators use costs packets, and there is no deadlock any more.
static void a_watch_that_drops_ends_it(void **state)
{
	(void)state;
	char set[32];
	snprintf(set, sizeof(set), "seed=%d", (int)seed_with_deadlock());
	rig_run(&rig, ring,
		(const char *const[]){set, "queue.pfc_watch=1ms", "transport.rto=200us", NULL});
	assert_int_equal(rig.run.end, RUN_TIME); // to be counted is no cure
	assert_int_equal(rig.world_instance.world.pauses->deadlock_count, 4);
	assert_int_equal(rig.outcome->fabric.pause.watch_fired, 4);
	world_instance_free(&rig.world_instance);
	rig_run(&rig, ring,
		(const char *const[]){set, "queue.pfc_watch=200us", "queue.pfc_watch_action=drop",
				      "transport.rto=200us", "limits.time=1s", NULL});
	assert_int_equal(rig.world_instance.world.pauses->deadlock_count, 0);
	assert_true(rig.outcome->fabric.pause.watch_fired > 0);
	assert_true(rig.outcome->fabric.dropped[DROP_PAUSE_WATCH] > 0);
	world_instance_free(&rig.world_instance);
}

// Five routers in a row that is closed, each sends to the one after the next: dimension order goes
// the same way around for all.
static const char torus[] =
	"name: torus\n"
	"fabric: {topology: torus, nics: 5, nics_per_t0: 1, torus_x: 5, torus_y: 1, link_rate: "
	"100Gb/s}\n"
	"queue: {ecn: false, bytes: 50kB}\n"
	"transport: {kind: rc, rto: 200us}\n"
	"cc: {algorithm: fixed, window: 400kB}\n"
	"traffic: {kind: flows, flows: [{from: 0, to: 2, bytes: 1MB}, {from: 1, to: 3, bytes: "
	"1MB}, {from: 2, to: 4, bytes: 1MB}, {from: 3, to: 0, bytes: 1MB}, {from: 4, to: 1, "
	"bytes: 1MB, start: %s}]}\n"
	"limits: {time: 5ms}\n";

static uint32_t deadlock_of(const char *start, const char *const *sets, enum run_end end)
{
	char text[2048];
	snprintf(text, sizeof(text), torus, start);
	rig_run(&rig, text, sets);
	assert_int_equal(rig.run.end, end);
	uint32_t count = rig.world_instance.world.pauses == NULL
		? 0
		: rig.world_instance.world.pauses->deadlock_count;
	world_instance_free(&rig.world_instance);
	return count;
}

static void a_torus_with_dimension_order_comes_to_one(void **state)
{
	(void)state;
	static const char *const kinds[] = {"fabric.switching=store_and_forward",
					    "fabric.switching=cut_through", "queue.shared=100kB"};
	for (int i = 0; i < 3; i++) {
		const char *const sets[] = {"queue.pfc=true", kinds[i], NULL};
		assert_int_equal(deadlock_of("0ns", sets, RUN_TIME), 5);
		// without the flow that closes the ring, until the others are done, there is none
		assert_int_equal(deadlock_of("2ms", sets, RUN_DONE), 0);
	}
	// nor where packets are dropped
	assert_int_equal(deadlock_of("0ns", NULL, RUN_DONE), 0);
}
