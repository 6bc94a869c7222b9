// SPDX-License-Identifier: Apache-2.0
// What a run is made of: the scenario and its variants, traces, matrices, the sample.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/files.h>
#include <weft/run/call.h>
#include <weft/run/input_files.h>
#include <weft/run/trace_files.h>
#include <weft/scenario/scenario_key.h>

#define TRACE_SCENARIO "trace-default"
#define NODES_SCENARIO "trace-nodes"
#define DEFAULT_T0_NICS 64 // of trace-default
#define DEFAULT_HOST_NICS 8
#define WHOLE_PACKETS_MAX 20000000

// Whether the command line sets this key itself.
static bool sets(const struct options *options, const char *key)
{
	size_t length = strlen(key);
	for (uint32_t i = 0; i < options->set_count; i++)
		if (strncmp(options->sets[i], key, length) == 0 && options->sets[i][length] == '=')
			return true;
	return false;
}

// The fabric of trace-default for a text of so many GPUs: T0 switches that they fill, of whole
// servers, and no sample where the whole is short.
static void fit_default(struct call *call, uint32_t gpus)
{
	struct options *options = &call->options;
	uint32_t ports = DEFAULT_T0_NICS;
	while (ports > DEFAULT_HOST_NICS && gpus % ports != 0)
		ports -= DEFAULT_HOST_NICS;
	if (ports < DEFAULT_T0_NICS && gpus % ports == 0 && !sets(options, "fabric.nics_per_t0")) {
		snprintf(call->t0_set, sizeof(call->t0_set), "fabric.nics_per_t0=%u", ports);
		options->sets[options->set_count++] = call->t0_set;
	}
	if (options->sample == NULL && call->workload.packets_max <= WHOLE_PACKETS_MAX)
		options->sample = "off";
}

// A scenario of our own gets as many NICs as the file has GPUs. The fabric of trace-nodes has them
// two by two: of an odd number the last one idles.
static void take_default(struct call *call, uint32_t gpus)
{
	struct options *options = &call->options;
	options->scenario = call->workload.has_set ? NODES_SCENARIO : TRACE_SCENARIO;
	gpus += call->workload.has_set ? gpus % 2 : 0;
	if (!call->workload.has_set && gpus > 0)
		fit_default(call, gpus);
	snprintf(call->gpus_set, sizeof(call->gpus_set), "fabric.nics=%u", gpus);
	if (gpus > 0 && !sets(options, "fabric.nics")) // else the scenario says how many
		options->sets[options->set_count++] = call->gpus_set;
}

// What operations of a trace may take: limits.memory where it is known, else what there is.
static uint64_t trace_memory_max(const struct call *call)
{
	uint64_t asked = call->scenario.memory_bytes_max;
	return asked > 0 ? asked : memory_available_bytes();
}

// --trace FILE: on the fabric of the scenario as it is, in place of its traffic.
static int take_trace(struct call *call)
{
	struct options *options = &call->options;
	uint32_t gpus;
	call->workload.skips_damaged = options->skips_damaged;
	call->workload.memory_bytes_max = trace_memory_max(call);
	int rc = workload_read(&call->workload, TRAFFIC_TRACE, options->trace, &gpus,
			       &call->refusal);
	if (rc < 0)
		return rc;
	if (options->skips_damaged && !call->workload.has_set)
		return refuse(&call->refusal, -EINVAL,
			      "--skip-damaged: no record of this format can be left out");
	trace_files_warn(options->program, &call->workload.set);
	if (options->set_count + 4 > OPTION_SETS_MAX)
		return refuse(&call->refusal, -EINVAL, "too many --set beside --trace");
	if (options->scenario == NULL)
		take_default(call, gpus);
	snprintf(call->trace_set, sizeof(call->trace_set), "traffic.trace=%s", options->trace);
	options->sets[options->set_count++] = call->trace_set;
	if (!sets(options, "traffic.kind"))
		options->sets[options->set_count++] = "traffic.kind=trace";
	return 0;
}

// --sample SPEC, in place of the scenario's sample.
static int take_sample(struct call *call)
{
	struct refusal *refusal = &call->refusal;
	enum traffic_kind kind = call->scenario.traffic.kind;
	int rc = sample_parse(&call->scenario.sample, call->options.sample, refusal);
	if (rc < 0) {
		snprintf(refusal->file, sizeof(refusal->file), "--sample");
		refusal->line = 1;
		return rc;
	}
	if (kind == TRAFFIC_RING || kind == TRAFFIC_MODEL || kind == TRAFFIC_TRACE)
		return 0;
	return refuse(refusal, -EINVAL,
		      "--sample has no effect here; it needs traffic.kind ring, model or trace");
}

