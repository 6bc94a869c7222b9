// SPDX-License-Identifier: Apache-2.0
// Several capture points in one: each saw what the others did, and counts it again.

#include <string.h>

#include "analyze/story.h"

#define SAID 4u // points; more are a number

// What is wrong as one capture point sees it.
struct point {
	uint32_t place;
	enum flow_cause cause; // of most; FLOW_CAUSE_COUNT: none
	uint64_t count;
};

static struct point point_of(const struct call *call, uint32_t place, bool *ret_has_data)
{
	struct point point = {.place = place, .cause = FLOW_CAUSE_COUNT};
	uint64_t causes[FLOW_CAUSE_COUNT] = {0};
	*ret_has_data = false;
	for (uint32_t i = 0; i < call->report->stream_count; i++) {
		const struct flow_stream *stream = &call->report->streams[i];
		if (!stream->is_used || stream->place != place)
			continue;
		*ret_has_data |= stream->data > 0;
		for (int cause = 0; cause < FLOW_CAUSE_COUNT; cause++)
			causes[cause] += stream->causes[cause];
	}
	for (int cause = 0; cause < FLOW_CAUSE_COUNT; cause++)
		if (causes[cause] > point.count) {
			point.cause = (enum flow_cause)cause;
			point.count = causes[cause];
		}
	return point;
}

// Those where data passed. Returns how many; the first SAID go to `ret`.
static uint32_t points_find(const struct call *call, struct point ret[SAID])
{
	uint32_t count = 0;
	for (uint32_t place = 0; place < call->place_count; place++) {
		bool has_data;
		struct point point = point_of(call, place, &has_data);
		if (has_data && count < SAID)
			ret[count] = point;
		count += has_data;
	}
	return count;
}

static const struct flow_stream *worst_of(const struct call *call, const struct point *point)
{
	const struct flow_stream *worst = NULL;
	for (uint32_t i = 0; i < call->report->stream_count; i++) {
		const struct flow_stream *stream = &call->report->streams[i];
		uint64_t count = stream->is_used && stream->place == point->place
			? stream->causes[point->cause]
			: 0;
		if (count > 0 && (worst == NULL || count > worst->causes[point->cause]))
			worst = stream;
	}
	return worst;
}

static bool is_same(const struct flow_stream *a, const struct flow_stream *b)
{
	return a != NULL && b != NULL && a->qpn == b->qpn &&
		memcmp(a->source, b->source, sizeof(a->source)) == 0 &&
		memcmp(a->target, b->target, sizeof(a->target)) == 0;
}

// Of two points that one direction passes one is before a loss, and one behind it.
static bool are_around(const struct call *call, const struct point points[SAID], uint32_t count,
		       uint32_t *ret_first)
{
	if (count != 2)
		return false;
	*ret_first = points[0].cause == FLOW_LOSS_BEHIND ? 0 : 1;
	const struct point *first = &points[*ret_first], *second = &points[1 - *ret_first];
	return first->cause == FLOW_LOSS_BEHIND && second->cause == FLOW_LOSS_BEFORE &&
		is_same(worst_of(call, first), worst_of(call, second));
}

static const char *name_of(const struct call *call, uint32_t place)
{
	return call->places[place][0] != '\0' ? call->places[place] : "(no name)";
}

bool points_around(const struct call *call, const char *ret_names[2])
{
	struct point points[SAID];
	uint32_t first, count = points_find(call, points);
	if (!are_around(call, points, count, &first))
		return false;
	ret_names[0] = name_of(call, points[first].place);
	ret_names[1] = name_of(call, points[1 - first].place);
	return true;
}

void points_say_count(FILE *to, const struct call *call)
{
	struct point points[SAID];
	uint32_t first, count = points_find(call, points);
	if (count > 1 && !are_around(call, points, count, &first))
		fprintf(to, "; at %u capture points", count);
}

void points_say(FILE *to, const struct call *call)
{
	struct point points[SAID];
	uint32_t count = points_find(call, points);
	char number[WORDS_BYTES];
	if (count < 2)
		return;
	fprintf(to, "%u capture points, and what passes several counts at each:", count);
	for (uint32_t i = 0; i < count && i < SAID; i++) {
		const struct point *point = &points[i];
		fprintf(to, "%s %s: ", i > 0 ? ";" : "", name_of(call, point->place));
		if (point->cause == FLOW_CAUSE_COUNT)
			fprintf(to, "no fault");
		else
			fprintf(to, "%s, %s", cause_words(point->cause),
				count_words(number, point->count));
	}
	if (count > SAID)
		fprintf(to, "; and %u more (--table)", count - SAID);
	fputc('\n', to);
}
