// SPDX-License-Identifier: Apache-2.0
// What tests of "two drivers, one truth" share beside their scenarios: the comparison of two runs,
// cell by cell, and clocks of the tests' own. It says nothing about which drivers are compared:
// each test does.
#pragma once

#include "truth_cases.h"

// ---------------------------------------------------------------- comparison

static void truth_count(const char *name, const char *what, uint64_t is, uint64_t should)
{
	if (is != should)
		fail_msg("%s: %s is %llu, not %llu", name, what, (unsigned long long)is,
			 (unsigned long long)should);
}

// Structs and arrays that hold nothing but numbers of 64 bits.
static void truth_counts(const char *name, const char *what, const void *is, const void *should,
			 size_t bytes)
{
	const uint64_t *a = is, *b = should;
	for (size_t i = 0; i < bytes / 8; i++)
		if (a[i] != b[i])
			fail_msg("%s: number %zu of %s is %llu, not %llu", name, i, what,
				 (unsigned long long)a[i], (unsigned long long)b[i]);
}

static void truth_hist(const char *name, const char *what, const struct hist *is,
		       const struct hist *should)
{
	truth_count(name, what, is->total, should->total);
	truth_count(name, what, is->cells, should->cells);
	truth_counts(name, what, is->counts, should->counts, should->cells * sizeof(uint64_t));
	if (should->total == 0)
		return;
	truth_count(name, what, is->sum, should->sum);
	truth_count(name, what, (uint64_t)is->min, (uint64_t)should->min);
	truth_count(name, what, (uint64_t)is->max, (uint64_t)should->max);
}

static void truth_outcome(const char *name, const struct rig *is, const struct rig *should)
{
	const struct outcome *a = is->outcome, *b = should->outcome;
	truth_counts(name, "transport", &a->transport, &b->transport, sizeof(a->transport));
	truth_counts(name, "fabric", &a->fabric, &b->fabric, sizeof(a->fabric));
	truth_counts(name, "drops", a->dropped, b->dropped, sizeof(a->dropped));
	truth_counts(name, "drops at hosts", a->dropped_at_host, b->dropped_at_host,
		     sizeof(a->dropped_at_host));
	truth_counts(name, "bytes by plane", a->plane_bytes_nic_max, b->plane_bytes_nic_max,
		     sizeof(a->plane_bytes_nic_max));
	for (int i = 0; i < PAIR_CLASS_COUNT; i++)
		truth_hist(name, "latency of messages", &a->message_ns[i], &b->message_ns[i]);
	truth_hist(name, "time of flows", &a->flow_ns, &b->flow_ns);
	for (uint32_t i = 0; i < b->racks.groups * b->racks.groups; i++)
		truth_hist(name, "latency between racks", &a->racks.of[i], &b->racks.of[i]);
	truth_counts(name, "ends of flows", a->flow_end_ps, b->flow_end_ps,
		     should->world_instance.world.flow_count * sizeof(ps_t));
	truth_count(name, "collectives", a->collective_count, b->collective_count);
	truth_counts(name, "collectives", a->collectives, b->collectives,
		     b->collective_count * sizeof(*b->collectives));
	truth_count(name, "last completion", (uint64_t)a->end_ps, (uint64_t)b->end_ps);
	truth_count(name, "credits", a->credits_sent, b->credits_sent);
	truth_counts(name, "program", &a->program, &b->program, sizeof(a->program));
}

// A switch that several ranks share is visited by each that has packets for it.
static void truth_visits(const char *name, const struct run *is, const struct run *should)
{
	if (is->ranks <= should->ranks)
		truth_count(name, "visits", is->visits, should->visits);
	if (is->visits < should->visits || is->visits > is->ranks * should->visits)
		fail_msg("%s: %llu visits by %u ranks, %llu by one", name,
			 (unsigned long long)is->visits, is->ranks,
			 (unsigned long long)should->visits);
}

