// SPDX-License-Identifier: Apache-2.0
// Gradients on the CPU: made, summed, checked. See gpu_generator.h and gpu_pattern.h.

#include <weft/gpu/gpu_generator.h>

#include <stdbool.h>
#include <string.h>

#include <weft/gpu/gpu_pattern.h>

void gpu_data_of(struct gpu_data *ret, const struct gpu_link *link, uint32_t rank)
{
	const struct gpu_link_header *header = link->header;
	uint8_t *buffer = gpu_link_buffer(link, rank);
	*ret = (struct gpu_data){.gradients = buffer,
				 .landed = buffer + header->stretch_bytes,
				 .sums = buffer + 2 * header->stretch_bytes,
				 .seed = header->seed,
				 .slice_bytes = header->slice_bytes,
				 .block_bytes = header->block_bytes,
				 .element_bytes = header->element_bytes,
				 .rank = link->numbers[rank],
				 .ranks = header->group_ranks};
}

// ---------------------------------------------------------------- elements

static inline void put(const struct gpu_data *data, uint8_t *stretch, uint64_t index, float value)
{
	uint16_t half = gpu_bf16_of(value);
	if (data->element_bytes == 2)
		memcpy(stretch + 2 * index, &half, sizeof(half));
	else
		memcpy(stretch + 4 * index, &value, sizeof(value));
}

static inline float get(const struct gpu_data *data, const uint8_t *stretch, uint64_t index)
{
	uint16_t half;
	float value;
	if (data->element_bytes == 2) {
		memcpy(&half, stretch + 2 * index, sizeof(half));
		return gpu_bf16_value(half);
	}
	memcpy(&value, stretch + 4 * index, sizeof(value));
	return value;
}

// Whether an element is, bit for bit, what `value` becomes.
static inline bool is_as(const struct gpu_data *data, const uint8_t *stretch, uint64_t index,
			 float value)
{
	uint8_t is[4], should[4];
	memcpy(is, stretch + index * data->element_bytes, data->element_bytes);
	put(data, should, 0, value);
	return memcmp(is, should, data->element_bytes) == 0;
}

// Dice of elements one after the other: a hash for each group of them.
struct dice {
	uint64_t seed, group, dice;
	uint32_t step;
	bool has_any;
};

static inline uint32_t die_of(struct dice *dice, uint64_t index)
{
	uint64_t group = index / GPU_PATTERN_GROUP;
	if (!dice->has_any || group != dice->group) {
		dice->dice = gpu_pattern_dice(dice->seed, dice->step, group);
		dice->group = group;
		dice->has_any = true;
	}
	return gpu_pattern_die(dice->dice, index % GPU_PATTERN_GROUP);
}

static struct dice dice_of(const struct gpu_data *data, uint32_t step)
{
	return (struct dice){.seed = data->seed, .step = step};
}

// ---------------------------------------------------------------- whole stretches

// Elements as they stand in memory, for each die. Those of rank r begin at r % GPU_PATTERN_VALUES.
struct faces {
	uint16_t half[2 * GPU_PATTERN_VALUES];
	float whole[2 * GPU_PATTERN_VALUES];
};

static void set_face(struct faces *faces, uint32_t at, float value)
{
	faces->half[at] = gpu_bf16_of(value);
	faces->whole[at] = value;
}

static void value_faces(struct faces *ret)
{
	for (uint32_t i = 0; i < 2 * GPU_PATTERN_VALUES; i++)
		set_face(ret, i, (float)gpu_pattern_value(i, 0));
}

static void sum_faces(struct faces *ret, uint32_t ranks)
{
	for (uint32_t i = 0; i < GPU_PATTERN_VALUES; i++)
		set_face(ret, i, (float)gpu_pattern_sum(i, ranks));
}

static inline void put_group(uint8_t *to, uint32_t element_bytes, uint64_t dice,
			     const uint16_t *half, const float *whole)
{
	if (element_bytes == 2) {
#pragma GCC unroll 8
		for (uint32_t i = 0; i < GPU_PATTERN_GROUP; i++)
			memcpy(to + 2 * i, &half[gpu_pattern_die(dice, i)], sizeof(*half));
		return;
	}
#pragma GCC unroll 8
	for (uint32_t i = 0; i < GPU_PATTERN_GROUP; i++)
		memcpy(to + 4 * i, &whole[gpu_pattern_die(dice, i)], sizeof(*whole));
}

