// SPDX-License-Identifier: Apache-2.0
// Tests of how soon goodput is back: against the planes that are left, only when it stays, and when
// that cannot be said. A flow leads from NIC 0 to NIC 1 over two planes of 100 Gb/s: 4000 of 5000 B
// are payload, so that a bin of 1 us holds 20 kB of it.

#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "result_world.h"
#include <weft/result/recovery.h>

#define BINS 100
#define WHOLE 20000u

static struct fake *fake;
static struct bypass_times back;
static struct cable_plan cables[8]; // NIC, plane: there and back
static struct cable_fault down;
static uint64_t placed[16][BINS];
static struct bypass_link on_link = {.nic = 1, .first_ps = 10 * PS_PER_US};

static int set_up(void **)
{
	fake = fake_world("recovery");
	struct world *world = &fake->world;
	fake_bypasses(fake);
	fake->flows[0] = (struct flow){.from = 0, .to = 1};
	world->flows = fake->flows;
	world->flow_count = 1;
	world->fabric.planes = 2;
	world->fabric.nics_per_host = 4;
	world->transport.payload_bytes = 4000;
	world->transport.header_bytes = 1000;
	world->topology.base_rtt_ps = PS_PER_US; // it has to stay for 10 bins
	fake->scenario.watch = (struct watch_config){.bin_ps = PS_PER_US, .bins = BINS};
	for (uint32_t i = 0; i < 8; i++)
		cables[i] = (struct cable_plan){.from_port = i / 2, .plane = (uint8_t)(i / 2 % 2)};
	down = (struct cable_fault){.kind = FAULT_LINK_DOWN, .from_ps = on_link.first_ps};
	down.until_ps = PS_NEVER;
	world->cables = cables;
	world->cable_count = 8;
	world->cable_faults = &down;
	world->nic_placed = placed[0];
	for (uint32_t i = 0; i < BINS; i++)
		placed[1][i] = WHOLE;
	return 0;
}

static int tear_down(void **)
{
	free(back.at);
	back = (struct bypass_times){0};
	fake_free(fake);
	return 0;
}

static void gather(void)
{
	struct bypass_list list = {.on_links = &on_link};
	list.links.count = 1;
	list.links.is_whole = true;
	recovery_gather(&back, &list, &fake->world);
}

static void fill(uint32_t from, uint32_t until, uint64_t bytes)
{
	for (uint32_t i = from; i < until; i++)
		placed[1][i] = bytes;
}

static void what_never_was_less_is_back_at_once(void **)
{
	gather();
	assert_true(back.is_whole && back.count == 1 && back.at[0] == 0);
}

static void it_is_back_where_five_bins_have_it_and_more_follow(void **)
{
	fill(13, 30, 0);
	fill(16, 21, WHOLE); // for a moment
	gather();
	assert_true(back.is_whole && back.count == 1);
	assert_int_equal(back.at[0], 20 * PS_PER_US);
}

static void one_percent_may_be_missing(void **)
{
	fill(10, 40, WHOLE - WHOLE / 100);
	gather();
	assert_true(back.at[0] == 0);
	free(back.at);
	fill(10, 40, WHOLE - WHOLE / 100 - 1);
	gather();
	assert_true(back.at[0] > 0);
}

static void shorter_bins_time_it_more_finely_and_ask_for_no_more(void **)
{
	fake->scenario.watch.bin_ps = PS_PER_US / 2; // ten of them have it together
	fill(0, BINS, WHOLE / 2);
	fill(30, 31, WHOLE / 2 * 92 / 100); // 99.2 % of ten, 98.4 % of five
	gather();
	assert_true(back.is_whole && back.at[0] == 0);
	free(back.at);
	fill(30, 31, WHOLE / 2 * 89 / 100);
	gather();
	assert_int_equal(back.at[0], 31 * PS_PER_US / 2 - on_link.first_ps);
}

static void a_plane_that_is_down_at_either_end_need_not_carry(void **)
{
	for (uint32_t cable = 0; cable < 8; cable += 2) {
		fill(10, BINS, WHOLE / 2);
		cables[cable].fault_count = 1;
		gather();
		assert_true(back.is_whole && back.at[0] == 0);
		free(back.at);
		fill(20, 22, 0);
		gather();
		assert_int_equal(back.at[0], 12 * PS_PER_US);
		free(back.at);
		cables[cable].fault_count = 0;
	}
	gather(); // no plane is down: half is not enough
	assert_false(back.is_whole);
}

static void it_may_never_be_back(void **)
{
	fill(13, BINS, WHOLE / 2);
	gather();
	assert_false(back.is_whole);
}

static void two_flows_to_a_nic_cannot_be_told_apart(void **)
{
	fake->flows[1] = (struct flow){.from = 2, .to = 1};
	fake->world.flow_count = 2;
	gather();
	assert_false(back.is_whole);
}
