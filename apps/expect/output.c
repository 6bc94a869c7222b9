// SPDX-License-Identifier: Apache-2.0
// The outputs of nccl-tests and of perftest's ib_write_bw. Both are tables whose comments begin
// with '#'; of nccl-tests a line has size, count, type, redop, root, then time, algbw, busbw and
// #wrong, out of place and in place. Of ib_write_bw it has bytes, iterations, peak and mean, and
// the head says in what: MB/sec of 2^20 bytes, or Gb/sec.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/engine/engine.h>

#include "expect.h"

#define OUTPUT_BYTES_MAX ((size_t)16 << 20)
#define WORDS_MAX 16

static uint32_t split(char *line, char *words[WORDS_MAX])
{
	uint32_t count = 0;
	char *rest;
	for (char *word = strtok_r(line, " \t\r", &rest); word != NULL && count < WORDS_MAX;
	     word = strtok_r(NULL, " \t\r", &rest))
		words[count++] = word;
	return count;
}

static bool is_number(const char *word, double *ret)
{
	char *end;
	*ret = strtod(word, &end);
	return end != word && *end == '\0' && *ret >= 0 && *ret < 1e18;
}

static void keep(struct output *ret, double bytes, double value)
{
	if (ret->count == ROWS_MAX)
		return;
	ret->bytes[ret->count] = (uint64_t)bytes;
	ret->value[ret->count++] = value;
}

// A row of nccl-tests: busbw is the eighth word, and the fourth behind it in place; root is missing
// in versions before 2.8.
static void take_nccl(struct output *ret, char **words, uint32_t count)
{
	double bytes, elements, place[2] = {0}, root;
	if (count < 8 || !is_number(words[0], &bytes) || !is_number(words[1], &elements) ||
	    is_number(words[2], &root))
		return;
	char *end;
	strtol(words[4], &end, 10);
	uint32_t first = *end == '\0' && count != 12 ? 7 : 6;
	bool has_value = first < count && is_number(words[first], &place[0]);
	if (first + 4 < count && is_number(words[first + 4], &place[1]) && place[1] > place[0])
		place[0] = place[1];
	if (has_value && bytes > 0)
		keep(ret, bytes, place[0]);
}

static void take_wire(struct output *ret, char **words, uint32_t count, bool is_gbits)
{
	double bytes, iterations, mean;
	if (count >= 4 && is_number(words[0], &bytes) && is_number(words[1], &iterations) &&
	    is_number(words[3], &mean))
		keep(ret, bytes, is_gbits ? mean : mean * 8 * 1048576 / 1e9);
}

// Ranks may go from host to host in turn.
static void take_host(struct output *ret, const char *line)
{
	char host[OUTPUT_HOST_BYTES];
	const char *at = strstr(line, " on ");
	if (at == NULL || sscanf(at, " on %63s", host) != 1 || ret->host_count == OUTPUT_HOSTS_MAX)
		return;
	for (uint32_t i = 0; i < ret->host_count; i++)
		if (strcmp(ret->hosts[i], host) == 0)
			return;
	strcpy(ret->hosts[ret->host_count++], host);
}

// "# Collective test starting: all_reduce_perf", and "#  Rank  0 Group ...".
static void take_comment(struct output *ret, const char *line)
{
	static const char start[] = "Collective test starting:";
	const char *at = strstr(line, start);
	unsigned rank;
	ret->is_ours |= strncmp(line, "# weft", 6) == 0;
	if (at != NULL) {
		const char *slash = strrchr(at, '/');
		at = slash != NULL ? slash + 1 : at + sizeof(start);
		snprintf(ret->collective, sizeof(ret->collective), "%.*s",
			 (int)strcspn(at, " \r\n"), at);
		char *end = strstr(ret->collective, "_perf");
		if (end != NULL)
			*end = '\0';
	}
	if (sscanf(line, "# Rank %u", &rank) != 1)
		return;
	if (rank + 1 > ret->ranks)
		ret->ranks = rank + 1;
	take_host(ret, line);
}

int output_read(struct output *ret, const char *path, struct refusal *refusal)
{
	char *text, *rest, *words[WORDS_MAX];
	size_t bytes;
	bool is_gbits = false;
	*ret = (struct output){0};
	int rc = file_read(path, OUTPUT_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		line += strspn(line, " \t");
		if (strncmp(line, "#bytes", 6) == 0) {
			ret->is_wire = true;
			is_gbits = strstr(line, "Gb/sec") != NULL;
		}
		ret->is_rc |= strncmp(line, "Connection type", 15) == 0 &&
			strstr(line, ": RC") != NULL;
		if (*line == '#') {
			take_comment(ret, line);
			continue;
		}
		uint32_t count = split(line, words);
		if (ret->is_wire)
			take_wire(ret, words, count, is_gbits);
		else
			take_nccl(ret, words, count);
	}
	free(text);
	if (ret->count > 0 && !ret->is_ours)
		return 0;
	refusal_name(refusal, path);
	return refuse(refusal, -EINVAL,
		      ret->is_ours ? "is a table that weft printed, not a measurement"
				   : "has no line of nccl-tests or ib_write_bw with a bandwidth");
}