// The file that the traffic stands in, where it does.
static int find_workload(struct call *call)
{
	const struct traffic_config *traffic = &call->scenario.traffic;
	bool is_trace = traffic->kind == TRAFFIC_TRACE;
	const char *file = workload_file(traffic);
	char path[2 * SCENARIO_PATH_BYTES];
	uint32_t nics;
	if (file == NULL || (is_trace && (call->workload.text != NULL || call->workload.has_set)))
		return 0;
	if (call->workload.text != NULL)
		workload_free(&call->workload); // of the run before
	if (file[0] != '\0') {
		file_beside(call->scenario.path, file, path, sizeof(path));
		call->workload.memory_bytes_max = trace_memory_max(call);
		return workload_read(&call->workload, traffic->kind, path, &nics, &call->refusal);
	}
	snprintf(call->refusal.file, sizeof(call->refusal.file), "%s", call->scenario.path);
	return refuse(&call->refusal, -EINVAL,
		      "this scenario runs a workload file: name it with --trace FILE");
}

static int read_workload(struct call *call)
{
	int rc = find_workload(call);
	if (rc == 0)
		rc = job_set_read(call->job_set.files, &call->scenario, &call->refusal);
	return rc < 0 ? rc : workload_expand(&call->workload, &call->scenario, &call->refusal);
}

