// SPDX-License-Identifier: Apache-2.0
// A world that never runs, for tests of culprits: its counters are written by hand.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include <weft/core/rng.h>
#include <weft/world/world_delays.h>

#include "culprit.h"

// 32 NICs, two on each host, in two planes of four T0 and four T1 switches: 64 links of NICs and 32
// trunks.
static const char yaml[] =
	"fabric: {nics: 32, nics_per_host: 2, planes: 2, nics_per_t0: 8, t1_count: 4}\n"
	"transport: {evs: 64}\n"
	"scaleup: {rate: 100GB/s}\n"
	"traffic: {kind: tornado, bytes: 1MB}\n"
	"watch: {links: true}\n";

#define ARENA_BYTES ((size_t)24 << 20)
static _Alignas(64) uint8_t memory[ARENA_BYTES];
static struct scenario scenario;
static struct world world;
static struct arena arena;

// A healthy world in which every link has been used.
static void build(void)
{
	struct refusal refusal = {0};
	memset(memory, 0, sizeof(memory));
	arena_init(&arena, memory, sizeof(memory));
	int rc = scenario_parse(&scenario, "test", yaml, strlen(yaml), NULL, 0, &refusal);
	if (rc == 0)
		rc = world_build(&world, &arena, &scenario, NULL, 0, &refusal);
	if (rc < 0)
		fail_msg("%s: %s", refusal.file, refusal.text);
	for (uint32_t i = 0; i < world.cable_count; i++)
		world.links.counts[i] = (struct link_count){
			.packets = 1000, .bytes = 4000000, .first_lost_ps = PS_NEVER};
	for (uint32_t i = 0; i < 64; i++)
		for (uint32_t cell = 0; cell < LINK_SPREAD_CELLS; cell++)
			world.links.spread[i][cell] = 10 + cell % 3;
	for (uint32_t i = 0; i < world.topology.hosts; i++)
		world.links.work[i] = (struct work_count){.planned_ps = 1000, .taken_ps = 1000};
}
