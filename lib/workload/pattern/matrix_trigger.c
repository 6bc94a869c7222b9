// SPDX-License-Identifier: Apache-2.0
// Triggers of a traffic matrix: what each starts, how often it is fired, and whether all flows
// begin at all. See matrix.h.

#include <errno.h>

#include <weft/core/bitmap.h>

#include "matrix.h"

const char *const matrix_key_names[MATRIX_COUNT] = {
	"id", "start", "size", "trigger", "send_done_trigger", "recv_done_trigger"};

struct settling {
	struct matrix *matrix;
	const char *text;
	size_t bytes;
	struct refusal *refusal;
};

static bool is_head(const struct lines_word *word)
{
	return lines_word_is(word, "Nodes") || lines_word_is(word, "Connections") ||
		lines_word_is(word, "Triggers") || lines_word_is(word, "Failures");
}

// Refuses at `key` in the line of flow `index`, which was read before: the text is read again.
static int refuse_flow(const struct settling *settling, uint32_t index, enum matrix_key key,
		       const char *reason, int64_t first, int64_t second)
{
	struct lines lines = {.at = settling->text,
			      .end = settling->text + settling->bytes,
			      .refusal = settling->refusal};
	struct lines_word word;
	const char *at;
	uint32_t seen = 0;
	while (lines_next_filled(&lines, &at, &word) > 0)
		if (!is_head(&word) && !lines_word_is(&word, "trigger") && seen++ == index)
			break;
	while ((word = lines_take(&lines, &at)).length > 0)
		if (lines_word_is(&word, matrix_key_names[key]))
			break;
	return lines_refuse(&lines, word.column, reason, first, second);
}

// Refuses at the line of trigger `number`, likewise.
static int refuse_trigger(const struct settling *settling, uint32_t number, const char *reason,
			  int64_t first, int64_t second)
{
	struct lines lines = {.at = settling->text,
			      .end = settling->text + settling->bytes,
			      .refusal = settling->refusal};
	struct lines_word word;
	const char *at;
	uint64_t index;
	while (lines_next_filled(&lines, &at, &word) > 0) {
		if (!lines_word_is(&word, "trigger"))
			continue;
		lines_take(&lines, &at); // id
		word = lines_take(&lines, &at);
		if (lines_number(&lines, &word, settling->matrix->trigger_count, &index) == 0 &&
		    index == number)
			break;
	}
	return lines_refuse(&lines, word.column, reason, first, second);
}

// Counts in `fired` by how many flows each trigger is fired.
static int count_one(const struct settling *settling, uint32_t flow, enum matrix_key key,
		     uint32_t number, uint32_t nic)
{
	if (number == 0)
		return 0;
	struct trigger *trigger = &settling->matrix->triggers[number - 1];
	if (trigger->kind == TRIGGER_MULTISHOT && trigger->fired > 0 && trigger->nic != nic)
		return refuse_flow(settling, flow, key,
				   "this is at NIC %, and the multishot is fired at NIC % already: "
				   "which flow is next is known at one NIC only",
				   nic, trigger->nic);
	trigger->nic = nic;
	trigger->fired++;
	if (trigger->kind == TRIGGER_BARRIER && trigger->needed == MATRIX_NEEDS_ONE &&
	    trigger->fired > 1)
		return refuse_flow(settling, flow, key,
				   "trigger % is fired by a flow above, once: a barrier waits for "
				   "several",
				   number, 0);
	return 0;
}

