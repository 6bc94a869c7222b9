// SPDX-License-Identifier: Apache-2.0
// Who is whose mate, which way each goes, what the clocks say.
//
// Of one pair of nodes what goes from A to B has t(B) - t(A) = offset + delay, what comes back
// offset
// - delay: so the way whose difference is larger goes from A to B. As no delay is below 0, the
// offset lies between the largest difference of what comes back and the smallest of what goes.

#include <stdlib.h>
#include <string.h>

#include "matching.h"
#include <weft/core/order.h>

#define SLICES 16

static const struct sighting *sort_list; // what orders are of, while they are sorted

static int by_name(const void *a, const void *b)
{
	const struct sighting *one = &sort_list[*(const uint32_t *)a],
			      *other = &sort_list[*(const uint32_t *)b];
	if (one->name != other->name)
		return one->name < other->name ? -1 : 1;
	return one < other ? -1 : one > other; // order of the capture
}

static bool sort_names(struct matching *all, int which)
{
	uint32_t count = all->both[which].count;
	uint32_t *order = all->orders[which] = calloc(count + 1u, sizeof(*order));
	if (order == NULL)
		return false;
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	sort_list = all->both[which].list;
	qsort(order, count, sizeof(*order), by_name);
	return true;
}

// ---------------------------------------------------------------- mates

static void join(struct matching *all, uint32_t a, uint32_t b)
{
	all->both[0].list[a].mate = b;
	all->both[1].list[b].mate = a;
}

// Copies of one name: as many here as there, one after the other; else those whose difference is
// nearest to `typical`.
static void join_group(struct matching *all, const uint32_t *a, uint32_t a_count, const uint32_t *b,
		       uint32_t b_count, bool has_typical, int64_t typical_ns)
{
	if (a_count == b_count) {
		for (uint32_t i = 0; i < a_count; i++)
			join(all, a[i], b[i]);
		return;
	}
	if (!has_typical)
		return;
	bool is_b_few = b_count < a_count;
	uint32_t few = is_b_few ? b_count : a_count, many = is_b_few ? a_count : b_count;
	const uint32_t *fews = is_b_few ? b : a, *manys = is_b_few ? a : b;
	for (uint32_t i = 0, from = 0; i < few; i++) {
		int64_t best_ns = INT64_MAX;
		uint32_t best = from;
		for (uint32_t k = from; k + (few - i) <= many; k++) {
			const struct sighting *one =
				&all->both[0].list[is_b_few ? manys[k] : fews[i]];
			const struct sighting *other =
				&all->both[1].list[is_b_few ? fews[i] : manys[k]];
			int64_t off_ns = llabs(other->at_ns - one->at_ns - typical_ns);
			if (off_ns < best_ns) {
				best_ns = off_ns;
				best = k;
			}
		}
		if (is_b_few)
			join(all, manys[best], fews[i]);
		else
			join(all, fews[i], manys[best]);
		from = best + 1;
	}
}

// The next group of both orders that has one name; false: there is none.
static bool next_group(const struct matching *all, uint32_t at[2], uint32_t count[2])
{
	for (;;) {
		uint64_t names[2];
		for (int i = 0; i < 2; i++) {
			at[i] += count[i];
			count[i] = 0;
			if (at[i] == all->both[i].count)
				return false;
			names[i] = all->both[i].list[all->orders[i][at[i]]].name;
		}
		for (int i = 0; i < 2; i++)
			while (names[i] <= names[1 - i] && at[i] + count[i] < all->both[i].count &&
			       all->both[i].list[all->orders[i][at[i] + count[i]]].name == names[i])
				count[i]++;
		if (names[0] == names[1])
			return true;
	}
}

// With `typical`, by way, groups of which one point has fewer, too.
static void join_all(struct matching *all, const int64_t *typical)
{
	uint32_t at[2] = {0}, count[2] = {0};
	while (next_group(all, at, count)) {
		const uint32_t *a = all->orders[0] + at[0], *b = all->orders[1] + at[1];
		bool is_even = count[0] == count[1];
		if (typical == NULL ? is_even : !is_even)
			join_group(all, a, count[0], b, count[1], typical != NULL,
				   typical != NULL ? typical[all->both[0].list[a[0]].way] : 0);
	}
}

// ---------------------------------------------------------------- ways

