// SPDX-License-Identifier: Apache-2.0
// Tests of the distributions of dead paths: links as all paths of a QP there, tries that are no
// part of them, shards in one order, and what is said when events are missing.

#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "result_runs.h"
#include <weft/result/bypass.h>

#define AT(us) (PS_PER_MS + (us)*PS_PER_US)

static struct fake *fake;
static struct bypass_list list;

static int set_up(void **)
{
	fake = fake_flows();
	fake->world.shard_count = 2;
	fake->scenario.transport.ev_count = 32; // 8 rounds take 51.2 us
	fake_bypasses(fake);
	return 0;
}

static int tear_down(void **)
{
	bypass_free(&list);
	fake_free(fake);
	return 0;
}

// From `first` to `last`, us after the failure, on a path of the QP to `nic`.
static void use(uint32_t shard, uint32_t nic, uint32_t ev, int64_t first, int64_t last)
{
	struct bypass_event event = {.nic = nic, .ev = ev, .cable = 2, .down_ps = PS_PER_MS};
	bypass_lose(fake->world.bypass[shard], &event, AT(first));
	bypass_lose(fake->world.bypass[shard], &event, AT(last));
}

static void a_link_is_left_with_the_last_of_a_qps_paths(void **)
{
	use(0, 8, 1, 10, 40);
	use(0, 8, 2, 5, 30);
	use(0, 8, 3, 20, 55);
	use(1, 9, 1, 1, 3);
	bypass_gather(&list, &fake->world);
	assert_int_equal(list.paths.count, 4);
	assert_int_equal(list.links.count, 2);
	assert_true(list.links.at[0] == 2 * PS_PER_US && list.links.at[1] == 50 * PS_PER_US);
	assert_true(list.paths.at[0] == 2 * PS_PER_US && list.paths.at[3] == 35 * PS_PER_US);
	assert_int_equal(list.lost, 8);
	assert_true(list.events[0].first_ps == AT(5)); // by first loss
}

// 8 paths of 5000 B packets over two lines of 100 Gb/s: 8 rounds take 12.8 us.
static void a_path_first_used_when_the_link_was_left_is_a_try(void **)
{
	fake->scenario.transport.ev_count = 8;
	use(0, 8, 1, 10, 40);
	use(0, 8, 2, 52, 53);
	use(0, 8, 3, 66, 70);
	bypass_gather(&list, &fake->world);
	assert_int_equal(list.count, 3);
	assert_int_equal(list.paths.count, 2);
	assert_true(list.links.at[0] == 43 * PS_PER_US);
	assert_int_equal(list.lost, 4);
	assert_int_equal(list.tries, 2);
}

// It leads over two cables that died one after the other.
static void a_path_that_had_been_left_before_is_a_try(void **)
{
	struct bypass_event other = {.nic = 8, .ev = 1, .cable = 0, .down_ps = PS_PER_MS / 2};
	bypass_lose(fake->world.bypass[0], &other, AT(-460));
	use(1, 8, 1, 30, 40);
	use(1, 9, 1, 50, 60); // of another QP
	bypass_gather(&list, &fake->world);
	assert_int_equal(list.paths.count, 3);
	bypass_free(&list);
	use(1, 8, 2, 70, 71);
	bypass_lose(fake->world.bypass[0], &(struct bypass_event){.nic = 8, .ev = 2, .cable = 0},
		    AT(-430));
	bypass_gather(&list, &fake->world);
	assert_int_equal(list.paths.count, 4);
	assert_int_equal(list.tries, 2);
}

static void quantiles_are_exact(void **)
{
	for (uint32_t i = 1; i <= 10; i++)
		use(i % 2, i, 1, 0, 11 - i);
	bypass_gather(&list, &fake->world);
	assert_int_equal(bypass_quantile(&list.paths, 0.5).value, 5 * PS_PER_US);
	assert_int_equal(bypass_quantile(&list.paths, 0.51).value, 6 * PS_PER_US);
	assert_int_equal(bypass_quantile(&list.paths, 0.9).value, 9 * PS_PER_US);
	assert_int_equal(bypass_quantile(&list.links, 1).value, 10 * PS_PER_US);
	assert_int_equal(bypass_quantile(&list.links, 1e-9).value, 1 * PS_PER_US);
}

static void there_is_no_quantile_of_nothing_or_of_a_part(void **)
{
	bypass_gather(&list, &fake->world);
	assert_non_null(bypass_quantile(&list.paths, 0.5).reason);
	bypass_free(&list);
	use(0, 8, 1, 10, 40);
	fake->world.bypass[1]->missed = 1;
	bypass_gather(&list, &fake->world);
	assert_non_null(bypass_quantile(&list.paths, 0.5).reason);
}

static void the_file_has_a_line_for_each_event(void **)
{
	char *text = NULL;
	size_t bytes = 0;
	use(1, 9, 7, 2, 4);
	FILE *to = open_memstream(&text, &bytes);
	bypass_write(to, &fake->input);
	fclose(to);
	assert_non_null(strstr(text, "first_lost_ps,last_sent_ps"));
	assert_non_null(strstr(text, ",1000000000,9,0,7,1002000000,1004000000,2,0\n"));
	free(text);
}