// `count` elements from `to` on, whose dice are those of elements `first` on of `step`: a hash and
// a few looks into a table for eight of them, so that who plays many ranks keeps up with a device.
static void put_faces(const struct gpu_data *data, uint8_t *to, uint32_t step, uint64_t first,
		      uint64_t count, const struct faces *faces, uint32_t rank)
{
	const uint16_t *half = faces->half + rank % GPU_PATTERN_VALUES;
	const float *whole = faces->whole + rank % GPU_PATTERN_VALUES;
	struct dice dice = dice_of(data, step);
	for (uint64_t i = 0; i < count;) {
		uint64_t group = (first + i) / GPU_PATTERN_GROUP;
		if ((first + i) % GPU_PATTERN_GROUP == 0 && count - i >= GPU_PATTERN_GROUP) {
			put_group(to + i * data->element_bytes, data->element_bytes,
				  gpu_pattern_dice(data->seed, step, group), half, whole);
			i += GPU_PATTERN_GROUP;
			continue;
		}
		put(data, to, i, whole[die_of(&dice, first + i)]);
		i++;
	}
}

// ---------------------------------------------------------------- work

void gpu_host_fill(const struct gpu_data *data, uint32_t step, uint64_t offset, uint64_t bytes)
{
	struct faces faces;
	value_faces(&faces);
	put_faces(data, data->gradients + offset, step, offset / data->element_bytes,
		  bytes / data->element_bytes, &faces, data->rank);
}

// What rank `from` gave of element `at` of this rank's block of a slice: its own lies where it was
// made.
static float part_of(const struct gpu_data *data, uint64_t slice, uint32_t from, uint64_t at)
{
	const uint8_t *stretch = from == data->rank ? data->gradients : data->landed;
	return get(data, stretch + slice + from * data->block_bytes, at);
}

// Sums of whole numbers below 2^24 are exact in FP32, in any order.
void gpu_host_reduce(const struct gpu_data *data, uint64_t offset)
{
	uint64_t count = data->block_bytes / data->element_bytes;
	uint8_t *sums = data->sums + offset + data->rank * data->block_bytes;
	for (uint64_t i = 0; i < count; i++) {
		float sum = 0;
		for (uint32_t from = 0; from < data->ranks; from++)
			sum += part_of(data, offset, from, i);
		put(data, sums, i, sum);
	}
}

uint64_t gpu_host_landed_wrong(const struct gpu_data *data, uint32_t step, uint64_t offset)
{
	uint64_t count = data->block_bytes / data->element_bytes, wrong = 0;
	uint64_t first = (offset + data->rank * data->block_bytes) / data->element_bytes;
	struct dice dice = dice_of(data, step);
	for (uint32_t from = 0; from < data->ranks; from++) {
		const uint8_t *block = data->landed + offset + from * data->block_bytes;
		for (uint64_t i = 0; from != data->rank && i < count; i++) {
			uint32_t die = die_of(&dice, first + i);
			wrong += !is_as(data, block, i, (float)gpu_pattern_value(die, from));
		}
	}
	return wrong;
}

uint64_t gpu_host_sums_wrong(const struct gpu_data *data, uint32_t step, uint64_t offset,
			     uint64_t bytes)
{
	uint64_t first = offset / data->element_bytes, count = bytes / data->element_bytes;
	struct dice dice = dice_of(data, step);
	uint64_t wrong = 0;
	for (uint64_t i = first; i < first + count; i++) {
		uint64_t sum = gpu_pattern_sum(die_of(&dice, i), data->ranks);
		wrong += !is_as(data, data->sums, i, (float)sum);
	}
	return wrong;
}

// ---------------------------------------------------------------- ranks that are not there

void gpu_host_play_parts(const struct gpu_data *data, uint32_t step, uint64_t offset,
			 const uint8_t *is_here)
{
	uint64_t first = (offset + data->rank * data->block_bytes) / data->element_bytes;
	struct faces faces;
	value_faces(&faces);
	for (uint32_t from = 0; from < data->ranks; from++)
		if (is_here[from] == 0)
			put_faces(data, data->landed + offset + from * data->block_bytes, step,
				  first, data->block_bytes / data->element_bytes, &faces, from);
}

void gpu_host_play_sums(const struct gpu_data *data, uint32_t step, uint64_t offset, uint64_t bytes,
			const uint8_t *is_here)
{
	struct faces faces;
	sum_faces(&faces, data->ranks);
	for (uint64_t at = offset; at < offset + bytes; at += data->block_bytes)
		if (is_here[at % data->slice_bytes / data->block_bytes] == 0)
			put_faces(data, data->sums + at, step, at / data->element_bytes,
				  data->block_bytes / data->element_bytes, &faces, 0);
}
