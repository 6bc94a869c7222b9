// SPDX-License-Identifier: Apache-2.0
// The command line: every word is understood or refused.

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/files.h>

#include "host.h"
#include <weft/run/outcome.h>

#define SIZE_MIN_DEFAULT (UINT64_C(4) << 10)
#define SIZE_MAX_DEFAULT (UINT64_C(4) << 20)
#define DEPTH_DEFAULT 16
#define PATIENCE_S 30
#define MESSAGE_MAX (UINT64_C(1) << 31)

enum {
	OPT_LISTEN = 256,
	OPT_TO,
	OPT_MEET,
	OPT_RANK,
	OPT_RANKS,
	OPT_PORT,
	OPT_PROBE,
	OPT_FROM,
	OPT_OWN_NETWORK,
	OPT_GPU,
	OPT_DEPTH,
	OPT_BARE,
	OPT_INCAST,
	OPT_TELEMETRY,
	OPT_EAL,
	OPT_FOREIGN,
	OPT_SET,
	OPT_PCAP,
	OPT_OUT,
	OPT_FORCE,
	OPT_OWN_CORE,
	OPT_PATIENCE,
	OPT_MAX_RATE,
	OPT_RAMP,
	OPT_MAX_LATENESS,
	OPT_JSON,
	OPT_VERSION
};

static const struct option longs[] = {
	{"listen", required_argument, NULL, OPT_LISTEN},
	{"to", required_argument, NULL, OPT_TO},
	{"meet", required_argument, NULL, OPT_MEET},
	{"rank", required_argument, NULL, OPT_RANK},
	{"ranks", required_argument, NULL, OPT_RANKS},
	{"port", required_argument, NULL, OPT_PORT},
	{"probe", required_argument, NULL, OPT_PROBE},
	{"from", required_argument, NULL, OPT_FROM},
	{"i-own-this-network", no_argument, NULL, OPT_OWN_NETWORK},
	{"gpu", required_argument, NULL, OPT_GPU},
	{"minbytes", required_argument, NULL, 'b'},
	{"maxbytes", required_argument, NULL, 'e'},
	{"stepfactor", required_argument, NULL, 'f'},
	{"messages", required_argument, NULL, 'n'},
	{"depth", required_argument, NULL, OPT_DEPTH},
	{"bare", no_argument, NULL, OPT_BARE},
	{"incast", required_argument, NULL, OPT_INCAST},
	{"telemetry", no_argument, NULL, OPT_TELEMETRY},
	{"eal", required_argument, NULL, OPT_EAL},
	{"foreign", required_argument, NULL, OPT_FOREIGN},
	{"set", required_argument, NULL, OPT_SET},
	{"pcap", required_argument, NULL, OPT_PCAP},
	{"out", required_argument, NULL, OPT_OUT},
	{"force", no_argument, NULL, OPT_FORCE},
	{"own-core", no_argument, NULL, OPT_OWN_CORE},
	{"patience", required_argument, NULL, OPT_PATIENCE},
	{"max-rate", required_argument, NULL, OPT_MAX_RATE},
	{"ramp", required_argument, NULL, OPT_RAMP},
	{"max-lateness", required_argument, NULL, OPT_MAX_LATENESS},
	{"json", no_argument, NULL, OPT_JSON},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

// "4K" as perftest's users write it: K, M, G are powers of 1024.
static int take_bytes(uint64_t *to, const char *word, struct refusal *refusal)
{
	static const char units[] = "KMG";
	char *end;
	uint64_t value = isdigit((unsigned char)word[0]) ? strtoull(word, &end, 10) : 0;
	const char *unit = value > 0 && *end != '\0' ? strchr(units, toupper((unsigned char)*end))
						     : NULL;
	uint64_t shift = unit != NULL ? (uint64_t)(unit - units + 1) * 10 : 0;
	bool is_whole = value > 0 && (unit != NULL ? end[1] == '\0' : *end == '\0');
	if (!is_whole || value > MESSAGE_MAX >> shift)
		return outcome_bad_word(refusal, "bytes from 1 to 2G are needed, 4096 or 4K, not",
					word);
	*to = value << shift;
	return 0;
}

static int take_count(uint32_t *to, const char *word, uint32_t low, uint32_t high,
		      struct refusal *refusal)
{
	char *end, what[64];
	unsigned long value = isdigit((unsigned char)word[0]) ? strtoul(word, &end, 10) : 0;
	snprintf(what, sizeof(what), "a number from %u to %u is needed, not", low, high);
	if (!isdigit((unsigned char)word[0]) || *end != '\0' || value < low || value > high)
		return outcome_bad_word(refusal, what, word);
	*to = (uint32_t)value;
	return 0;
}

// "50us": a number and one of these units.
static int take_time(int64_t *to, const char *word, struct refusal *refusal)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double value = strtod(word, &end);
	for (size_t i = 0; isdigit((unsigned char)word[0]) && i < sizeof(units) / sizeof(*units);
	     i++)
		if (strcmp(end, units[i].name) == 0 && value > 0 && value * units[i].ns <= 1e12) {
			*to = (int64_t)(value * units[i].ns);
			return *to > 0
				? 0
				: outcome_bad_word(refusal, "a time from 1ns is needed, not", word);
		}
	return outcome_bad_word(refusal, "a time is needed, as in 50us, not", word);
}

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

