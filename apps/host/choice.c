// SPDX-License-Identifier: Apache-2.0
// The command line: every word is understood or refused.

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/files/files.h>

#include "help.h"
#include "host.h"
#include "weft-host_options.h"
#include <weft/run/outcome.h>

#define SIZE_MIN_DEFAULT (UINT64_C(4) << 10)
#define SIZE_MAX_DEFAULT (UINT64_C(4) << 20)
#define DEPTH_DEFAULT 16
#define TIMEOUT_S 30
#define MESSAGE_MAX (UINT64_C(1) << 31)

// "PLANE/PEER=", numbers, before a port. Returns what is behind.
static const char *take_place(struct port_place *ret, const char *word)
{
	char *slash = NULL, *end = NULL;
	*ret = (struct port_place){0};
	if (!isdigit((unsigned char)word[0]))
		return word;
	unsigned long plane = strtoul(word, &slash, 10), peer;
	if (*slash != '/' || !isdigit((unsigned char)slash[1]))
		return word;
	peer = strtoul(slash + 1, &end, 10);
	if (*end != '=' || plane > UINT32_MAX || peer > UINT32_MAX)
		return word;
	*ret = (struct port_place){true, (uint32_t)plane, (uint32_t)peer};
	return end + 1;
}

static int add_port(void *context, const char *word, struct refusal *refusal)
{
	struct choice *choice = context;
	if (choice->device_count == DEVICES_MAX || strlen(word) >= DEVICE_WORD_BYTES)
		return outcome_bad_word(refusal, "too many --port, or one that is too long:", word);
	uint32_t index = choice->device_count++;
	const char *port = take_place(&choice->places[index], word);
	strcpy(choice->devices[index].word, port);
	if (choice->places[index].is_named != choice->places[0].is_named)
		return outcome_bad_word(
			refusal, "--port says PLANE/PEER= for all ports or for none, unlike", word);
	return 0;
}

// "QPN,RKEY,ADDRESS", numbers as C writes them.
static int add_foreign(void *context, const char *word, struct refusal *refusal)
{
	struct choice *choice = context;
	char *end = NULL;
	if (choice->foreign_count == 2)
		return outcome_bad_word(refusal, "--foreign may be given twice at most, not", word);
	unsigned long long qpn = strtoull(word, &end, 0), rkey = 0, address = 0;
	if (*end == ',')
		rkey = strtoull(end + 1, &end, 0);
	if (*end == ',')
		address = strtoull(end + 1, &end, 0);
	if (*end != '\0' || strchr(word, ',') == strrchr(word, ',') || qpn >= 1u << 24 ||
	    rkey > UINT32_MAX)
		return outcome_bad_word(refusal, "--foreign is QPN,RKEY,ADDRESS, not", word);
	choice->foreign[choice->foreign_count++] = (struct wall_foreign){(uint32_t)qpn,
									 (uint32_t)rkey, address};
	return 0;
}

static const struct option_row option_rows[] = {HOST_OPTIONS(struct choice), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "scenario", .most = 1};

// What launchers say of their processes: Open MPI's mpirun, those with PMI, Slurm's srun.
static void take_launcher(struct choice *choice)
{
	static const char *const names[][3] = {
		{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"},
		{"PMI_RANK", "PMI_SIZE", "PMI_JOBID"},
		{"SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID"},
	};
	static char address[80];
	struct refusal none;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *rank = getenv(names[i][0]), *ranks = getenv(names[i][1]);
		const char *job = getenv(names[i][2]);
		if (rank == NULL || ranks == NULL ||
		    option_take(option_find(option_rows, "rank"), choice, rank, &none) < 0 ||
		    option_take(option_find(option_rows, "ranks"), choice, ranks, &none) < 0)
			continue;
		choice->has_rank = true;
		snprintf(address, sizeof(address), "job-%.64s", job != NULL ? job : "");
		if (choice->meet == NULL && job != NULL && strchr(job, ':') == NULL)
			choice->meet = address;
		return;
	}
}

static int check_ranks(struct choice *choice, struct refusal *refusal)
{
	if (!choice->has_rank && choice->ranks == 0)
		take_launcher(choice);
	if (!choice->has_rank || choice->ranks == 0)
		return outcome_bad_line(refusal,
					"one of --listen ADDRESS and --to ADDRESS is needed, or "
					"--rank and --ranks, which mpirun and srun set");
	if (choice->rank >= choice->ranks)
		return outcome_bad_line(refusal, "--rank is below --ranks: the first one is 0");
	if (choice->meet == NULL)
		return outcome_bad_line(refusal, "--meet ADDRESS is needed, at which rank 0 waits");
	if (choice->scenario == NULL)
		return outcome_bad_line(refusal, "ranks need a scenario");
	if (choice->has_wish || choice->callers > 1)
		return outcome_bad_line(refusal,
					"the scenario says what ranks send: -b, -e, -f, "
					"-n, --depth, --bare and --incast go with --to");
	return 0;
}