// Adds a file to the hash of all that were read (FNV-1a).
static void hash_text(struct call *call, const char *text, size_t bytes)
{
	for (size_t i = 0; text != NULL && i < bytes; i++)
		call->text_hash = (call->text_hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
}

// Parses the scenario with these assignments, the first `common_count` of which all runs have.
static int parse(struct call *call, const char *const *sets, uint32_t set_count,
		 uint32_t common_count)
{
	struct data_file file;
	int rc = data_file_read(&file, DATA_PATH_SCENARIOS, call->options.scenario, &call->refusal);
	if (rc < 0)
		return rc;
	hash_text(call, file.text, file.bytes);
	const struct scenario_source source = {
		.path = file.path,
		.text = file.text,
		.bytes = file.bytes,
		.sets = sets,
		.set_count = set_count,
		.common_count = common_count,
		.faults = call->options.faults,
		.fault_count = call->options.fault_count,
		.taps = call->options.taps,
		.tap_count = call->options.tap_count,
	};
	rc = scenario_read(&call->scenario, &source, &call->refusal);
	free(file.text);
	return rc;
}

#define WATCHED_LINES_MAX (1u << 16)

// A run that is shown names the busiest link, the deepest queue and who stands out, in each form
// the same, and variants side by side and the runs of a study say where flows collide: they watch
// links, which changes nothing else, where they are not too many for the memory that this takes and
// watch.links does not say otherwise.
static void choose_form(struct call *call)
{
	const struct options *options = &call->options;
	const struct fabric_config *fabric = &call->scenario.fabric;
	bool is_one = !call->is_study && !call->is_comparison &&
		options->fidelity_kind == FIDELITY_NONE && options->export_form == NULL;
	bool is_shown = is_one && !options->is_quiet && !options->wants_footprint;
	call->is_brief = is_shown && !options->is_json && !options->is_verbose;
	if ((is_shown || call->is_comparison || call->is_study) &&
	    !call->scenario.has_watch_links &&
	    (uint64_t)fabric->nics * fabric->planes <= WATCHED_LINES_MAX)
		call->scenario.watch.has_links = true;
}

// What belongs to a scenario that was parsed. With what begin the keys that it is about so far.
static int read_rest(struct call *call, const char **ret_keys)
{
	*ret_keys = "fabric.";
	int rc = topology_file_read(&call->scenario, &call->refusal);
	if (rc < 0)
		return rc;
	*ret_keys = "traffic.";
	rc = plan_files_read(&call->scenario, &call->refusal);
	if (rc == 0 && call->options.sample != NULL)
		rc = take_sample(call);
	bool is_sampled = call->options.sample != NULL && call->scenario.sample.is_on;
	if (rc == 0)
		rc = read_workload(call);
	if (rc < 0)
		return rc;
	if (is_sampled && !call->scenario.sample.is_on)
		return refuse(&call->refusal, -EINVAL,
			      "the trace has no data-parallel collective between 2 ranks or more: "
			      "--sample has nothing to take");
	hash_text(call, call->workload.text, call->workload.bytes);
	choose_form(call);
	return 0;
}

// ---------------------------------------------------------------- variants, points of a study

// All assignments of one run, in order of where they are from.
struct assignments {
	const char *words[OPTION_SETS_MAX + VARIANT_BYTES / 2 + STUDY_SWEEPS_MAX + 1];
	uint32_t of_options, of_variant, count;
	uint32_t variant_line, variant_column; // where those of a variant stand in the scenario
};

static void say_variant(struct refusal *refusal, uint32_t line, uint32_t column)
{
	char text[sizeof(refusal->text)];
	snprintf(text, sizeof(text), "variants[].set: %.*s", (int)sizeof(text) - 20, refusal->text);
	memcpy(refusal->text, text, sizeof(text));
	refusal->line = line;
	refusal->column = column;
}

// A refusal counts all assignments together. Those that are not words of the command line are
// refused at their place in the file, or as --sweep.
static void place_refusal(struct call *call, const struct assignments *sets)
{
	struct refusal *refusal = &call->refusal;
	bool is_of_variant = sets->of_variant > 0 &&
		sets->count == sets->of_options + sets->of_variant; // and of no --sweep
	if (is_of_variant && strcmp(refusal->file, call->options.scenario) == 0) {
		// the file alone was read before
		say_variant(refusal, sets->variant_line, sets->variant_column);
		return;
	}
	if (strcmp(refusal->file, "--set") != 0 || refusal->line <= sets->of_options)
		return;
	if (refusal->line > sets->of_options + sets->of_variant) {
		snprintf(refusal->file, sizeof(refusal->file), "--sweep");
		refusal->line = refusal->column = 0;
		return;
	}
	refusal_name(refusal, call->options.scenario);
	const char *word = sets->words[refusal->line - 1];
	say_variant(refusal, sets->variant_line,
		    sets->variant_column + refusal->column - 1 +
			    (uint32_t)(word - call->variant_words));
}

// How far behind its beginning the variant's assignments say the key that the reason names, or else
// the last key that begins so; NULL: their beginning will do.
static bool find_key(const struct call *call, const char *keys, uint32_t *ret)
{
	const char *set = call->scenario.variants[call->scenario.variant - 1].set;
	const char *why = call->refusal.text;
	bool is_found = keys == NULL;
	*ret = 0;
	for (const char *word = set + strspn(set, " "); *word != '\0'; word += strspn(word, " ")) {
		size_t length = strcspn(word, "=");
		bool is_named = memchr(word, '.', length) != NULL &&
			memmem(why, strlen(why), word, length) != NULL;
		bool is_of_keys = keys != NULL && strncmp(word, keys, strlen(keys)) == 0;
		if (is_named || is_of_keys) {
			*ret = (uint32_t)(word - set);
			is_found = true;
		}
		if (is_named)
			break;
		word += strcspn(word, " ");
	}
	return is_found;
}

void call_place_variant(struct call *call, const char *keys)
{
	struct refusal *refusal = &call->refusal, inner = *refusal;
	uint32_t behind;
	bool is_of_option = strncmp(inner.file, "--", 2) == 0;
	if (call->scenario.variant == 0 || is_of_option || !find_key(call, keys, &behind))
		return;
	const struct scenario_variant *variant =
		&call->scenario.variants[call->scenario.variant - 1];
	bool is_elsewhere = inner.file[0] != '\0' && strcmp(inner.file, call->scenario.path) != 0;
	char line[16] = "";
	if (inner.line > 0)
		snprintf(line, sizeof(line), ":%u", inner.line);
	if (is_elsewhere)
		snprintf(refusal->text, sizeof(refusal->text), "%s%s: %.200s", inner.file, line,
			 inner.text);
	refusal_name(refusal, call->options.scenario);
	say_variant(refusal, variant->line, variant->column + behind);
}

static void take_variant(struct call *call, uint32_t number, struct assignments *sets)
{
	char *rest;
	snprintf(call->variant_words, sizeof(call->variant_words), "%s",
		 call->scenario.variants[number - 1].set);
	for (char *word = strtok_r(call->variant_words, " ", &rest); word != NULL;
	     word = strtok_r(NULL, " ", &rest))
		sets->words[sets->count++] = word;
	sets->of_variant = sets->count - sets->of_options;
	sets->variant_line = call->scenario.variants[number - 1].line;
	sets->variant_column = call->scenario.variants[number - 1].column;
}

// A study counts its seeds from --seed on, or from the scenario's.
static void take_options(const struct call *call, bool with_seed, struct assignments *sets)
{
	const struct options *options = &call->options;
	for (uint32_t i = 0; i < options->set_count; i++)
		if (with_seed || options->sets[i] != options->seed_set)
			sets->words[sets->count++] = options->sets[i];
	sets->of_options = sets->count;
}

static int read_with(struct call *call, const struct assignments *sets, uint32_t variant)
{
	bool is_named = call->options.variant != NULL && !call->is_study;
	bool is_one = is_named || sets->count == sets->of_options; // with nothing of its own
	int rc = parse(call, sets->words, sets->count, is_one ? 0 : sets->of_options);
	if (rc < 0) {
		place_refusal(call, sets);
		return rc;
	}
	const char *keys;
	call->scenario.variant = variant;
	rc = read_rest(call, &keys);
	if (rc < 0 && strcmp(call->refusal.file, "--set") == 0)
		place_refusal(call, sets);
	else if (rc < 0)
		call_place_variant(call, keys);
	return rc;
}

int call_read_variant(struct call *call, uint32_t number)
{
	struct assignments sets = {0};
	take_options(call, true, &sets);
	take_variant(call, number, &sets);
	return read_with(call, &sets, number);
}

int call_read_point(struct call *call, uint32_t variant, const char *const *words, uint32_t count,
		    bool with_seed)
{
	struct assignments sets = {0};
	take_options(call, with_seed, &sets);
	if (variant > 0)
		take_variant(call, variant, &sets);
	for (uint32_t i = 0; i < count; i++)
		sets.words[sets.count++] = words[i];
	return read_with(call, &sets, variant);
}

// Finds --variant NAME, counted from 1; 0 when none is asked for.
static int find_variant(struct call *call, uint32_t *ret)
{
	const char *name = call->options.variant;
	*ret = 0;
	if (name == NULL)
		return 0;
	for (uint32_t i = 0; *ret == 0 && i < call->scenario.variant_count; i++)
		if (strcmp(call->scenario.variants[i].name, name) == 0)
			*ret = i + 1;
	if (*ret > 0)
		return 0;
	snprintf(call->refusal.file, sizeof(call->refusal.file), "--variant");
	snprintf(call->refusal.text, sizeof(call->refusal.text), "there is no variant %.100s",
		 name);
	scenario_variant_meant(&call->scenario, name, call->refusal.text,
			       sizeof(call->refusal.text));
	return -EINVAL;
}

// ---------------------------------------------------------------- all of it

// Options that are about one run, where all variants would run.
static int check_variants(struct call *call)
{
	const struct options *options = &call->options;
	const char *option = options->pcap != NULL ? "--pcap"
		: options->log != NULL		   ? "--log"
		: options->wants_footprint	   ? "--footprint"
		: options->is_dilation_auto	   ? "--dilation auto"
		: options->out == NULL		   ? NULL
		: options->export_form != NULL	   ? "--export"
						   : "--fidelity";
	if (option == NULL)
		return 0;
	snprintf(call->refusal.text, sizeof(call->refusal.text),
		 "%s is of one run, and this scenario has %u variants: choose one with --variant "
		 "NAME",
		 option, call->scenario.variant_count);
	return -EINVAL;
}

// What a study cannot do.
static int check_study(struct call *call)
{
	const struct options *options = &call->options;
	bool sweeps_seed = false;
	for (uint32_t i = 0; i < options->sweep_count; i++)
		sweeps_seed |= strcmp(options->sweeps[i].key, "seed") == 0;
	if (options->pcap != NULL || options->log != NULL || options->wants_footprint)
		return refuse(&call->refusal, -EINVAL,
			      "--seeds, --sweep and variants with --out are many runs: --pcap, "
			      "--log and --footprint are of one; choose it with --variant NAME, "
			      "--set and --seed");
	if (sweeps_seed && options->seed_count > 0)
		return refuse(&call->refusal, -EINVAL, "--seeds and --sweep seed=... are the same");
	return 0;
}

int call_read(struct call *call)
{
	const struct options *options = &call->options;
	int rc = options->trace != NULL ? take_trace(call) : 0;
	if (rc == 0)
		rc = parse(call, options->sets, options->set_count, 0);
	if (rc < 0)
		return rc;
	rc = find_variant(call, &call->variant);
	bool has_all = call->scenario.variant_count > 0 && call->variant == 0;
	bool is_kept = options->out != NULL && options->export_form == NULL &&
		options->fidelity_kind == FIDELITY_NONE;
	call->is_study = options_has_study(options) || (has_all && is_kept);
	if (rc < 0 || call->is_study)
		return rc < 0 ? rc : check_study(call);
	if (call->variant > 0)
		return call_read_variant(call, call->variant);
	call->is_comparison = call->scenario.variant_count > 0;
	const char *keys;
	return call->is_comparison ? check_variants(call) : read_rest(call, &keys);
}
