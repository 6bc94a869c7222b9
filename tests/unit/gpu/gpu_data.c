// SPDX-License-Identifier: Apache-2.0
// Values of gradients: the closed form of their sums, rounding, and that what is wrong is found.

#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/gpu/gpu_generator.h>
#include <weft/gpu/gpu_pattern.h>

#define RANKS 4u
#define BLOCK 256u
#define SLICE (RANKS * BLOCK)
#define SLICES 3u
#define STRETCH (SLICES * SLICE)

static _Alignas(64) uint8_t memory[RANKS][3 * STRETCH];

static struct gpu_data data_of(uint32_t rank, uint32_t element_bytes)
{
	return (struct gpu_data){.gradients = memory[rank],
				 .landed = memory[rank] + STRETCH,
				 .sums = memory[rank] + 2 * STRETCH,
				 .seed = 7,
				 .slice_bytes = SLICE,
				 .block_bytes = BLOCK,
				 .element_bytes = element_bytes,
				 .rank = rank,
				 .ranks = RANKS};
}

static void sums_have_a_closed_form(void **)
{
	for (uint32_t ranks = 1; ranks <= 600; ranks++) {
		for (uint32_t die = 0; die < GPU_PATTERN_VALUES; die++) {
			uint64_t sum = 0;
			for (uint32_t rank = 0; rank < ranks; rank++)
				sum += gpu_pattern_value(die, rank);
			assert_int_equal(gpu_pattern_sum(die, ranks), sum);
		}
	}
}

static void values_are_exact_in_bf16(void **)
{
	for (uint32_t value = 0; value <= 256; value++)
		assert_true(gpu_bf16_value(gpu_bf16_of((float)value)) == (float)value);
}

static void ties_go_to_the_even_neighbour(void **)
{
	// above 256 there is every other number: 257 lies between 256 and 258, 259 between 258 and
	// 260
	assert_true(gpu_bf16_value(gpu_bf16_of(257)) == 256);
	assert_true(gpu_bf16_value(gpu_bf16_of(259)) == 260);
	assert_true(gpu_bf16_value(gpu_bf16_of(258)) == 258);
}

// The messages of one slice: each rank's block for another lands there, and sums go to all.
static void scatter(uint64_t slice)
{
	for (uint32_t to = 0; to < RANKS; to++)
		for (uint32_t from = 0; from < RANKS; from++)
			if (from != to)
				memcpy(memory[to] + STRETCH + slice + from * BLOCK,
				       memory[from] + slice + to * BLOCK, BLOCK);
}

static void gather(uint64_t slice)
{
	for (uint32_t to = 0; to < RANKS; to++)
		for (uint32_t from = 0; from < RANKS; from++)
			memcpy(memory[to] + 2 * STRETCH + slice + from * BLOCK,
			       memory[from] + 2 * STRETCH + slice + from * BLOCK, BLOCK);
}

static void run_step(uint32_t step, uint32_t element_bytes)
{
	memset(memory, 0xee, sizeof(memory));
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		struct gpu_data data = data_of(rank, element_bytes);
		gpu_host_fill(&data, step, 0, STRETCH);
	}
	for (uint64_t slice = 0; slice < STRETCH; slice += SLICE) {
		scatter(slice);
		for (uint32_t rank = 0; rank < RANKS; rank++) {
			struct gpu_data data = data_of(rank, element_bytes);
			assert_int_equal(gpu_host_landed_wrong(&data, step, slice), 0);
			gpu_host_reduce(&data, slice);
		}
		gather(slice);
	}
}

static uint64_t wrong_sums(uint32_t rank, uint32_t step, uint32_t element_bytes)
{
	struct gpu_data data = data_of(rank, element_bytes);
	return gpu_host_sums_wrong(&data, step, 0, STRETCH);
}

