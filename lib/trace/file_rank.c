// SPDX-License-Identifier: Apache-2.0
// Which file is of which rank. Kineto says it in the file (distributedInfo.rank), Chakra in its
// name ("x.12.et"); others have the order in which they were given.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "set.h"
#include <weft/core/order.h>

bool trace_file_rank_number(const char *path, uint32_t *ret)
{
	const char *name = strrchr(path, '/');
	uint64_t number = 0;
	name = name == NULL ? path : name + 1;
	const char *end = strrchr(name, '.');
	if (end != NULL && strcmp(end, ".gz") == 0)
		end = memrchr(name, '.', (size_t)(end - name));
	const char *begin = end == NULL ? NULL : memrchr(name, '.', (size_t)(end - name));
	if (begin == NULL || end - begin < 2 || end - begin > 10)
		return false;
	for (const char *at = begin + 1; at < end; at++) {
		if (*at < '0' || *at > '9')
			return false;
		number = number * 10 + (uint64_t)(*at - '0');
	}
	*ret = (uint32_t)number;
	return true;
}

bool trace_file_rank_takes(struct trace_rank *rank, uint32_t own)
{
	bool is_same = (!rank->has_number || rank->number == own) &&
		(!rank->has_own || rank->own == own);
	rank->own = is_same ? own : rank->own;
	rank->has_own |= is_same;
	return is_same;
}

static int by_number(const void *a, const void *b)
{
	const struct trace_rank *first = a, *second = b;
	return ORDER(first->number, second->number);
}

static int file_rank_refuse(struct refusal *refusal, const struct trace_rank *at, const char *text,
			    int64_t first, int64_t second)
{
	if (at != NULL)
		refusal_name(refusal, at->path);
	return refuse(refusal, -EINVAL, text, first, second);
}

// Ranks of the job: what the files say, or one more than the largest.
static int check_numbers(const struct trace_set *set, struct refusal *refusal)
{
	uint32_t last = set->ranks[set->rank_count - 1].number;
	uint32_t ranks = set->world > 0 ? set->world : last + 1;
	for (uint32_t i = 0; i < set->rank_count; i++) {
		const struct trace_rank *rank = &set->ranks[i];
		if (i > 0 && rank->number == rank[-1].number)
			return file_rank_refuse(refusal, rank, "rank % has a second file",
						rank->number, 0);
		if (rank->number >= ranks)
			return file_rank_refuse(refusal, rank, "this is of rank % of a job of %",
						rank->number, ranks);
		if (rank->number != i)
			return refuse(refusal, -EINVAL,
				      "there is no file of rank %: % of the job's % ranks have one",
				      i, set->rank_count, ranks);
	}
	return set->rank_count == ranks
		? 0
		: refuse(refusal, -EINVAL,
			 "there is no file of rank %: % of the job's % ranks have one",
			 set->rank_count, set->rank_count, ranks);
}

int trace_file_rank(struct trace_set *set, struct refusal *refusal)
{
	uint32_t numbered = 0;
	if (set->rank_count < 2)
		return 0;
	for (uint32_t i = 0; i < set->rank_count; i++)
		numbered += set->ranks[i].has_number;
	for (uint32_t i = 0; i < set->rank_count && numbered > 0; i++)
		if (!set->ranks[i].has_number)
			return file_rank_refuse(refusal, &set->ranks[i],
						"this file does not say its rank, and % others do",
						numbered, 0);
	if (numbered > 0) {
		qsort(set->ranks, set->rank_count, sizeof(*set->ranks), by_number);
		return check_numbers(set, refusal);
	}
	for (uint32_t i = 0; i < set->rank_count; i++)
		if (set->ranks[i].has_own && set->ranks[i].own != i)
			return file_rank_refuse(refusal, &set->ranks[i],
						"this file stands for rank %, and its messages are "
						"of rank %",
						i, set->ranks[i].own);
	return set->world == 0 || set->world == set->rank_count
		? 0
		: refuse(refusal, -EINVAL, "there are files of % of the job's % ranks",
			 set->rank_count, set->world);
}