static int add_port(struct choice *choice, const char *word, struct refusal *refusal)
{
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
static int add_foreign(struct choice *choice, const char *word, struct refusal *refusal)
{
	char *end = NULL;
	if (choice->foreign_count == 2)
		return outcome_bad_word(refusal, "--foreign goes twice at most, not", word);
	unsigned long long qpn = strtoull(word, &end, 0), rkey = 0, address = 0;
	if (*end == ',')
		rkey = strtoull(end + 1, &end, 0);
	if (*end == ',')
		address = strtoull(end + 1, &end, 0);
	if (*end != '\0' || strchr(word, ',') == strrchr(word, ',') || qpn >= 1u << 24 ||
	    rkey > UINT32_MAX)
		return outcome_bad_word(refusal, "QPN,RKEY,ADDRESS are needed, not", word);
	choice->foreign[choice->foreign_count++] = (struct wall_foreign){(uint32_t)qpn,
									 (uint32_t)rkey, address};
	return 0;
}

static int add_set(struct choice *choice, const char *word, struct refusal *refusal)
{
	if (choice->set_count == SETS_MAX)
		return outcome_bad_word(refusal, "too many --set, at", word);
	choice->sets[choice->set_count++] = word;
	return 0;
}

// What is measured is the caller's to say.
static int take_wish(struct choice *choice, int option, struct refusal *refusal)
{
	struct pair_wish *wish = &choice->wish;
	choice->has_wish = true;
	switch (option) {
	case 'b':
		return take_bytes(&wish->size_min, optarg, refusal);
	case 'e':
		return take_bytes(&wish->size_max, optarg, refusal);
	case 'f':
		return take_count(&wish->factor, optarg, 2, 1024, refusal);
	case 'n':
		return take_count(&wish->messages, optarg, 1, 1000000, refusal);
	case OPT_BARE:
		wish->has_bare = true;
		return 0;
	default:
		return take_count(&wish->depth, optarg, 1, 128, refusal);
	}
}

static int take(struct choice *choice, int option, struct refusal *refusal)
{
	switch (option) {
	case OPT_LISTEN:
		return outcome_once(refusal, &choice->listen, "--listen", optarg);
	case OPT_TO:
		return outcome_once(refusal, &choice->to, "--to", optarg);
	case OPT_MEET:
		return outcome_once(refusal, &choice->meet, "--meet", optarg);
	case OPT_RANK:
		choice->has_rank = true;
		return take_count(&choice->rank, optarg, 0, MEETING_HOSTS_MAX - 1, refusal);
	case OPT_RANKS:
		return take_count(&choice->ranks, optarg, 2, MEETING_HOSTS_MAX, refusal);
	case OPT_PORT:
		return add_port(choice, optarg, refusal);
	case OPT_PROBE:
		return outcome_once(refusal, &choice->probe, "--probe", optarg);
	case OPT_GPU:
		return outcome_once(refusal, &choice->gpu, "--gpu", optarg);
	case OPT_FROM:
		return outcome_once(refusal, &choice->from, "--from", optarg);
	case OPT_OWN_NETWORK:
		choice->owns_network = true;
		return 0;
	case OPT_INCAST:
		return take_count(&choice->callers, optarg, 2, CALLERS_MAX, refusal);
	case OPT_SET:
		return add_set(choice, optarg, refusal);
	case OPT_PCAP:
		return outcome_once(refusal, &choice->pcap, "--pcap", optarg);
	case OPT_OUT:
		return outcome_once(refusal, &choice->out, "--out", optarg);
	case OPT_FORCE:
		files_force();
		return 0;
	case OPT_FOREIGN:
		return add_foreign(choice, optarg, refusal);
	case OPT_EAL:
		return outcome_once(refusal, &choice->eal, "--eal", optarg);
	case OPT_TELEMETRY:
		choice->has_telemetry = true;
		return 0;
	case OPT_OWN_CORE:
		choice->owns_core = true;
		return 0;
	case OPT_PATIENCE:
		return take_count(&choice->patience_s, optarg, 1, 86400, refusal);
	case OPT_MAX_RATE:
		return outcome_once(refusal, &choice->max_rate, "--max-rate", optarg);
	case OPT_RAMP:
		return take_time(&choice->ramp_ns, optarg, refusal);
	case OPT_MAX_LATENESS:
		return take_time(&choice->max_lateness_ns, optarg, refusal);
	case OPT_JSON:
		choice->is_json = true;
		return 0;
	case 'h':
		choice->wants_help = true;
		return 0;
	case OPT_VERSION:
		choice->wants_version = true;
		return 0;
	default:
		return take_wish(choice, option, refusal);
	}
}

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
		    take_count(&choice->rank, rank, 0, MEETING_HOSTS_MAX - 1, &none) < 0 ||
		    take_count(&choice->ranks, ranks, 2, MEETING_HOSTS_MAX, &none) < 0)
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
					"--rank and --ranks, which mpirun and srun say");
	if (choice->rank >= choice->ranks)
		return outcome_bad_line(refusal, "--rank is below --ranks: the first one is 0");
	if (choice->meet == NULL)
		return outcome_bad_line(refusal, "--meet ADDRESS is needed, at which rank 0 waits");
	if (choice->scenario == NULL)
		return outcome_bad_line(refusal, "ranks need a scenario");
	if (choice->has_wish || choice->callers > 1)
		return outcome_bad_line(refusal,
					"what ranks send is the scenario's to say: -b, "
					"-e, -f, -n, --depth, --bare and --incast go with --to");
	return 0;
}