struct pair {
	uint64_t key; // source and target
	int64_t median_ns;
	uint8_t way;
};

static int by_key(const void *a, const void *b)
{
	const struct pair *one = a, *other = b;
	return ORDER(one->key, other->key);
}

static int by_key_and_median(const void *a, const void *b)
{
	const struct pair *one = a, *other = b;
	return ORDER(one->key, other->key) ?: ORDER(one->median_ns, other->median_ns);
}

static uint64_t key_of(uint32_t source, uint32_t target)
{
	return (uint64_t)source << 32 | target;
}

static struct pair *find_pair(struct pair *pairs, uint32_t count, uint32_t source, uint32_t target)
{
	struct pair wanted = {.key = key_of(source, target)};
	return bsearch(&wanted, pairs, count, sizeof(*pairs), by_key);
}

// All that was matched, as pairs of nodes with their median difference.
static uint32_t gather_pairs(const struct matching *all, struct pair *pairs)
{
	uint32_t count = 0, kept = 0;
	for (uint32_t i = 0; i < all->both[0].count; i++) {
		const struct sighting *of = &all->both[0].list[i];
		if (of->mate != ALONE)
			pairs[count++] = (struct pair){.key = key_of(of->source, of->target),
						       .median_ns = difference(all, of)};
	}
	qsort(pairs, count, sizeof(*pairs), by_key_and_median);
	for (uint32_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && pairs[end].key == pairs[i].key;)
			end++;
		pairs[kept++] = pairs[i + (end - i) / 2];
	}
	return kept;
}

static void set_ways(struct matching *all, struct pair *pairs, uint32_t count, bool *ret_both)
{
	int64_t sum_ns = 0, known = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct pair *back = find_pair(pairs, count, (uint32_t)pairs[i].key,
					      (uint32_t)(pairs[i].key >> 32));
		pairs[i].way = 2; // not known
		if (back == NULL)
			continue;
		pairs[i].way = pairs[i].median_ns < back->median_ns ||
			(pairs[i].median_ns == back->median_ns && pairs[i].key > back->key);
		sum_ns += (pairs[i].median_ns + back->median_ns) / 2;
		known++;
	}
	*ret_both = known > 0;
	int64_t offset_ns = known > 0 ? sum_ns / known : 0;
	for (uint32_t i = 0; i < count; i++)
		if (pairs[i].way == 2) {
			pairs[i].way = pairs[i].median_ns < offset_ns;
			all->ret->is_assumed |= known == 0;
		}
}

// What passed one point alone goes the way of its pair; of a pair that never passed both, none.
static void spread_ways(struct matching *all, struct pair *pairs, uint32_t count)
{
	for (int which = 0; which < 2; which++)
		for (uint32_t i = 0; i < all->both[which].count; i++) {
			struct sighting *of = &all->both[which].list[i];
			const struct pair *pair = find_pair(pairs, count, of->source, of->target);
			of->way = pair == NULL ? 2 : pair->way;
		}
}

// ---------------------------------------------------------------- clocks

struct bounds {
	int64_t low_ns, high_ns; // the offset lies between
	bool has_low, has_high;
};

static void bound(struct bounds *bounds, const struct sighting *of, int64_t level_ns)
{
	if (of->way == 0 && (!bounds->has_high || level_ns < bounds->high_ns)) {
		bounds->high_ns = level_ns;
		bounds->has_high = true;
	} else if (of->way == 1 && (!bounds->has_low || level_ns > bounds->low_ns)) {
		bounds->low_ns = level_ns;
		bounds->has_low = true;
	}
}

static struct bounds bounds_of(const struct matching *all, struct bounds slices[SLICES])
{
	struct bounds ret = {0};
	int64_t span_ns = all->to_ns - all->from_ns + 1;
	for (uint32_t i = 0; i < all->both[0].count; i++) {
		const struct sighting *of = &all->both[0].list[i];
		if (of->mate == ALONE || of->at_ns < all->from_ns || of->at_ns > all->to_ns)
			continue;
		int64_t level_ns = level(all, of);
		bound(&ret, of, level_ns);
		if (slices != NULL) {
			double part = (double)(of->at_ns - all->from_ns) / (double)span_ns;
			bound(&slices[(int)(part * SLICES) % SLICES], of, level_ns);
		}
	}
	return ret;
}

