// SPDX-License-Identifier: Apache-2.0
// Chunked lists, the timer heap, the packet pool, and bits in rings, each against a plain model.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/core/bitmap.h>
#include <weft/core/fifo.h>
#include <weft/core/heap.h>
#include <weft/core/packet.h>
#include <weft/core/psn.h>
#include <weft/core/rng.h>

static _Alignas(64) uint8_t memory[1 << 20];

static void lists_keep_order_and_give_all_chunks_back(void **state)
{
	enum { LISTS = 7, ENTRIES = 400 };
	struct arena arena;
	struct fifo_pool pool;
	struct fifo lists[LISTS] = {0};
	uint64_t pushed[LISTS] = {0}, popped[LISTS] = {0}, held = 0;
	struct rng rng = rng_of(1, RNG_TEST, 0);
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(fifo_pool_init(&pool, &arena, fifo_chunks_for(LISTS, ENTRIES)), 0);
	for (int step = 0; step < 200000; step++) {
		uint32_t list = rng_below(&rng, LISTS);
		bool fills = rng_below(&rng, 1000) < (step / 1000 % 2 ? 700u : 300u);
		if (fills && held < ENTRIES) {
			fifo_push(&lists[list], &pool, pushed[list]++);
			held++;
			assert_int_equal(*fifo_newest(&lists[list], &pool), pushed[list] - 1);
		} else if (lists[list].count > 0) {
			assert_int_equal(fifo_peek(&lists[list], &pool), popped[list]);
			uint64_t entry = list % 2 ? fifo_pop(&lists[list], &pool)
						  : fifo_pop_keep(&lists[list], &pool);
			assert_int_equal(entry, popped[list]++);
			held--;
		}
		assert_int_equal(lists[list].count, pushed[list] - popped[list]);
	}
	for (int list = 0; list < LISTS; list++)
		while (lists[list].count > 0)
			fifo_pop(&lists[list], &pool);
	for (int list = 0; list < LISTS; list++)
		fifo_release(&lists[list], &pool);
	assert_int_equal(pool.free_count, pool.capacity);
}

// More lists than entries: each has been used, and keeps a chunk.
static void empty_lists_that_keep_chunks_are_counted(void **)
{
	enum { LISTS = 40, ENTRIES = 31 };
	struct arena arena;
	struct fifo_pool pool;
	struct fifo lists[LISTS] = {0};
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(fifo_pool_init(&pool, &arena, fifo_chunks_for(LISTS, ENTRIES)), 0);
	for (uint32_t list = 0; list < LISTS; list++) {
		for (uint64_t i = 0; i < ENTRIES; i++)
			fifo_push(&lists[list], &pool, i);
		assert_true(pool.free_count > 0);
		for (uint64_t i = 0; i < ENTRIES; i++)
			assert_int_equal(fifo_pop_keep(&lists[list], &pool), i);
		assert_int_equal(pool.free_count, pool.capacity - list - 1);
	}
	for (uint32_t list = 0; list < LISTS; list++)
		fifo_release(&lists[list], &pool);
	assert_int_equal(pool.free_count, pool.capacity);
}

static void the_heap_gives_the_earliest_then_the_smallest_key(void **state)
{
	enum { ITEMS = 500 };
	struct arena arena;
	struct heap heap;
	struct rng rng = rng_of(2, RNG_TEST, 0);
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(heap_init(&heap, &arena, ARENA_CORE, ITEMS), 0);
	assert_true(heap_next_at(&heap) == PS_NEVER);
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < ITEMS; i++) {
			ps_t at = rng_below(&rng, 40);
			heap_push(&heap, at, rng_below(&rng, 1000));
		}
		struct heap_item last = {-1, 0};
		while (heap.count > 0) {
			struct heap_item item = heap_pop(&heap);
			assert_true(item.at > last.at ||
				    (item.at == last.at && item.key >= last.key));
			last = item;
		}
	}
}

static void what_is_removed_from_the_heap_never_comes(void **state)
{
	enum { ITEMS = 200 };
	struct arena arena;
	struct heap heap;
	struct rng rng = rng_of(4, RNG_TEST, 0);
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(heap_init(&heap, &arena, ARENA_CORE, ITEMS), 0);
	for (int round = 0; round < 50; round++) {
		for (uint64_t key = 0; key < ITEMS; key++)
			heap_push(&heap, rng_below(&rng, 40), key);
		heap_remove(&heap, ITEMS); // is not there
		for (uint64_t key = round % 3; key < ITEMS; key += 3)
			heap_remove(&heap, key);
		struct heap_item last = {-1, 0};
		uint32_t count = 0;
		for (; heap.count > 0; count++) {
			struct heap_item item = heap_pop(&heap);
			assert_true(item.at > last.at ||
				    (item.at == last.at && item.key > last.key));
			assert_int_not_equal(item.key % 3, round % 3);
			last = item;
		}
		assert_int_equal(count, ITEMS - (ITEMS - round % 3 + 2) / 3);
	}
}