// No traffic, so all that says what or how has no effect.
static int check_probe(struct choice *choice, struct refusal *refusal)
{
	if (choice->listen != NULL || choice->meet != NULL || choice->has_rank ||
	    choice->ranks > 0 || choice->device_count > 0 || choice->has_wish ||
	    choice->callers > 1 || choice->has_telemetry || choice->pcap != NULL ||
	    choice->is_json || choice->owns_core || choice->max_rate != NULL ||
	    choice->max_lateness_ns > 0 || files_are_forced() || choice->patience_s != PATIENCE_S)
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
	if (choice->ramp_ns > 0 && choice->max_rate == NULL)
		return outcome_bad_word(refusal, "needs --max-rate:", "--ramp");
	if (choice->gpu != NULL &&
	    (choice->probe != NULL || choice->foreign_count > 0 || choice->listen != NULL ||
	     choice->to != NULL))
		return outcome_bad_word(refusal, "goes with ranks of a scenario:", "--gpu");
	if (choice->out != NULL &&
	    (choice->probe != NULL || choice->foreign_count > 0 || choice->listen != NULL ||
	     choice->to != NULL))
		return outcome_bad_word(refusal, "goes with ranks of a scenario:", "--out");
	if (choice->from != NULL && (choice->probe == NULL || choice->to == NULL))
		return outcome_bad_word(refusal, "needs --probe and --to:", "--from");
	if (choice->owns_network && (choice->probe == NULL || choice->to == NULL))
		return outcome_bad_word(refusal, "needs --probe and --to:", "--i-own-this-network");
	if (choice->probe != NULL)
		return check_probe(choice, refusal);
	if (choice->foreign_count > 0)
		return check_foreign(choice, refusal);
	if (choice->listen != NULL && choice->to != NULL)
		return outcome_bad_line(refusal,
					"one of --listen ADDRESS and --to ADDRESS is "
					"needed, not both");
	if (files_are_forced() && choice->pcap == NULL && choice->out == NULL)
		return outcome_bad_word(refusal, "needs --pcap or --out:", "--force");
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
	bool seen[OUTCOME_OPTIONS_MAX] = {false};
	*ret = (struct choice){.wish = {SIZE_MIN_DEFAULT, SIZE_MAX_DEFAULT, 2, 0, DEPTH_DEFAULT},
			       .callers = 1,
			       .patience_s = PATIENCE_S};
	opterr = 0;
	for (;;) {
		int option = getopt_long(argc, argv, "hb:e:f:n:", longs, NULL);
		if (option == -1)
			break;
		if (option == '?')
			return outcome_bad_word(
				refusal, "unknown option or missing value:", argv[optind - 1]);
		bool is_many = option == OPT_PORT || option == OPT_FOREIGN || option == OPT_SET;
		int rc = is_many ? 0 : outcome_first(refusal, seen, longs, option);
		if (rc == 0)
			rc = take(ret, option, refusal);
		if (rc < 0)
			return rc;
	}
	if (optind < argc)
		ret->scenario = argv[optind++];
	if (optind < argc)
		return outcome_bad_word(refusal, "one scenario at a time; what is", argv[optind]);
	if (ret->wants_help || ret->wants_version)
		return 0;
	int rc = check_together(ret, refusal);
	return rc < 0 ? rc : take_eal(ret, refusal);
}