// Two runs of one scenario are the same, whatever their drivers were.
static void truth_same(const char *name, const struct rig *is, const struct rig *should)
{
	const struct run *a = &is->run, *b = &should->run;
	truth_count(name, "end", a->end, b->end);
	truth_count(name, "is_drained", a->is_drained, b->is_drained);
	truth_count(name, "virtual time", (uint64_t)a->now_ps, (uint64_t)b->now_ps);
	truth_count(name, "sent", a->sent, b->sent);
	truth_count(name, "delivered", a->delivered, b->delivered);
	truth_count(name, "data delivered", a->data_delivered, b->data_delivered);
	truth_count(name, "damaged", a->damaged, b->damaged);
	truth_count(name, "doubled", a->doubled, b->doubled);
	truth_count(name, "held back", a->held_back, b->held_back);
	truth_count(name, "no room for late ones", a->reorder_queue_full, b->reorder_queue_full);
	truth_counts(name, "drops on cables", a->dropped, b->dropped, sizeof(a->dropped));
	truth_count(name, "held", a->held, b->held);
	truth_count(name, "data packets", a->data_packets, b->data_packets);
	truth_count(name, "hops", a->hops, b->hops);
	truth_count(name, "data hops", a->data_hops, b->data_hops);
	truth_count(name, "windows", a->windows, b->windows);
	truth_visits(name, a, b);
	truth_outcome(name, is, should);
	truth_count(name, "digest", a->digest, b->digest);
}

// What a run with frames must say beside that: ports that count what cables carried, and payload
// that was verified to the last byte.
static void truth_frames(const char *name, const struct rig *rig)
{
	const struct run *run = &rig->run;
	uint64_t lost = run->dropped[DROP_LINK_DOWN] + run->dropped[DROP_RANDOM_LOSS] +
		run->dropped[DROP_BURST_LOSS];
	truth_count(name, "frames sent by ports", run->ports.sent, run->hops - lost + run->doubled);
	truth_count(name, "frames received by ports", run->ports.received, run->ports.sent);
	truth_count(name, "frames missed by ports", run->ports.missed, 0);
	truth_count(name, "payload that is wrong", run->payload_bytes_wrong, 0);
	truth_count(name, "payload verified", run->payload_bytes_good,
		    rig->outcome->transport.payload_bytes_placed);
	uint64_t bad = 0;
	for (int i = 0; i < WIRE_REASON_COUNT; i++)
		bad += run->bad_frames[i];
	truth_count(name, "bad frames", bad, run->dropped[DROP_BAD_FRAME]);
	if (run->damaged == 0)
		truth_count(name, "bad frames", bad, 0);
}

// ---------------------------------------------------------------- clocks

// A clock that goes on by a step at each reading, and now and then by a jump.
struct truth_clock {
	int64_t now_ns;
	int64_t step_ns;
	uint64_t reads;
	uint64_t jump_every; // readings; 0 = it never jumps
	uint64_t jumps;
	int64_t jump_ns;
};

__attribute__((unused)) static int64_t truth_clock_read(void *context)
{
	struct truth_clock *clock = context;
	clock->now_ns += clock->step_ns;
	if (clock->jump_every != 0 && ++clock->reads % clock->jump_every == 0) {
		clock->now_ns += clock->jump_ns;
		clock->jumps++;
	}
	return clock->now_ns;
}

// ---------------------------------------------------------------- runs

// The truth: virtual time, no frames.
static void truth_sim(const struct truth_case *test, struct rig *ret)
{
	rig_run(ret, test->yaml, NULL);
	truth_count(test->name, "end", ret->run.end, test->end);
	if (test->shows(ret) == 0)
		fail_msg("%s: what the name says did not happen", test->name);
}

// Runs every case as `options` say and holds it to the truth. `clock` (or NULL) is set back before
// each run.
__attribute__((unused)) static void truth_hold_all(const struct sim_options *options,
						   struct truth_clock *clock)
{
	static struct rig truth, rig;
	for (size_t i = 0; i < TRUTH_CASES; i++) {
		const struct truth_case *test = &truth_cases[i];
		if (clock != NULL)
			clock->now_ns = 0;
		truth_sim(test, &truth);
		rig_run_with(&rig, test->yaml, NULL, options);
		truth_same(test->name, &rig, &truth);
		if (options->ports.kind != PORTS_NONE)
			truth_frames(test->name, &rig);
		world_instance_free(&truth.world_instance);
		world_instance_free(&rig.world_instance);
	}
}
