// SPDX-License-Identifier: Apache-2.0
// Words and numbers as nccl-tests has them.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll.h"

const struct data_type *type_find(const char *name)
{
	static const struct data_type types[] = {
		{"int8", 1},   {"uint8", 1},	{"int32", 4},  {"uint32", 4},
		{"int64", 8},  {"uint64", 8},	{"half", 2},   {"float", 4},
		{"double", 8}, {"bfloat16", 2}, {"f8e4m3", 1}, {"f8e5m2", 1},
	};
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (strcmp(types[i].name, name) == 0)
			return &types[i];
	return NULL;
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
	snprintf(refusal->text, sizeof(refusal->text),
		 "there is no collective '%.64s'; there are: all_reduce, reduce_scatter, "
		 "all_gather, alltoall, broadcast, reduce, gather, scatter, sendrecv",
		 word);
	return -EINVAL;
}

int choice_parse(const char *word, struct choice *ret)
{
	*ret = (struct choice){.is_auto = strcmp(word, "auto") == 0,
			       .is_credit_ring = strcmp(word, "credit_ring") == 0};
	if (ret->is_auto || ret->is_credit_ring)
		return 0;
	for (int i = 0; i < COLL_ALGORITHM_COUNT; i++)
		if (strcmp(coll_algorithm_name((enum coll_algorithm)i), word) == 0) {
			ret->algorithm = (enum coll_algorithm)i;
			return 0;
		}
	return -EINVAL;
}
