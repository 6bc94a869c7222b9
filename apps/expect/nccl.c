// SPDX-License-Identifier: Apache-2.0
// nccl-tests: what weft coll beside this program says of a size, by each algorithm that NCCL may
// choose. The faster one is expected; the least time of either is what nothing can undercut.

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include <weft/run/host_info.h>
#include <weft/run/outcome.h>

#include "expect.h"

#define WORDS_MAX (2 * SETS_MAX + 24)

static const char *const algorithms[] = {"credit_ring", "ring", "double_tree"};
#define ALGORITHMS (int)(sizeof(algorithms) / sizeof(*algorithms))

// Runs weft coll with `words`; its JSON, or NULL with its exit status.
static json_t *run(char **words, int *ret_status)
{
	int ends[2], status = 0;
	*ret_status = EXIT_ENVIRONMENT;
	if (pipe(ends) < 0)
		return NULL;
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		program_exec("weft-coll", words);
		_exit(EXIT_ENVIRONMENT);
	}
	close(ends[1]);
	json_t *root = child < 0 ? NULL : json_loadfd(ends[0], 0, NULL);
	close(ends[0]);
	if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status))
		*ret_status = WEXITSTATUS(status);
	return root;
}

static json_t *ask(const struct call *call, const struct row *row, const char *algorithm,
		   int *ret_status)
{
	char bytes[24], ranks[16], packets[24], *words[WORDS_MAX];
	uint32_t count = 0;
	snprintf(bytes, sizeof(bytes), "%" PRIu64, row->bytes);
	snprintf(ranks, sizeof(ranks), "%" PRIu32, row->ranks);
	snprintf(packets, sizeof(packets), "%" PRIu64, call->packets_max);
	const char *fixed[] = {
		"weft-coll", call->collective, "--scenario", call->file.path, "-b",
		bytes,	     "--ranks",	       ranks,	     "--packets",     packets,
		"--json",    "--algorithm",    algorithm};
	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		words[count++] = (char *)fixed[i];
	for (uint32_t i = 0; i < call->set_count; i++) {
		words[count++] = "--set";
		words[count++] = (char *)call->sets[i];
	}
	words[count] = NULL;
	return run(words, ret_status);
}

static double number_of(const json_t *from, const char *name)
{
	return json_number_value(json_object_get(from, name));
}

// Takes what one algorithm came to.
static void take(const struct call *call, struct row *row, const json_t *result)
{
	const json_t *out = json_object_get(result, "out_of_place");
	double time_us = number_of(out, "time"), bus = number_of(out, "bus_bw");
	if (!json_is_number(json_object_get(out, "time"))) {
		const char *why = json_string_value(json_object_get(result, "why_not"));
		double packets = number_of(result, "packets_whole");
		int used = snprintf(row->why_not, sizeof(row->why_not), "%s",
				    why != NULL ? why : "no time");
		if (packets > (double)call->packets_max)
			snprintf(row->why_not + used, sizeof(row->why_not) - (size_t)used,
				 "; --packets %.0f runs it whole", packets);
		return;
	}
	double most = bus * time_us / number_of(result, "ideal");
	double slow_us = time_us / (1 - call->within / 100) + (double)call->launch_ns / 1e3;
	row->most = most > row->most ? most : row->most;
	if (row->has_expected && bus <= row->expected)
		return;
	row->has_expected = true;
	row->expected = bus;
	row->time_us = time_us;
	row->least = bus * time_us / slow_us;
	snprintf(row->algorithm, sizeof(row->algorithm), "%s",
		 json_string_value(json_object_get(result, "algorithm")));
}

int nccl_expect(const struct call *call, struct row *row)
{
	bool is_chosen = strcmp(call->collective, "all_reduce") == 0;
	for (int i = 0; i < (is_chosen ? ALGORITHMS : 1); i++) {
		int status;
		json_t *root = ask(call, row, is_chosen ? algorithms[i] : "auto", &status);
		const json_t *result = json_array_get(json_object_get(root, "results"), 0);
		if (result != NULL)
			take(call, row, result);
		json_decref(root);
		if (result == NULL)
			return status == EXIT_SUCCESS ? EXIT_ENVIRONMENT : status;
	}
	return EXIT_SUCCESS;
}