// No traffic, so all that says what or how has no effect.
static int check_probe(struct choice *choice, struct refusal *refusal)
{
	if (choice->listen != NULL || choice->meet != NULL || choice->has_rank ||
	    choice->ranks > 0 || choice->device_count > 0 || choice->has_wish ||
	    choice->callers > 1 || choice->has_telemetry || choice->pcap != NULL ||
	    choice->is_json || choice->owns_core || choice->max_rate != NULL ||
	    choice->max_lateness_ns > 0 || files_are_forced() || choice->timeout_s != TIMEOUT_S)
		return outcome_bad_line(refusal,
					"--probe only looks at a port: beside it go a scenario, "
					"--set, --eal, and --to with an IP address");
	int rc = add_port(choice, choice->probe, refusal);
	return rc == 0 && choice->places[0].is_named
		? outcome_bad_word(refusal,
				   "--probe looks at a port, wherever it leads:", choice->probe)
		: rc;
}

// The other end is not weft, so nothing is agreed with it.
static int check_foreign(const struct choice *choice, struct refusal *refusal)
{
	if (choice->listen != NULL || choice->to != NULL || choice->meet != NULL ||
	    choice->has_rank || choice->ranks > 0 || choice->callers > 1 || choice->wish.has_bare ||
	    choice->scenario != NULL || choice->max_rate != NULL)
		return outcome_bad_line(refusal,
					"--foreign is a pair with somebody else: beside it go "
					"--port, -b, -n, --set, --pcap and --json");
	if (choice->foreign_count != 2 || choice->device_count != 1 || choice->places[0].is_named)
		return outcome_bad_line(refusal,
					"--foreign is needed twice, for the QP that sends "
					"and the one that receives, and --port once");
	return 0;
}

// Words for DPDK's start.
static int take_eal(struct choice *choice, struct refusal *refusal)
{
	struct dpdk_words *words = &choice->words;
	int rc = choice->eal != NULL ? dpdk_words_cut(words, choice->eal, refusal) : 0;
	for (uint32_t i = 0; rc == 0 && choice->has_telemetry && i < words->count; i++)
		if (strcmp(words->at[i], "--no-telemetry") == 0)
			return outcome_bad_word(refusal, "--telemetry is asked for, and --eal says",
						words->at[i]);
	if (choice->has_telemetry)
		words->at[words->count++] = "--telemetry";
	return rc;
}

static int check_together(struct choice *choice, struct refusal *refusal)
{
	if (choice->gpu != NULL &&
	    (choice->probe != NULL || choice->foreign_count > 0 || choice->listen != NULL ||
	     choice->to != NULL))
		return outcome_bad_word(refusal, "only ranks of a scenario take", "--gpu");
	if (choice->out != NULL &&
	    (choice->probe != NULL || choice->foreign_count > 0 || choice->listen != NULL ||
	     choice->to != NULL))
		return outcome_bad_word(refusal, "only ranks of a scenario take", "--out");
	if (choice->probe != NULL)
		return check_probe(choice, refusal);
	if (choice->foreign_count > 0)
		return check_foreign(choice, refusal);
	if (choice->listen != NULL && choice->to != NULL)
		return outcome_bad_line(refusal,
					"one of --listen ADDRESS and --to ADDRESS is "
					"needed, not both");
	if (choice->listen == NULL && choice->to == NULL)
		return check_ranks(choice, refusal);
	if (choice->meet != NULL || choice->has_rank || choice->ranks > 0)
		return outcome_bad_line(refusal,
					"--meet, --rank and --ranks go with neither "
					"--listen nor --to");
	if (choice->listen != NULL && choice->has_wish)
		return outcome_bad_line(
			refusal,
			"who listens is told by the caller what is "
			"measured: -b, -e, -f, -n, --depth and --bare go with --to");
	if (choice->callers > 1 && (choice->wish.has_bare || choice->scenario != NULL))
		return outcome_bad_line(refusal,
					"--incast goes neither with --bare nor with a "
					"scenario");
	if (choice->wish.size_min > choice->wish.size_max)
		return outcome_bad_line(refusal, "-b is more than -e");
	return 0;
}

int choice_parse(struct choice *ret, int argc, char **argv, struct refusal *refusal)
{
	*ret = (struct choice){.wish = {SIZE_MIN_DEFAULT, SIZE_MAX_DEFAULT, 2, 0, DEPTH_DEFAULT},
			       .callers = 1,
			       .timeout_s = TIMEOUT_S};
	int rc = command_line_read(&arguments, ret, argc, argv, refusal);
	if (rc != 0)
		return rc;
	ret->scenario = argv[optind];
	rc = check_together(ret, refusal);
	return rc < 0 ? rc : take_eal(ret, refusal);
}
