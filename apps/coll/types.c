// SPDX-License-Identifier: Apache-2.0
// Words and numbers as nccl-tests has them.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/near_word.h>

#include "coll.h"
#include <weft/run/outcome.h>

static const struct data_type types[] = {
	{"int8", 1}, {"uint8", 1}, {"int32", 4},  {"uint32", 4},   {"int64", 8},  {"uint64", 8},
	{"half", 2}, {"float", 4}, {"double", 8}, {"bfloat16", 2}, {"f8e4m3", 1}, {"f8e5m2", 1},
};

int take_type(void *context, const char *word, struct refusal *refusal)
{
	struct near_word near_word = near_word_of(word);
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (strcmp(types[i].name, word) == 0) {
			((struct call *)context)->type = &types[i];
			return 0;
		}
		near_word_see(&near_word, types[i].name);
	}
	return outcome_bad_name(refusal, "there is no data type", &near_word);
}

int kind_parse(const char *word, enum coll_kind *ret)
{
	for (int kind = 0; kind < COLL_KIND_COUNT; kind++)
		if (strcmp(coll_kind_name((enum coll_kind)kind), word) == 0) {
			*ret = (enum coll_kind)kind;
			return 0;
		}
	if (strcmp(word, "alltoall") == 0)
		*ret = COLL_ALL_TO_ALL;
	else if (strcmp(word, "sendrecv") == 0)
		*ret = COLL_SEND_RECEIVE;
	else
		return -EINVAL;
	return 0;
}

int kind_refuse(const char *word, struct refusal *refusal)
{
	static const char *const names[] = {"all_reduce", "reduce_scatter", "all_gather",
					    "alltoall",	  "broadcast",	    "reduce",
					    "gather",	  "scatter",	    "sendrecv"};
	struct near_word near_word = near_word_of(word);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		near_word_see(&near_word, names[i]);
	snprintf(refusal->text, sizeof(refusal->text),
		 "there is no collective '%.64s'; there are: all_reduce, reduce_scatter, "
		 "all_gather, alltoall, broadcast, reduce, gather, scatter, sendrecv",
		 word);
	near_word_append(&near_word, refusal->text, sizeof(refusal->text));
	return -EINVAL;
}

int take_algorithm(void *context, const char *word, struct refusal *refusal)
{
	struct choice *ret = &((struct call *)context)->choice;
	struct near_word near_word = near_word_of(word);
	*ret = (struct choice){.is_auto = strcmp(word, "auto") == 0,
			       .is_credit_ring = strcmp(word, "credit_ring") == 0};
	if (ret->is_auto || ret->is_credit_ring)
		return 0;
	near_word_see(&near_word, "credit_ring");
	for (int i = 0; i < COLL_ALGORITHM_COUNT; i++) {
		const char *name = coll_algorithm_name((enum coll_algorithm)i);
		if (strcmp(name, word) == 0) {
			ret->algorithm = (enum coll_algorithm)i;
			return 0;
		}
		near_word_see(&near_word, name);
	}
	return outcome_bad_name(refusal,
				"an algorithm is auto, credit_ring, ring, tree, double_tree, "
				"halving_doubling, pat, direct or hierarchical, not",
				&near_word);
}