static void a_step_ends_with_the_right_sums(void **)
{
	for (uint32_t element_bytes = 2; element_bytes <= 4; element_bytes += 2) {
		run_step(3, element_bytes);
		for (uint32_t rank = 0; rank < RANKS; rank++)
			assert_int_equal(wrong_sums(rank, 3, element_bytes), 0);
		// of another step most are others
		assert_true(wrong_sums(0, 2, element_bytes) > STRETCH / element_bytes / 2);
	}
}

static void every_single_bit_is_looked_at(void **)
{
	run_step(1, 2);
	struct gpu_data data = data_of(2, 2);
	for (uint32_t bit = 0; bit < 16 * 8; bit++) {
		uint8_t *sum = data.sums + SLICE + bit / 8, *part = data.landed + SLICE + bit / 8;
		*sum ^= (uint8_t)(1 << bit % 8);
		*part ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(gpu_host_sums_wrong(&data, 1, 0, STRETCH), 1);
		assert_int_equal(gpu_host_landed_wrong(&data, 1, SLICE), 1);
		*sum ^= (uint8_t)(1 << bit % 8);
		*part ^= (uint8_t)(1 << bit % 8);
	}
	assert_int_equal(gpu_host_sums_wrong(&data, 1, 0, STRETCH), 0);
}

static void two_slices_that_changed_places_are_wrong(void **)
{
	static uint8_t kept[SLICE];
	run_step(0, 2);
	uint8_t *sums = memory[1] + 2 * STRETCH;
	memcpy(kept, sums, SLICE);
	memcpy(sums, sums + SLICE, SLICE);
	memcpy(sums + SLICE, kept, SLICE);
	assert_true(wrong_sums(1, 0, 2) > SLICE / 2);
	struct gpu_data data = data_of(1, 2);
	uint8_t *landed = data.landed;
	memcpy(kept, landed, BLOCK); // and what two ranks gave
	memcpy(landed, landed + 2 * BLOCK, BLOCK);
	memcpy(landed + 2 * BLOCK, kept, BLOCK);
	assert_int_equal(gpu_host_landed_wrong(&data, 0, 0), 2 * BLOCK / 2);
}

// Eight elements are put at once where a group is whole, others one by one.
static void what_is_played_is_the_pattern(void **)
{
	const uint8_t is_here[RANKS] = {0, 1, 0, 0};
	for (uint32_t block = 4; block <= 4 * 21; block += 4) {
		for (uint32_t element_bytes = 2; element_bytes <= 4; element_bytes += 2) {
			struct gpu_data data = data_of(1, element_bytes);
			data.block_bytes = block;
			data.slice_bytes = RANKS * block;
			uint64_t slice = data.slice_bytes, looked = 2 * slice / element_bytes;
			memset(memory, 0xee, sizeof(memory));
			gpu_host_play_parts(&data, 5, slice, is_here);
			assert_int_equal(gpu_host_landed_wrong(&data, 5, slice), 0);
			gpu_host_play_sums(&data, 5, slice, 2 * slice, is_here);
			assert_int_equal(gpu_host_sums_wrong(&data, 5, slice, 2 * slice),
					 looked / RANKS); // those of the rank that is here
			assert_int_equal(data.sums[slice - 1] & data.sums[3 * slice], 0xee);
		}
	}
}

static void what_is_filled_is_the_pattern(void **)
{
	for (uint32_t rank = 0; rank < 3 * GPU_PATTERN_VALUES; rank += 61) {
		struct gpu_data data = data_of(0, 2);
		data.rank = rank;
		memset(memory, 0xee, sizeof(memory));
		gpu_host_fill(&data, 9, 6, 2 * 100);
		for (uint32_t i = 3; i < 103; i++) {
			uint64_t dice = gpu_pattern_dice(data.seed, 9, i / GPU_PATTERN_GROUP);
			uint32_t die = gpu_pattern_die(dice, i % GPU_PATTERN_GROUP);
			uint16_t half;
			memcpy(&half, data.gradients + 2 * i, sizeof(half));
			assert_int_equal(half, gpu_bf16_of((float)gpu_pattern_value(die, rank)));
		}
		assert_int_equal(data.gradients[5] & data.gradients[2 * 103], 0xee);
	}
}
