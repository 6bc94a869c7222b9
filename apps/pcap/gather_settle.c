// SPDX-License-Identifier: Apache-2.0
// Who answers whom, once all is known.

#include <stdlib.h>

#include <weft/core/psn.h>

#include "gather.h"

static int by_pair(const void *a, const void *b)
{
	const struct stream_key *one = *(const struct stream_key *const *)a,
				*other = *(const struct stream_key *const *)b;
	const uint32_t ones[] = {one->source, one->target, one->found, one->qpn};
	const uint32_t others[] = {other->source, other->target, other->found, other->qpn};
	for (int i = 0; i < 4; i++)
		if (ones[i] != others[i])
			return ones[i] < others[i] ? -1 : 1;
	return 0;
}

// The entries of a table in the order of pairs, then of QPs.
static struct stream_key **in_order(const struct table_of *table)
{
	struct stream_key **ret = calloc(table->count + 1u, sizeof(struct stream_key *));
	for (uint32_t i = 0; ret != NULL && i < table->count; i++)
		ret[i] = table_of_at(table, i); // its key is its first member
	if (ret != NULL)
		qsort(ret, table->count, sizeof(*ret), by_pair);
	return ret;
}

static bool is_pair(const struct stream_key *key, uint32_t source, uint32_t target, uint32_t found)
{
	return key->source == source && key->target == target && key->found == found;
}

// The first answers of a pair, in the order of pairs.
static uint32_t first_answers(const struct gather *all, struct stream_key **answers,
			      const struct stream_key *wanted)
{
	uint32_t low = 0, high = all->answers.count;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (by_pair(&answers[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// The QPs of a pair are numbered alike at both ends: the first way there has the first way back. A
// QP that only SACKs probes is none of them where others acknowledge.
static void pair_ways(const struct gather *all, struct stream_key **streams, uint32_t ways,
		      struct stream_key **answers)
{
	const struct stream_key *key = streams[0];
	const struct stream_key back = {key->target, key->source, 0, key->found};
	uint32_t first = first_answers(all, answers, &back), end = first;
	bool has_acks = false;
	for (; end < all->answers.count &&
	     is_pair(answers[end], back.source, back.target, back.found);
	     end++)
		has_acks |= ((struct answers *)answers[end])->acks > 0;
	for (uint32_t i = first, way = 0; i < end && way < ways; i++) {
		struct answers *of = (struct answers *)answers[i];
		if (of->acks > 0 || !has_acks)
			((struct stream *)streams[way++])->answers = of;
	}
}

static void pair(struct gather *all, struct stream_key **streams, struct stream_key **answers)
{
	for (uint32_t i = 0, ways; i < all->streams.count; i += ways) {
		const struct stream_key *key = streams[i];
		for (ways = 1; i + ways < all->streams.count &&
		     is_pair(streams[i + ways], key->source, key->target, key->found);)
			ways++;
		pair_ways(all, streams + i, ways, answers);
	}
}

// Messages that one kind of answer tells the end of.
static void end_messages(struct gather *all, const struct stream *stream, uint32_t *order,
			 uint32_t count, bool is_sack)
{
	uint32_t next = 0;
	for (uint32_t i = 0; i < stream->answers->count && next < count; i++) {
		const struct answer *answer = &stream->answers->list[i];
		if (answer->is_sack != is_sack || answer->place != stream->place)
			continue;
		for (; next < count; next++) {
			struct message *message = &all->ret->list[order[next]];
			uint32_t psn = psn_extend(message->last_psn, answer->psn);
			if (!message->has_last || psn_distance(psn, message->last_psn) < 0)
				break;
			if (message->end_ns < 0 && answer->at_ns >= message->start_ns)
				message->end_ns = answer->at_ns;
		}
	}
}

// The messages of a stream in the order of PSNs into `order`; where the end of one did not pass, it
// is before the next one.
static uint32_t order_messages(struct gather *all, const struct stream *stream, uint32_t *order)
{
	uint32_t count = 0;
	for (uint32_t at = stream->newest; at != 0; at = all->olders[at - 1])
		order[count++] = at - 1;
	for (uint32_t i = 0; i < count / 2; i++) {
		uint32_t swap = order[i];
		order[i] = order[count - 1 - i];
		order[count - 1 - i] = swap;
	}
	const struct message *list = all->ret->list;
	for (uint32_t i = 1; i < count; i++) // nearly in order
		for (uint32_t k = i; k > 0 &&
		     psn_distance(list[order[k - 1]].first_psn, list[order[k]].first_psn) > 0;
		     k--) {
			uint32_t swap = order[k];
			order[k] = order[k - 1];
			order[k - 1] = swap;
		}
	for (uint32_t i = 0; i + 1 < count; i++) {
		struct message *message = &all->ret->list[order[i]];
		if (!message->has_last)
			message->last_psn = list[order[i + 1]].first_psn - 1;
		message->has_last = true;
	}
	return count;
}

bool gather_settle(struct gather *all)
{
	struct stream_key **streams = in_order(&all->streams), **answers = in_order(&all->answers);
	uint32_t *order = calloc(all->ret->count + 1u, sizeof(*order));
	bool is_good = streams != NULL && answers != NULL && order != NULL;
	if (is_good)
		pair(all, streams, answers);
	for (uint32_t i = 0; is_good && i < all->streams.count; i++) {
		const struct stream *stream = table_of_at(&all->streams, i);
		uint32_t count = order_messages(all, stream, order);
		for (int is_sack = 0; stream->answers != NULL && is_sack < 2; is_sack++)
			end_messages(all, stream, order, count, is_sack);
	}
	free(streams);
	free(answers);
	free(order);
	return is_good;
}
