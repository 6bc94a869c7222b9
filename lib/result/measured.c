// SPDX-License-Identifier: Apache-2.0
// Collectives that ran packet by packet, from a result.json, against their closed form: what
// congestion, headers and credits cost. The schedule then takes all of its collectives to be longer
// by the same share.

#include <weft/result/report_measured.h>

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define COUNT_MAX (INT64_C(1) << 32)
#define TIME_MAX (1000 * PS_PER_S)
#define PPB 1e9
#define LONGER_MAX 1e3 // times

struct sums {
	double measured_ps, closed_ps;
};

// A whole number from 1 to `max`; 0 when it is none.
static int64_t count_of(const json_t *from, const char *name, int64_t max)
{
	const json_t *value = json_object_get(from, name);
	int64_t count = json_is_integer(value) ? json_integer_value(value) : 0;
	return count > 0 && count <= max ? count : 0;
}

static int add_collective(struct sums *sums, const struct world_step *step, const json_t *one,
			  const char *path, struct refusal *refusal)
{
	int64_t bytes = count_of(one, "bytes", COUNT_MAX * 1024),
		time = count_of(one, "time_ps", TIME_MAX);
	int64_t ranks = count_of(one, "ranks", COUNT_MAX),
		copies = count_of(one, "stands_for", COUNT_MAX);
	const char *kind = json_string_value(json_object_get(one, "kind"));
	bool is_other = kind == NULL ||
		(strcmp(kind, "reduce_scatter") != 0 && strcmp(kind, "all_gather") != 0);
	if (bytes == 0 || ranks == 0 || copies == 0 || is_other)
		return refuse_file(
			refusal, -EINVAL, path,
			"a collective that is neither a reduce-scatter nor an all-gather of a job");
	if (ranks != step->setup.dense.ranks)
		return refuse_file(refusal, -EINVAL, path,
				   "its collectives have other ranks than this step's");
	if (time == 0)
		return refuse_file(
			refusal, -EINVAL, path,
			"a collective in it has no time: it did not end, or its stated error is "
			"above 10 %");
	sums->measured_ps += (double)copies * (double)time;
	sums->closed_ps += (double)copies *
		(double)ring_time_ps(&step->setup.dense, (uint64_t)bytes);
	return 0;
}

static int add_all(struct world_step *step, const json_t *root, const char *path,
		   struct refusal *refusal)
{
	const json_t *list = json_object_get(root, "collectives");
	struct sums sums = {0};
	int rc = 0;
	if (!json_is_array(list))
		return refuse_file(refusal, -EINVAL, path,
				   "no collectives: not the result of a run with packets");
	for (size_t i = 0; rc == 0 && i < json_array_size(list); i++)
		rc = add_collective(&sums, step, json_array_get(list, i), path, refusal);
	if (rc < 0)
		return rc;
	if (!(sums.closed_ps > 0) || sums.measured_ps > LONGER_MAX * sums.closed_ps)
		return refuse_file(refusal, -EINVAL, path,
				   "no collective in it has a time that could be this step's");
	step->is_measured = true;
	step->measured_ppb = (int64_t)((sums.measured_ps / sums.closed_ps - 1) * PPB);
	return 0;
}

int measured_parse(struct world_step *step, const char *path, const char *text, size_t bytes,
		   struct refusal *refusal)
{
	json_error_t error;
	json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
	if (root == NULL) {
		int rc = refuse_file(refusal, -EINVAL, path, "not JSON");
		refusal->line = error.line > 0 ? (uint32_t)error.line : 0;
		refusal->column = error.column > 0 ? (uint32_t)error.column : 0;
		return rc;
	}
	int rc = add_all(step, root, path, refusal);
	json_decref(root);
	return rc;
}
