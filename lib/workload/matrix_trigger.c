// SPDX-License-Identifier: Apache-2.0
// Triggers of a traffic matrix: which NIC each is of, what it starts, and whether all flows begin
// at all. See matrix.h.

#include <errno.h>

#include "matrix.h"

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
	while (matrix_next_filled(&lines, &at, &word) > 0)
		if (!is_head(&word) && !lines_word_is(&word, "trigger") && seen++ == index)
			break;
	while ((word = lines_take(&lines, &at)).length > 0)
		if (lines_word_is(&word, matrix_key_names[key]))
			break;
	return lines_refuse(&lines, word.column, reason, first, second);
}

// A trigger is of the NIC that first has to do with it.
static int claim(const struct settling *settling, uint32_t flow, enum matrix_key key,
		 uint32_t trigger, uint32_t nic)
{
	if (trigger == 0)
		return 0;
	struct trigger *of = &settling->matrix->triggers[trigger - 1];
	if (of->nic == UINT32_MAX)
		of->nic = nic;
	if (of->nic == nic)
		return 0;
	return refuse_flow(settling, flow, key,
			   "this is at NIC %, but the trigger is of NIC %: what one NIC knows "
			   "another learns by packets alone",
			   nic, of->nic);
}

static int claim_all(const struct settling *settling)
{
	const struct matrix *matrix = settling->matrix;
	for (uint32_t i = 0; i < matrix->flow_count; i++) {
		const struct flow *flow = &matrix->flows[i];
		int rc = claim(settling, i, MATRIX_TRIGGER, flow->trigger, flow->from);
		if (rc == 0)
			rc = claim(settling, i, MATRIX_SENT, flow->on_sent, flow->from);
		if (rc == 0)
			rc = claim(settling, i, MATRIX_RECEIVED, flow->on_received, flow->to);
		if (rc < 0)
			return rc;
	}
	return 0;
}

// Counts in `fired` by how many flows each trigger is fired.
static int count_one(const struct settling *settling, uint32_t flow, enum matrix_key key,
		     uint32_t number)
{
	if (number == 0)
		return 0;
	struct trigger *trigger = &settling->matrix->triggers[number - 1];
	trigger->fired++;
	if (trigger->needed == MATRIX_NEEDS_ONE && trigger->fired > 1)
		return refuse_flow(settling, flow, key,
				   "trigger % is oneshot and was fired by a flow above: a barrier "
				   "waits for several",
				   number, 0);
	return 0;
}

static int count_all(const struct settling *settling)
{
	struct matrix *matrix = settling->matrix;
	for (uint32_t i = 0; i < matrix->flow_count; i++) {
		int rc = count_one(settling, i, MATRIX_SENT, matrix->flows[i].on_sent);
		if (rc == 0)
			rc = count_one(settling, i, MATRIX_RECEIVED, matrix->flows[i].on_received);
		if (rc < 0)
			return rc;
	}
	for (uint32_t i = 0; i < matrix->trigger_count; i++) {
		struct trigger *trigger = &matrix->triggers[i];
		if (trigger->needed == MATRIX_NEEDS_ALL)
			trigger->needed = trigger->fired;
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

// Puts the flows that a trigger starts at the end of `order`, once it has fired often enough.
static uint32_t fire(struct matrix *matrix, uint32_t number, uint32_t *order, uint32_t count)
{
	if (number == 0)
		return count;
	struct trigger *trigger = &matrix->triggers[number - 1];
	if (++trigger->fired != trigger->needed)
		return count;
	for (uint32_t at = trigger->first; at > 0; at = matrix->flows[at - 1].next)
		order[count++] = at - 1;
	return count;
}

// Lets each flow begin in an order that triggers allow; one that is left would wait for ever.
static int begin_all(const struct settling *settling, uint32_t *order)
{
	struct matrix *matrix = settling->matrix;
	uint32_t count = 0, waiting = 0;
	for (uint32_t i = 0; i < matrix->flow_count; i++)
		if (matrix->flows[i].trigger == 0)
			order[count++] = i;
	for (uint32_t i = 0; i < count; i++) {
		count = fire(matrix, matrix->flows[order[i]].on_sent, order, count);
		count = fire(matrix, matrix->flows[order[i]].on_received, order, count);
	}
	while (count < matrix->flow_count) {
		uint32_t number = matrix->flows[waiting].trigger;
		if (number > 0 &&
		    (matrix->triggers[number - 1].needed == 0 ||
		     matrix->triggers[number - 1].fired < matrix->triggers[number - 1].needed))
			return refuse_flow(settling, waiting, MATRIX_TRIGGER,
					   "this connection would wait for ever: trigger % is "
					   "never fired as often as it needs",
					   number, 0);
		waiting++;
	}
	for (uint32_t i = 0; i < matrix->trigger_count; i++)
		matrix->triggers[i].fired = 0;
	return 0;
}

int matrix_settle(struct matrix *matrix, struct arena *arena, const char *text, size_t bytes,
		  struct refusal *refusal)
{
	struct settling settling = {matrix, text, bytes, refusal};
	if (matrix->trigger_count == 0)
		return 0;
	uint32_t *order = arena_draw(arena, ARENA_WORKLOAD, matrix->flow_count, sizeof(*order));
	if (order == NULL)
		return refuse(refusal, -ENOMEM, "no memory for triggers", 0, 0, 0);
	int rc = claim_all(&settling);
	if (rc == 0)
		rc = count_all(&settling);
	return rc == 0 ? begin_all(&settling, order) : rc;
}
