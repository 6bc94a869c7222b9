// SPDX-License-Identifier: Apache-2.0
// See measure_paths.h.

#include <weft/measure/measure_paths.h>

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>

#define FINE_DIGITS 2u
#define COARSE_DIGITS 1u

int paths_init(struct paths *paths, struct arena *arena, uint32_t count, uint64_t value_max)
{
	struct hist shape;
	unsigned digits = count <= PATHS_FINE_MAX ? FINE_DIGITS : COARSE_DIGITS;
	check(hist_shape(&shape, digits, value_max) == 0);
	*paths = (struct paths){.count = count,
				.cells = shape.cells,
				.half_bits = (uint32_t)shape.half_bits,
				.value_max = value_max};
	paths->counts = arena_draw(arena, ARENA_MEASURE, (uint64_t)count * shape.cells,
				   sizeof(*paths->counts));
	paths->sums = arena_draw(arena, ARENA_MEASURE, count, sizeof(*paths->sums));
	return arena_has_failed(arena) ? -ENOMEM : 0;
}

// Only those that have values: most memory of many paths is never touched.
void paths_empty(struct paths *paths)
{
	for (uint32_t i = 0; i < paths->count; i++) {
		if (paths->sums[i].total == 0)
			continue;
		memset(paths_cells(paths, i), 0, paths->cells * sizeof(*paths->counts));
		paths->sums[i] = (struct hist_sum){0};
	}
}

static void add_up(struct hist_sum *into, const struct hist_sum *from)
{
	if (from->total == 0)
		return;
	into->min = into->total == 0 || from->min < into->min ? from->min : into->min;
	into->max = into->total == 0 || from->max > into->max ? from->max : into->max;
	into->total += from->total;
	into->over += from->over;
	if (__builtin_add_overflow(into->sum, from->sum, &into->sum))
		into->sum = UINT64_MAX; // as hist_add() does
}

void paths_add(struct paths *paths, uint32_t path, int64_t value)
{
	check(path < paths->count && value >= 0);
	bool is_over = (uint64_t)value > paths->value_max;
	uint64_t capped = is_over ? paths->value_max : (uint64_t)value;
	const struct hist_sum one = {1, is_over, (uint64_t)value, value, value};
	paths_cells(paths, path)[hist_cell_in(paths->half_bits, capped)]++;
	add_up(&paths->sums[path], &one);
}

void paths_add_sum(struct paths *paths, uint32_t path, const struct hist_sum *sum)
{
	check(path < paths->count);
	add_up(&paths->sums[path], sum);
}

// The cells of its values.
static void span_of(const struct paths *paths, uint32_t path, uint32_t *ret_first,
		    uint32_t *ret_last)
{
	const struct hist_sum *sum = &paths->sums[path];
	uint64_t max = paths->value_max;
	uint64_t low = (uint64_t)sum->min < max ? (uint64_t)sum->min : max;
	uint64_t high = (uint64_t)sum->max < max ? (uint64_t)sum->max : max;
	*ret_first = (uint32_t)hist_cell_in(paths->half_bits, low);
	*ret_last = (uint32_t)hist_cell_in(paths->half_bits, high);
}

void paths_merge(struct paths *into, const struct paths *from)
{
	check(into->count == from->count && into->cells == from->cells);
	for (uint32_t path = 0; path < from->count; path++) {
		uint32_t first, last;
		if (from->sums[path].total == 0)
			continue;
		span_of(from, path, &first, &last);
		for (uint32_t i = first; i <= last; i++)
			paths_cells(into, path)[i] += paths_cells(from, path)[i];
		add_up(&into->sums[path], &from->sums[path]);
	}
}

void paths_shape(const struct paths *paths, struct hist *ret)
{
	unsigned digits = paths->count <= PATHS_FINE_MAX ? FINE_DIGITS : COARSE_DIGITS;
	check(hist_shape(ret, digits, paths->value_max) == 0);
}

bool paths_read(const struct paths *paths, uint32_t path, struct hist *into)
{
	const struct hist_sum *sum = &paths->sums[path];
	const uint32_t *cells = paths_cells(paths, path);
	uint32_t first, last;
	uint64_t seen = 0;
	check(path < paths->count && into->cells == paths->cells);
	if (sum->total == 0)
		return true;
	span_of(paths, path, &first, &last);
	for (uint32_t i = first; i <= last; i++)
		seen += cells[i];
	if (seen != sum->total)
		return false;
	for (uint32_t i = first; i <= last; i++)
		into->counts[i] += cells[i];
	hist_add_sum(into, sum);
	return true;
}
