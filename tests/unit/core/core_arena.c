// SPDX-License-Identifier: Apache-2.0
// The arena: alignment, accounting, refusal when it is full, and that drawing after the seal stops
// the program.

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <weft/core/arena.h>

static _Alignas(64) uint8_t memory[4096];

static void draws_are_zeroed_aligned_and_counted_per_room(void **state)
{
	struct arena arena;
	arena_init(&arena, memory, sizeof(memory));
	uint8_t *small = arena_draw(&arena, ARENA_CORE, 3, 1);
	uint8_t *large = arena_draw(&arena, ARENA_FABRIC, 10, 10);
	assert_int_equal((uintptr_t)small % 16, 0);
	assert_int_equal((uintptr_t)large % 64, 0);
	assert_true(large >= small + 3);
	for (int i = 0; i < 100; i++)
		assert_int_equal(large[i], 0);
	size_t sum = 0;
	for (int room = 0; room < ARENA_ROOM_COUNT; room++)
		sum += arena.drawn_bytes[room];
	assert_int_equal(sum, arena.used);
	assert_int_equal(arena.drawn_bytes[ARENA_CORE], 3);
}

static void a_full_arena_refuses_from_then_on(void **state)
{
	static const struct {
		size_t count, bytes;
	} too_much[] = {{1, 64}, {SIZE_MAX, 2}, {SIZE_MAX, 1}};
	for (size_t i = 0; i < sizeof(too_much) / sizeof(*too_much); i++) {
		struct arena arena;
		arena_init(&arena, memory, 256);
		assert_non_null(arena_draw(&arena, ARENA_CORE, 1, 200));
		size_t used = arena.used;
		assert_false(arena_has_failed(&arena));
		assert_null(arena_draw(&arena, ARENA_CORE, too_much[i].count, too_much[i].bytes));
		assert_true(arena_has_failed(&arena));
		assert_null(arena_draw(&arena, ARENA_CORE, 1, 16)); // for which there would be room
		assert_int_equal(arena.used, used);
	}
}

static void drawing_after_the_seal_stops_the_program(void **state)
{
	struct arena arena;
	arena_init(&arena, memory, sizeof(memory));
	arena_seal(&arena);
	pid_t child = fork();
	if (child == 0) {
		close(STDERR_FILENO);
		arena_draw(&arena, ARENA_CORE, 1, 1);
		_exit(0);
	}
	int status = 0;
	waitpid(child, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 70);
}

static void every_room_has_a_name(void **state)
{
	for (int room = 0; room < ARENA_ROOM_COUNT; room++)
		assert_string_not_equal(arena_room_name(room), "unknown");
	assert_string_equal(arena_room_name(ARENA_ROOM_COUNT), "unknown");
}
