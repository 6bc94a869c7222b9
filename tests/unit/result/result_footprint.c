// SPDX-License-Identifier: Apache-2.0
// Tests of the --footprint table: every room has a row, and the rows add up to what was drawn.

#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "result_events.h"

// The table as text; the next call overwrites it.
static const char *footprint_of(const struct fake *fake)
{
	static char text[4096];
	FILE *to = fmemopen(text, sizeof(text), "w");
	assert_non_null(to);
	report_footprint(to, &fake->world);
	fclose(to);
	return text;
}

// The number in column `column` of the row `name`, without its commas.
static uint64_t cell(const char *text, const char *name, int column)
{
	char start[32], digits[64];
	snprintf(start, sizeof(start), "\n  %s ", name);
	const char *at = strstr(text, start);
	assert_non_null(at);
	at += strlen(start);
	for (int i = 0; i < column; i++) {
		at += strspn(at, " ");
		at += strcspn(at, " ");
	}
	at += strspn(at, " ");
	size_t used = 0;
	for (; strchr(" \n", *at) == NULL; at++) {
		if (*at != ',')
			digits[used++] = *at;
	}
	digits[used] = '\0';
	return strtoull(digits, NULL, 10);
}

static void rooms_add_up_to_what_was_drawn(void **)
{
	struct fake *fake = fake_ring();
	assert_non_null(arena_draw(&fake->arena, ARENA_TRANSPORT, 100, 1000));
	assert_non_null(arena_draw(&fake->arena, ARENA_WORLD, 7, 3));
	const char *text = footprint_of(fake);
	uint64_t sum = 0;
	for (enum arena_room room = 0; room < ARENA_ROOM_COUNT; room++) {
		uint64_t bytes = cell(text, arena_room_name(room), 0);
		assert_int_equal(bytes, fake->arena.drawn_bytes[room]);
		sum += bytes;
	}
	assert_int_equal(sum, fake->arena.used);
	assert_int_equal(cell(text, "total", 0), fake->arena.used);
	assert_int_equal(cell(text, "total", 1), fake->arena.used / 4);
	assert_int_equal(cell(text, "total", 2), fake->arena.used / 16);
	fake_free(fake);
}

static void qps_and_arena_are_named(void **)
{
	struct fake *fake = fake_ring();
	fake->world.transport.ev_count = 64;
	fake->world.transport.mpr = 512;
	fake->world.transport.sends_max = 16;
	fake->world.transport.wimm_max = 32;
	fake->world.qp_count = 1234;
	const char *text = footprint_of(fake);
	assert_non_null(strstr(text, "one QP: "));
	assert_non_null(strstr(text, "QPs: 1,234"));
	assert_non_null(strstr(text, "of an arena of 8.000 MiB"));
	uint64_t qp_bytes = endpoint_context_bytes(&fake->world.transport);
	assert_true(qp_bytes > 0);
	// read the number behind the words, commas left out
	uint64_t shown = 0;
	for (size_t i = (size_t)(strstr(text, "one context: ") - text) + 13; text[i] != ' '; i++)
		shown = text[i] == ',' ? shown : shown * 10 + (uint64_t)(text[i] - '0');
	assert_int_equal(shown, qp_bytes);
	fake_free(fake);
}

static void a_world_without_hosts_divides_by_nothing(void **)
{
	struct fake *fake = fake_silence();
	fake->world.topology.hosts = 0;
	fake->world.topology.nics = 0;
	const char *text = footprint_of(fake);
	assert_non_null(strstr(text, " -\n"));
	fake_free(fake);
}