// The slope of a line through the middles of slices; a width is their weight.
static double slope_of(const struct matching *all, const struct bounds slices[SLICES])
{
	double weights = 0, x = 0, y = 0, xx = 0, xy = 0;
	double step = (double)(all->to_ns - all->from_ns + 1) / SLICES;
	for (int i = 0; i < SLICES; i++) {
		const struct bounds *of = &slices[i];
		if (!of->has_low || !of->has_high)
			continue;
		double width = (double)(of->high_ns - of->low_ns) + 1;
		double weight = 1 / (width * width), at = (i + 0.5) * step;
		double middle = ((double)of->low_ns + (double)of->high_ns) / 2;
		weights += weight;
		x += weight * at;
		y += weight * middle;
		xx += weight * at * at;
		xy += weight * at * middle;
	}
	double spread = weights * xx - x * x;
	return spread > 0 ? (weights * xy - x * y) / spread : 0;
}

// The right drift leaves the offset the most room, as each other one takes away some: so one that
// leaves more is believed. Where none leaves any, the packets are not the same.
static void find_offset(struct matching *all)
{
	struct bounds slices[SLICES];
	memset(slices, 0, sizeof(slices));
	struct bounds plain = bounds_of(all, slices), best = plain;
	all->ret->has_both_ways = plain.has_low && plain.has_high;
	if (!all->ret->has_both_ways)
		return;
	all->drift = slope_of(all, slices);
	struct bounds drifted = bounds_of(all, NULL);
	int64_t plain_ns = plain.high_ns - plain.low_ns;
	all->ret->has_drift = drifted.high_ns - drifted.low_ns > plain_ns + llabs(plain_ns) / 4;
	if (all->ret->has_drift)
		best = drifted;
	else
		all->drift = 0;
	int64_t room_ns = best.high_ns - best.low_ns;
	all->ret->are_two_events = room_ns < 0;
	all->ret->offset_ns = best.low_ns + room_ns / 2;
	all->ret->error_ns = llabs(room_ns) / 2 + 1;
	all->ret->drift_ppm = all->drift * 1e6;
}

static void find_window(struct matching *all)
{
	for (int which = 0; which < 2; which++)
		for (uint32_t i = 0; i < all->both[which].count; i++) {
			int64_t at_ns = all->both[which].list[i].at_ns;
			int64_t *first = &all->first_ns[which], *last = &all->last_ns[which];
			*first = i == 0 || at_ns < *first ? at_ns : *first;
			*last = i == 0 || at_ns > *last ? at_ns : *last;
		}
	all->from_ns = INT64_MAX;
	all->to_ns = INT64_MIN;
	for (uint32_t i = 0; i < all->both[0].count; i++) {
		const struct sighting *of = &all->both[0].list[i];
		if (of->mate == ALONE)
			continue;
		all->ret->common++;
		all->from_ns = of->at_ns < all->from_ns ? of->at_ns : all->from_ns;
		all->to_ns = of->at_ns > all->to_ns ? of->at_ns : all->to_ns;
	}
	all->ret->window_ns = all->ret->common > 0 ? all->to_ns - all->from_ns : 0;
}

static bool compare(struct matching *all, struct pair *pairs)
{
	if (!sort_names(all, 0) || !sort_names(all, 1))
		return false;
	join_all(all, NULL);
	uint32_t count = gather_pairs(all, pairs);
	bool has_both = false;
	set_ways(all, pairs, count, &has_both);
	spread_ways(all, pairs, count);
	int64_t typical[3] = {0};
	for (uint32_t i = count; i-- > 0;)
		typical[pairs[i].way] = pairs[i].median_ns;
	join_all(all, typical);
	find_window(all);
	if (all->ret->common == 0)
		return true;
	find_offset(all);
	return matching_count(all);
}

bool sightings_compare(struct between *ret, struct sightings both[2])
{
	struct matching all = {.both = both, .ret = ret};
	struct pair *pairs = calloc(both[0].count + 1u, sizeof(*pairs));
	all.values = calloc(both[0].count + 1u, sizeof(*all.values));
	bool is_good = pairs != NULL && all.values != NULL && compare(&all, pairs);
	free(pairs);
	free(all.values);
	free(all.orders[0]);
	free(all.orders[1]);
	return is_good;
}
