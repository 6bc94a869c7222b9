// SPDX-License-Identifier: Apache-2.0
// Log-linear histograms after G. Tene's HdrHistogram (public domain): the layout is his, the code
// is not. With b = cell_bits the first bucket has 2^b cells of width 1; each bucket behind it
// starts at twice the value and has 2^(b-1) cells of twice the width. A cell is thus narrower than
// its lowest value / 2^(b-1), and 2^b >= 2 * 10^digits makes that one part in 10^digits.

#include <weft/measure/measure_add.h>

#include <errno.h>
#include <stddef.h>

#include <weft/core/check.h>

#define PARTS UINT64_C(1000000)

// log2 of the cells of the first bucket: the smallest that keeps `digits`.
static uint32_t cell_bits_for(unsigned digits)
{
	uint64_t cells = 2;
	for (unsigned i = 0; i < digits; i++)
		cells *= 10;
	uint32_t bits = 0;
	while (UINT64_C(1) << bits < cells)
		bits++;
	return bits;
}

static uint32_t cell_of(uint32_t cell_bits, uint64_t value)
{
	const struct hist shape = {.half_bits = cell_bits - 1,
				   .half = UINT64_C(1) << (cell_bits - 1)};
	return (uint32_t)hist_cell(&shape, value);
}

static bool is_shape(unsigned digits, uint64_t value_max)
{
	return digits >= 1 && digits <= 4 && value_max <= INT64_MAX;
}

int hist_shape(struct hist *ret, unsigned digits, uint64_t value_max)
{
	if (!is_shape(digits, value_max))
		return -EINVAL;
	uint32_t bits = cell_bits_for(digits);
	*ret = (struct hist){
		.cells = cell_of(bits, value_max) + 1,
		.cell_bits = bits,
		.value_max = value_max,
		.half = UINT64_C(1) << (bits - 1),
		.half_bits = bits - 1,
	};
	return 0;
}

int hist_init(struct hist *hist, struct arena *arena, unsigned digits, uint64_t value_max)
{
	struct hist shape;
	int rc = hist_shape(&shape, digits, value_max);
	if (rc < 0)
		return rc;
	uint64_t bytes = hist_bytes(digits, value_max);
	shape.counts = arena_draw(arena, ARENA_MEASURE, bytes / sizeof(*shape.counts),
				  sizeof(*shape.counts)); // the arena gives zeroed memory
	if (shape.counts == NULL)
		return -ENOMEM;
	*hist = shape;
	return 0;
}

uint64_t hist_bytes(unsigned digits, uint64_t value_max)
{
	if (!is_shape(digits, value_max))
		return 0;
	uint64_t cells = (uint64_t)cell_of(cell_bits_for(digits), value_max) + 1;
	// Whole cache lines, so that the arena adds no padding between histograms.
	return (cells * sizeof(uint64_t) + 63) & ~UINT64_C(63);
}

void hist_empty(struct hist *hist)
{
	for (uint32_t i = 0; i < hist->cells; i++)
		hist->counts[i] = 0;
	hist->total = hist->over = hist->sum = 0;
	hist->min = hist->max = 0;
	hist->usual_count = 0;
}

// A sum that does not fit stays at the largest number instead of starting again at zero.
static uint64_t sum_of(uint64_t a, uint64_t b)
{
	uint64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

// Values between the extremes that came are usual from here on, up to the largest in range.
static void note_extremes(struct hist *hist)
{
	uint64_t low = (uint64_t)hist->min, high = (uint64_t)hist->max;
	if (low > hist->value_max)
		return;
	hist->usual = low;
	hist->usual_count = (high < hist->value_max ? high : hist->value_max) - low + 1;
}

void hist_add_many(struct hist *hist, int64_t value, uint64_t times)
{
	check(value >= 0);
	uint64_t exact = (uint64_t)value, all;
	uint64_t capped = exact;
	if (times == 0)
		return;
	if (exact > hist->value_max) {
		hist->over += times;
		capped = hist->value_max;
	}
	hist->counts[hist_cell(hist, capped)] += times;
	if (hist->total == 0 || value < hist->min)
		hist->min = value;
	if (hist->total == 0 || value > hist->max)
		hist->max = value;
	hist->total += times;
	if (__builtin_mul_overflow(exact, times, &all))
		all = UINT64_MAX;
	hist->sum = sum_of(hist->sum, all);
	note_extremes(hist);
}

void hist_add(struct hist *hist, int64_t value)
{
	hist_note(hist, value);
}

void hist_add_sum(struct hist *hist, const struct hist_sum *sum)
{
	if (sum->total == 0)
		return;
	check(sum->min >= 0 && (sum->over > 0 || (uint64_t)sum->max <= hist->value_max));
	if (hist->total == 0 || sum->min < hist->min)
		hist->min = sum->min;
	if (hist->total == 0 || sum->max > hist->max)
		hist->max = sum->max;
	hist->total += sum->total;
	hist->over += sum->over;
	hist->sum = sum_of(hist->sum, sum->sum);
	note_extremes(hist);
}

void hist_merge(struct hist *into, const struct hist *from)
{
	check(into->cell_bits == from->cell_bits && into->value_max == from->value_max);
	if (from->total == 0)
		return;
	uint64_t last = (uint64_t)from->max < from->value_max ? (uint64_t)from->max
							      : from->value_max;
	uint64_t first = (uint64_t)from->min < last ? (uint64_t)from->min : last;
	for (uint64_t i = hist_cell(from, first); i <= hist_cell(from, last); i++)
		into->counts[i] += from->counts[i];
	if (into->total == 0 || from->min < into->min)
		into->min = from->min;
	if (into->total == 0 || from->max > into->max)
		into->max = from->max;
	into->total += from->total;
	into->over += from->over;
	into->sum = sum_of(into->sum, from->sum);
}

// Nearest rank, 1 .. total: the smallest rank with rank / total >= parts / 10^6. Split so that no
// product leaves 64 bits.
static uint64_t rank_of(uint64_t total, uint32_t parts)
{
	uint64_t rank = total / PARTS * parts + (total % PARTS * parts + PARTS - 1) / PARTS;
	return rank == 0 ? 1 : rank;
}

int64_t hist_quantile(const struct hist *hist, uint32_t parts_per_million)
{
	check(parts_per_million <= PARTS);
	if (hist->total == 0)
		return -1;
	uint64_t rank = rank_of(hist->total, parts_per_million);
	if (rank > hist->total - hist->over)
		return hist->max; // all above value_max is in one cell: the maximum bounds it
	uint32_t cell = 0;
	for (uint64_t seen = hist->counts[0]; seen < rank; seen += hist->counts[cell])
		cell++;
	uint64_t width;
	uint64_t highest = hist_cell_low(hist, cell, &width) + width - 1;
	if (highest > hist->value_max)
		highest = hist->value_max;
	return highest > (uint64_t)hist->max ? hist->max : (int64_t)highest;
}

int64_t hist_mean(const struct hist *hist)
{
	return hist->total == 0 ? -1 : (int64_t)(hist->sum / hist->total);
}

uint64_t hist_cell_low(const struct hist *hist, uint32_t index, uint64_t *ret_width)
{
	check(index < hist->cells);
	uint32_t half_bits = (uint32_t)hist->half_bits;
	uint32_t shift = index >> hist->cell_bits == 0 ? 0 : (index >> half_bits) - 1;
	if (ret_width != NULL)
		*ret_width = UINT64_C(1) << shift;
	return (uint64_t)(index - (shift << half_bits)) << shift;
}
