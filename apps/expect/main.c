// SPDX-License-Identifier: Apache-2.0
// weft expect: arguments, and which sizes and scales there are.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/engine/engine.h>
#include <weft/run/outcome.h>

#include "expect.h"
#include "help.h"
#include "weft-expect_options.h"

static const struct option_row option_rows[] = {EXPECT_OPTIONS(struct call), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "fabric", .least = 1, .most = 1};

// The sizes of ib_write_bw: its own, and those where a connection is at its best.
static const uint64_t wire_sizes[] = {65536, 1 << 20, 8 << 20};

// The scenario, for its fabric: with a collective in the place of its traffic, as weft coll has it.
static int read_fabric(struct call *call)
{
	const char *sets[SETS_MAX + 3] = {"traffic.kind=collective",
					  "traffic.collective=all_reduce", "traffic.bytes=1MiB"};
	uint32_t count = 3;
	int rc = data_file_read(&call->file, DATA_PATH_SCENARIOS, call->scenario_name,
				&call->refusal);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < call->set_count; i++)
		sets[count++] = call->sets[i];
	return scenario_parse(&call->scenario, call->file.path, call->file.text, call->file.bytes,
			      sets, count, &call->refusal);
}

static void add(struct call *call, uint64_t bytes, uint32_t ranks)
{
	if (call->row_count < ROWS_MAX)
		call->rows[call->row_count++] = (struct row){.bytes = bytes, .ranks = ranks};
}

static int check_ranks(struct call *call, uint32_t ranks)
{
	uint32_t per_host = call->scenario.fabric.nics_per_host;
	if (ranks <= per_host || ranks % per_host == 0)
		return 0;
	return refuse(&call->refusal, -EINVAL,
		      "% GPUs do not fill hosts of % (fabric.nics_per_host); --ranks says how many "
		      "there are",
		      ranks, per_host);
}

static int add_scale(struct call *call, uint32_t ranks)
{
	if (ranks < 2 || ranks > call->scenario.fabric.nics)
		return refuse(&call->refusal, -EINVAL,
			      "--ranks % is not 2 to %, the NICs of the fabric", ranks,
			      call->scenario.fabric.nics);
	int rc = check_ranks(call, ranks);
	for (uint64_t bytes = call->size_min; rc == 0 && bytes <= call->size_max;
	     bytes *= call->factor) {
		add(call, bytes, ranks);
		if (bytes > UINT64_MAX / call->factor)
			break;
	}
	return rc;
}

// Two hosts and all of them, or what --ranks says; then ib_write_bw.
static int choose_rows(struct call *call)
{
	const struct fabric_config *fabric = &call->scenario.fabric;
	uint32_t two = 2 * fabric->nics_per_host;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < call->rank_count; i++)
		rc = add_scale(call, (uint32_t)strtoul(call->ranks[i], NULL, 10));
	if (call->rank_count == 0 && two < fabric->nics)
		rc = add_scale(call, two);
	if (rc == 0 && call->rank_count == 0)
		rc = add_scale(call, fabric->nics);
	for (size_t i = 0; i < sizeof(wire_sizes) / sizeof(*wire_sizes); i++)
		add(call, wire_sizes[i], 0);
	return rc;
}

// A line for each one of the file.
static int choose_held(struct call *call)
{
	static struct output output; // large
	int rc = output_read(&output, call->against, &call->refusal);
	if (rc < 0)
		return rc;
	static char kind[sizeof(output.collective)];
	if (!call->is_kind_given && output.collective[0] != '\0')
		call->collective = strcpy(kind, output.collective);
	uint32_t ranks = output.is_wire ? 0 : call->scenario.fabric.nics;
	if (!output.is_wire && output.ranks > 1)
		ranks = output.ranks;
	if (!output.is_wire && call->rank_count > 0)
		ranks = (uint32_t)strtoul(call->ranks[0], NULL, 10);
	if (ranks > call->scenario.fabric.nics || ranks == 1)
		return refuse(&call->refusal, -EINVAL,
			      "% GPUs were measured, and the fabric has % NICs", ranks,
			      call->scenario.fabric.nics);
	call->is_over_rc = output.is_rc && call->scenario.transport.kind == TRANSPORT_MRC;
	uint32_t per_host = call->scenario.fabric.nics_per_host;
	if (output.host_count > (ranks + per_host - 1) / per_host)
		return refuse(&call->refusal, -EINVAL,
			      "% GPUs on % hosts were measured, and the fabric has % on a host: "
			      "fabric.nics_per_host says how many",
			      ranks, output.host_count, per_host);
	rc = check_ranks(call, ranks);
	for (uint32_t i = 0; rc == 0 && i < output.count; i++) {
		add(call, output.bytes[i], ranks);
		call->rows[i].is_held = true;
		call->rows[i].measured = output.value[i];
	}
	return rc;
}

// Returns an exit status.
static int expect(struct call *call)
{
	int rc = read_fabric(call), status = EXIT_SUCCESS;
	uint32_t held = 0, outside = 0;
	if (rc == 0)
		rc = call->against != NULL ? choose_held(call) : choose_rows(call);
	for (uint32_t i = 0; rc == 0 && status == EXIT_SUCCESS && i < call->row_count; i++) {
		struct row *row = &call->rows[i];
		if (row->ranks == 0)
			rc = wire_expect(call, row);
		else
			status = nccl_expect(call, row);
		enum verdict verdict = row_verdict(row);
		held += verdict != VERDICT_NOT_HELD;
		outside += verdict == VERDICT_BELOW || verdict == VERDICT_ABOVE;
	}
	if (rc < 0)
		return outcome_refused("expect", &call->refusal, rc);
	if (status != EXIT_SUCCESS)
		return status; // weft coll has said why
	if (call->is_json)
		json_print(stdout, call);
	else
		table_print(stdout, call);
	if (call->against == NULL)
		return EXIT_SUCCESS;
	return held == 0 ? EXIT_NOT_VALID : outside > 0 ? EXIT_MISSED : EXIT_SUCCESS;
}

static int check_call(struct call *call)
{
	for (uint32_t i = 0; i < call->rank_count; i++) {
		char *end;
		unsigned long ranks = strtoul(call->ranks[i], &end, 10);
		if (*end != '\0' || ranks < 2 || ranks > UINT32_MAX)
			return outcome_bad_word(&call->refusal,
						"--ranks is a number from 2 on, not",
						call->ranks[i]);
	}
	if (call->against != NULL && call->rank_count > 1)
		return outcome_bad_line(&call->refusal,
					"a file of --against has one number of --ranks");
	return call->size_max < call->size_min
		? outcome_bad_line(&call->refusal, "-e is less than -b")
		: 0;
}

int main(int argc, char **argv)
{
	static struct call call = {
		// large: kept off the stack
		.collective = "all_reduce", .size_min = 1 << 20,   .factor = 4, .within = 10,
		.launch_ns = 20000,	    .packets_max = 1000000};
	int rc = command_line_read(&arguments, &call, argc, argv, &call.refusal);
	int status = EXIT_SUCCESS;
	call.scenario_name = argv[optind];
	if (call.size_max == 0)
		call.size_max = call.size_min > 256 << 20 ? call.size_min : 256 << 20;
	if (rc == 0)
		rc = check_call(&call);
	if (rc < 0)
		status = outcome_refused("expect", &call.refusal, rc);
	else if (rc == 0)
		status = expect(&call);
	free(call.file.text);
	return outcome_end("expect", status);
}