static void the_pool_gives_each_packet_once(void **state)
{
	enum { PACKETS = 100 };
	struct arena arena;
	struct packet_pool pool;
	bool is_out[PACKETS + 1] = {false};
	arena_init(&arena, memory, sizeof(memory));
	memset(memory, 0, sizeof(memory));
	assert_int_equal(packet_pool_init(&pool, &arena, PACKETS), 0);
	for (int i = 0; i < PACKETS; i++) {
		uint32_t packet = packet_get(&pool);
		assert_in_range(packet, 1, PACKETS);
		assert_false(is_out[packet]);
		is_out[packet] = true;
	}
	assert_int_equal(packet_get(&pool), PACKET_NONE);
	assert_int_equal(packet_pool_taken(&pool), PACKETS);
	for (uint32_t i = 1; i <= PACKETS; i++)
		packet_put(&pool, i);
	assert_int_equal(packet_pool_taken(&pool), 0);
	assert_int_equal(pool.taken_max, PACKETS);
}

static void bitmaps_agree_with_single_bits(void **state)
{
	enum { BITS = 256 };
	uint64_t words[BITS / 64] = {0};
	struct rng rng = rng_of(3, RNG_TEST, 0);
	for (int step = 0; step < 3000; step++) {
		uint32_t bit = rng_below(&rng, BITS);
		if (rng_below(&rng, 3) > 0)
			bitmap_set(words, bit);
		else
			bitmap_clear(words, bit);
		uint32_t from = rng_below(&rng, BITS), count = 0, next = from, run = 0;
		for (uint32_t i = 0; i < BITS; i++)
			count += bitmap_get(words, i);
		while (next < BITS && !bitmap_get(words, next))
			next++;
		while (run < 200 && bitmap_get(words, (from + run) % BITS))
			run++;
		assert_int_equal(bitmap_count(words, BITS), count);
		assert_int_equal(bitmap_next(words, BITS, from), next);
		assert_int_equal(bitmap_ring_run(words, BITS, from + 7 * BITS, 200), run);
		uint64_t window = bitmap_ring_window(words, BITS, from + 5 * BITS);
		for (uint32_t i = 0; i < 64; i++)
			assert_int_equal(window >> i & 1, bitmap_get(words, (from + i) % BITS));
	}
}

static void a_ring_is_cleared_over_its_end(void **)
{
	enum { BITS = 256 };
	struct rng rng = rng_of(9, RNG_TEST, 2);
	for (uint32_t round = 0; round < 2000; round++) {
		uint64_t words[BITS / 64], should[BITS / 64];
		for (uint32_t i = 0; i < BITS / 64; i++)
			words[i] = should[i] = ~(uint64_t)rng_below(&rng, 1000) *
				0x9e3779b97f4a7c15u;
		uint32_t from = (uint32_t)rng_next(&rng);
		uint32_t count = rng_below(&rng, BITS + 1);
		for (uint32_t i = 0; i < count; i++)
			bitmap_clear(should, (from + i) % BITS);
		bitmap_ring_clear(words, BITS, from, count);
		assert_memory_equal(words, should, sizeof(words));
	}
}

static void numbers_of_24_bits_become_the_nearest_running_number(void **state)
{
	static const uint32_t nears[] = {0,	   1,	      0x7fffff,	 0x800000,
					 0xffffff, 0x1000000, 0x1234567, UINT32_MAX};
	for (size_t i = 0; i < sizeof(nears) / sizeof(*nears); i++)
		for (int32_t ahead = -8388608; ahead < 8388608; ahead += 65535)
			assert_int_equal(
				psn_extend(nears[i], (nears[i] + (uint32_t)ahead) & PSN_MASK),
				nears[i] + (uint32_t)ahead);
}

static void streams_of_different_owners_differ(void **state)
{
	struct rng a = rng_of(1, RNG_PORT, 7), again = rng_of(1, RNG_PORT, 7);
	struct rng others[] = {rng_of(2, RNG_PORT, 7), rng_of(1, RNG_CABLE, 7),
			       rng_of(1, RNG_PORT, 8)};
	uint64_t first = rng_next(&a);
	assert_int_equal(rng_next(&again), first);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_int_not_equal(rng_next(&others[i]), first);
	uint32_t counts[10] = {0};
	for (int i = 0; i < 100000; i++)
		counts[rng_below(&a, 10)]++;
	for (int i = 0; i < 10; i++)
		assert_in_range(counts[i], 9600, 10400); // four standard deviations are 380
}
