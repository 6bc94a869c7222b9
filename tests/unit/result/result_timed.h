// SPDX-License-Identifier: Apache-2.0
// More of the small world of result_world.h: packets that were timed, and a world too large for
// some series.
#pragma once

#include <weft/measure/measure_evs.h>
#include <weft/world/world_delays.h>

#include "result_events.h"

#define FAKE_TIMED_NICS 16u // as result_world.h

// The culprit beside a program whose operations were timed: of 500 messages the five from rank 0 to
// rank 1 took longest.
static inline struct fake *fake_stepped(void)
{
	static struct op_time times[1000];
	struct fake *fake = fake_culprit();
	struct program *program;
	check(program_create(&program, &fake->arena, 4, 1000, 1, NULL) == 0);
	for (uint32_t i = 0; i < 500; i++) {
		uint32_t from = i < 5 ? 0 : 2;
		program_send(program, from, from + 1, 0, 100, 0);
		program_receive(program, from + 1, from, 0, 100, 0, false);
		times[2 * i + 1].end_ps = i < 5 ? 1000 : 100;
	}
	check(program_seal(program, &fake->arena, NULL) == 0);
	fake->world.program = program;
	fake->world.op_times = times;
	return fake;
}

// The same where switches have too many ports for series of their queues.
static inline struct fake *fake_crowd(void)
{
	struct fake *fake = fake_culprit();
	for (uint32_t i = 0; i < 3; i++)
		switch_port_depth(fake->world.switches[0], i)->series = NULL;
	return fake;
}

// The flows, whose packets were timed: 20 pairs of NICs sent messages, each its own.
static inline struct fake *fake_timed(void)
{
	struct fake *fake = fake_flows();
	struct world_delays *all = arena_draw(&fake->arena, ARENA_MEASURE, 1, sizeof(*all));
	static struct delays delays;
	static struct pair_delay pairs[20];
	check(all != NULL && delays_init(&delays, &fake->arena, 2, 4, 3) == 0);
	*all = (struct world_delays){.whole = &delays, .pairs = pairs, .pair_count = 20};
	for (uint32_t i = 0; i < 20; i++) {
		pairs[i] = (struct pair_delay){.from_nic = i, .to_nic = 30, .pair = PAIR_SAME_T0};
		check(hist_init(&pairs[i].message_ns, &fake->arena, 1, 1 << 20) == 0);
		hist_add(&pairs[i].message_ns, 10000 + 100 * i);
	}
	for (int i = 0; i < 10; i++)
		delays_add_one_way(&delays, PAIR_SAME_T0, 3, 4000 + 10 * i); // plane 1
	delays_add_rtt(&delays, 3, 8 * PS_PER_US);
	delays_settle(&delays);
	hist_add_many(&delays.order_packets, 0, 7);
	hist_add_many(&delays.order_packets, 5, 3);
	hist_add(&delays.incast, 3);
	static struct nic_incast incasts[FAKE_TIMED_NICS];
	for (uint32_t i = 0; i < FAKE_TIMED_NICS; i++) {
		incasts[i] = (struct nic_incast){0};
		depth_series_init(&incasts[i].most);
	}
	depth_series_note(&incasts[3].most, 500 * PS_PER_NS, 2); // two, still at the end
	incasts[3].now = 2;
	depth_series_note(&incasts[5].most, 2500 * PS_PER_NS, 7);
	check(delays_init_gaps(&delays, &fake->arena) == 0);
	hist_add(&delays.gap_ns[PAIR_SAME_T0], 340);
	all->incasts = incasts;
	fake->world.delays = all;
	fake->world.transport.ev_count = 4;
	return fake;
}

// Flows 1 and 3 have entropy values of their own; flow 1 sent 12 packets by two of its three.
static inline void fake_evs(struct fake *fake)
{
	static struct ev_count counts[4 * 80];
	counts[80 + 7] = (struct ev_count){10, 50000};
	counts[80 + 12] = (struct ev_count){2, 10000};
	fake->world.ev_counts = counts;
	fake->scenario.traffic.flow_count = 4;
	fake->scenario.flow_evs_count = 2;
	fake->scenario.flow_evs[1] = (struct flow_evs){.count = 3, .is_list = true};
	fake->scenario.flow_evs[3] = (struct flow_evs){.count = 16};
	memcpy(fake->scenario.flow_ev_numbers, (uint16_t[]){3, 7, 12}, 3 * sizeof(uint16_t));
}

// The flows over 80 EVs in two planes, more than are listed: EV i took 4 us + 10 ns times i, 10
// packets; number 7 a packet more, and the slowest of all.
static inline struct fake *fake_paths(void)
{
	struct fake *fake = fake_flows();
	struct world_delays *all = arena_draw(&fake->arena, ARENA_MEASURE, 1, sizeof(*all));
	static struct delays delays;
	check(all != NULL && delays_init(&delays, &fake->arena, 2, 80, 127) == 0);
	*all = (struct world_delays){.whole = &delays};
	for (uint32_t ev = 0; ev < 80; ev++)
		for (int i = 0; i < 10; i++)
			delays_add_one_way(&delays, PAIR_ACROSS_T1, ev, 4000 + 10 * ev);
	delays_add_one_way(&delays, PAIR_ACROSS_T1, 7, 70000);
	delays_settle(&delays);
	fake->world.delays = all;
	fake->world.transport.ev_count = 80;
	fake_evs(fake);
	return fake;
}
