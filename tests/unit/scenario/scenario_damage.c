// SPDX-License-Identifier: Apache-2.0
// No damage to a shipped scenario gets past the reader: each is cut behind each byte, and each byte
// of each is changed four times (under sanitizers one byte in seven). A program of its own, so that
// it runs beside the others.

#include "../../sanitized.h"
#include "scenario_files.h"

#define FLIPS 4 // changes of a byte

static size_t visited; // scenarios

// Bytes from one that is damaged to the next; each scenario begins with another.
static size_t stride(void)
{
	return is_sanitized() ? 7 : 1;
}

// Reads damaged text from a block of exactly its size, so that a sanitizer sees the end. An
// accepted scenario must still have what every scenario needs.
static void parse_damaged(const char *from, size_t bytes)
{
	struct refusal refusal = {0};
	char *copy = malloc(bytes == 0 ? 1 : bytes);
	assert_non_null(copy);
	memcpy(copy, from, bytes);
	int rc = scenario_parse(&scenario, "damaged", copy, bytes, NULL, 0, &refusal);
	free(copy);
	if (rc == 0) {
		assert_true(scenario.fabric.nics >= 2);
		assert_true(scenario.fabric.planes >= 1 && scenario.fabric.planes <= PLANES_MAX);
		assert_true(scenario.traffic.bytes > 0 || scenario.traffic.flow_count > 0 ||
			    scenario.traffic.model[0] != '\0' || scenario.traffic.file[0] != '\0' ||
			    scenario.traffic.kind == TRAFFIC_TRACE || scenario.job_count > 0);
		return;
	}
	assert_int_equal(rc, -EINVAL);
	assert_string_equal(refusal.file, "damaged");
	assert_true(refusal.line > 0 && refusal.column > 0 && refusal.text[0] != '\0');
}

static void cut_shipped(const char *name)
{
	char path[256];
	snprintf(path, sizeof(path), "apps/scenarios/%s", name);
	size_t bytes = source_read(path);
	for (size_t at = visited++ % stride(); at < bytes; at += stride())
		parse_damaged(text, at);
}

static void a_cut_scenario_is_read_or_refused(void **)
{
	assert_true(shipped_each(cut_shipped) > 0);
}

static void flip_shipped(const char *name)
{
	char path[256];
	uint32_t dice = 1;
	snprintf(path, sizeof(path), "apps/scenarios/%s", name);
	size_t bytes = source_read(path);
	for (size_t at = visited++ % stride(); at < bytes; at += stride()) {
		for (uint32_t flip = 0; flip < FLIPS; flip++) {
			dice = dice * 1664525 + 1013904223;
			char was = text[at];
			text[at] ^= (char)(1 + (dice >> 24) % 255);
			parse_damaged(text, bytes);
			text[at] = was;
		}
	}
}

static void a_scenario_with_a_wrong_byte_is_read_or_refused(void **)
{
	assert_true(shipped_each(flip_shipped) > 0);
}