static int count_all(const struct settling *settling)
{
	struct matrix *matrix = settling->matrix;
	for (uint32_t i = 0; i < matrix->flow_count; i++) {
		const struct flow *flow = &matrix->flows[i];
		int rc = count_one(settling, i, MATRIX_SENT, flow->on_sent, flow->from);
		if (rc == 0)
			rc = count_one(settling, i, MATRIX_RECEIVED, flow->on_received, flow->to);
		if (rc < 0)
			return rc;
	}
	for (uint32_t i = 0; i < matrix->trigger_count; i++) {
		struct trigger *trigger = &matrix->triggers[i];
		if (trigger->needed == MATRIX_NEEDS_ALL)
			trigger->needed = trigger->fired;
		if (trigger->kind == TRIGGER_BARRIER && trigger->needed != trigger->fired &&
		    trigger->fired > 0)
			return refuse_trigger(settling, i + 1,
					      "a barrier of %, and % connections fire it",
					      trigger->needed, trigger->fired);
		trigger->fired = 0;
	}
	for (uint32_t i = matrix->flow_count; i-- > 0;) { // the first of the file is the first
		struct flow *flow = &matrix->flows[i];
		if (flow->trigger == 0)
			continue;
		flow->next = matrix->triggers[flow->trigger - 1].first;
		matrix->triggers[flow->trigger - 1].first = i + 1;
	}
	return 0;
}

// Puts the flows that a trigger starts at the end of `order`, once it has fired often enough; of a
// multishot the next, which `needed` has meanwhile.
static uint32_t fire(struct matrix *matrix, uint32_t number, uint32_t *order, uint32_t count)
{
	if (number == 0)
		return count;
	struct trigger *trigger = &matrix->triggers[number - 1];
	if (trigger->kind == TRIGGER_MULTISHOT) {
		if (trigger->needed > 0) {
			order[count++] = trigger->needed - 1;
			trigger->needed = matrix->flows[trigger->needed - 1].next;
		}
		return count;
	}
	if (++trigger->fired != trigger->needed)
		return count;
	for (uint32_t at = trigger->first; at > 0; at = matrix->flows[at - 1].next)
		order[count++] = at - 1;
	return count;
}

// Makes triggers as they were before they were fired; or, of multishots, gets them ready for it.
static void wind_up(struct matrix *matrix, bool is_before)
{
	for (uint32_t i = 0; i < matrix->trigger_count; i++) {
		struct trigger *trigger = &matrix->triggers[i];
		trigger->fired = 0;
		if (trigger->kind == TRIGGER_MULTISHOT)
			trigger->needed = is_before ? trigger->first : MATRIX_NEEDS_ONE;
	}
}

// Lets each flow begin in an order that triggers allow; one that is left would wait for ever.
static int begin_all(const struct settling *settling, uint32_t *order, uint64_t *begun)
{
	struct matrix *matrix = settling->matrix;
	uint32_t count = 0;
	wind_up(matrix, true);
	for (uint32_t i = 0; i < matrix->flow_count; i++)
		if (matrix->flows[i].trigger == 0)
			order[count++] = i;
	for (uint32_t i = 0; i < count; i++) {
		bitmap_set(begun, order[i]);
		count = fire(matrix, matrix->flows[order[i]].on_sent, order, count);
		count = fire(matrix, matrix->flows[order[i]].on_received, order, count);
	}
	for (uint32_t i = 0; i < matrix->flow_count; i++)
		if (!bitmap_get(begun, i))
			return refuse_flow(settling, i, MATRIX_TRIGGER,
					   "this connection would wait for ever: trigger % is "
					   "never fired as often as it needs",
					   matrix->flows[i].trigger, 0);
	wind_up(matrix, false);
	return 0;
}

int matrix_settle(struct matrix *matrix, struct arena *arena, const char *text, size_t bytes,
		  struct refusal *refusal)
{
	struct settling settling = {matrix, text, bytes, refusal};
	if (matrix->trigger_count == 0)
		return 0;
	uint32_t *order = arena_draw(arena, ARENA_WORKLOAD, matrix->flow_count, sizeof(*order));
	uint64_t *begun = arena_draw(arena, ARENA_WORKLOAD, BITMAP_WORDS(matrix->flow_count),
				     sizeof(*begun));
	if (arena_has_failed(arena))
		return refuse(refusal, -ENOMEM, "no memory for triggers");
	int rc = count_all(&settling);
	return rc == 0 ? begin_all(&settling, order, begun) : rc;
}
