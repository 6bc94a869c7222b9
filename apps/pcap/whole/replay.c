// SPDX-License-Identifier: Apache-2.0
// weft pcap replay: the messages of a capture, run anew over the fabric of a scenario. How long
// they take there is read from a capture of that run, in the way in which it was read from the
// first.

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/core/order.h>
#include <weft/files/files.h>
#include <weft/run/input_files.h>
#include <weft/run/options.h>
#include <weft/run/outcome.h>
#include <weft/run/run.h>

#include "help.h"
#include "messages.h"
#include "pace.h"
#include "pcap.h"
#include "verbs.h"
#include "weft-pcap_options.h"
#include "weft_version.h"

#define WORDS_MAX 1024
#define PATH_BYTES 4096
#define SET_BYTES (PATH_BYTES + 64)
#define PACKETS_MAX (1u << 24)

struct replay {
	const char *path, *out;
	struct messages_options options;
	struct pace pace;
	uint32_t given; // own options, a bit for each row
	bool is_emu, has_scenario, wants_help, wants_version;
	char *words[WORDS_MAX + 16]; // of weft sim
	int count;
	char folder[PATH_BYTES], program[PATH_BYTES], capture[PATH_BYTES];
	char kind[SET_BYTES], file[SET_BYTES];
	struct messages before, after;
	struct refusal refusal;
};

// ---------------------------------------------------------------- the command line

static const struct option_row option_rows[] = {PCAP_REPLAY_OPTIONS(struct replay), {NULL}};

// An option of replay itself, and its value where it has one: how many words it took. 0: it is
// none.
static int take_own(struct replay *replay, char *word, char *next)
{
	char name[16];
	size_t length = strcspn(word, "=");
	bool is_long = strncmp(word, "--", 2) == 0 && length < sizeof(name) + 2;
	snprintf(name, sizeof(name), "%.*s", is_long ? (int)length - 2 : 0, word + 2);
	const struct option_row *row = option_find(option_rows, name);
	if (!is_long || row == NULL || row->kind == OPTION_NONE || row->kind == OPTION_FORCE ||
	    strcmp(name, "out") == 0)
		return 0;
	bool is_given = replay->given & 1u << (row - option_rows);
	bool has_value = word[length] == '=';
	const char *value = has_value ? word + length + 1 : next;
	word[length] = '\0';
	if (row->value == NULL ? has_value : value == NULL)
		return outcome_bad_word(&replay->refusal,
					has_value ? "takes no value:" : "needs a value:", word);
	if (row->value != NULL && is_given)
		return outcome_bad_word(&replay->refusal, "given twice:", word);
	replay->given |= 1u << (row - option_rows);
	int rc = option_take(row, replay, row->value != NULL ? value : NULL, &replay->refusal);
	return rc < 0 ? rc : row->value == NULL || has_value ? 1 : 2;
}

static int take_word(struct replay *replay, char *word)
{
	replay->wants_help |= strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
	replay->wants_version |= strcmp(word, "--version") == 0;
	if (strncmp(word, "--pcap", 6) == 0)
		return outcome_bad_word(&replay->refusal, "a replay has its own capture:", word);
	if (replay->path == NULL && (word[0] != '-' || word[1] == '\0')) {
		replay->path = word;
		return 0;
	}
	if (strcmp(word, "--force") == 0)
		files_force(); // of weft sim's files, too
	if (replay->count == WORDS_MAX)
		return outcome_bad_line(&replay->refusal, "too many words");
	replay->has_scenario |= strcmp(word, "--force") != 0; // or an option of weft sim alone
	replay->words[replay->count++] = word;
	return 0;
}

static int check_pace(struct replay *replay)
{
	if (replay->pace.is_given && !replay->options.are_packets)
		return outcome_bad_line(&replay->refusal,
					"--speed, --drift and --loops need --packets");
	if (replay->is_emu && !replay->has_scenario)
		return outcome_bad_line(&replay->refusal, "--emu needs a scenario");
	pace_settle(&replay->pace);
	return 0;
}

static int take_words(struct replay *replay, int argc, char **argv)
{
	int rc = 0;
	replay->words[replay->count++] = argv[0];
	for (int i = 1; i < argc && rc == 0; i++) {
		rc = take_own(replay, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
		if (rc != 0) {
			i += rc == 2;
			rc = rc < 0 ? rc : 0;
			continue;
		}
		if (strncmp(argv[i], "-o", 2) != 0) {
			rc = take_word(replay, argv[i]);
			continue;
		}
		const char *file = argv[i] + 2;
		if (*file == '\0' && i + 1 < argc)
			file = argv[++i];
		rc = outcome_once(&replay->refusal, &replay->out, "-o", file);
	}
	if (rc < 0 || replay->wants_help || replay->wants_version)
		return rc;
	if (replay->path == NULL)
		return outcome_bad_line(&replay->refusal, "no capture given");
	rc = check_pace(replay);
	if (rc < 0)
		return rc;
	if (!replay->has_scenario && replay->out == NULL)
		return outcome_bad_line(&replay->refusal,
					"a scenario to run them in is missing, or -o FILE to write "
					"them to");
	return 0;
}

// ---------------------------------------------------------------- what was rebuilt

static uint64_t still_open(const struct messages *messages)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < messages->count; i++)
		count += messages->list[i].end_ns < 0;
	return count;
}

static void say_nodes(const struct messages *messages)
{
	char words[WORDS_BYTES];
	for (uint32_t i = 0; !messages->is_by_rule && i < messages->node_count; i++)
		printf("NIC %u is %s\n", i, address_words(words, messages->nodes[i]));
}

static void say_messages(const struct messages *messages, bool are_packets)
{
	char w[4][WORDS_BYTES];
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < messages->count; i++)
		bytes += messages->list[i].bytes;
	printf("%s %s (%s) of %s QPs rebuilt from %s frames\n", count_words(w[0], messages->count),
	       are_packets ? "packets" : "messages", bytes_words(w[1], bytes),
	       count_words(w[2], messages->stream_count), count_words(w[3], messages->frames));
	if (still_open(messages) > 0)
		printf("%s of them do not end in the capture: run, and not compared\n",
		       count_words(w[0], still_open(messages)));
	if (messages->headless > 0)
		printf("left out: %s packets of messages that began before the capture\n",
		       count_words(w[0], messages->headless));
	if (messages->reads > 0)
		printf("left out: %s READs and atomics\n", count_words(w[0], messages->reads));
	if (messages->datagrams > 0)
		printf("left out: %s datagrams (UD)\n", count_words(w[0], messages->datagrams));
	if (messages->end[0] != '\0')
		printf("the capture: %s\n", messages->end);
	say_nodes(messages);
}

// A message of no byte says nothing to a fabric, and neither matrix nor GOAL has it.
static void drop_empty(struct messages *messages)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < messages->count; i++)
		if (messages->list[i].bytes > 0)
			messages->list[count++] = messages->list[i];
	if (count < messages->count)
		printf("left out: %u messages of no byte\n", messages->count - count);
	messages->count = count;
}

// Packets as often, and as fast, as asked for. The next loop begins one packet after the last one,
// by the mean.
static int set_pace(struct messages *messages, const struct pace *pace, struct refusal *refusal)
{
	uint32_t count = messages->count;
	if (count == 0)
		return 0;
	if ((uint64_t)count * pace->loops > PACKETS_MAX)
		return refuse(refusal, -EINVAL, "% packets in % loops: at most % are replayed",
			      count, pace->loops, PACKETS_MAX);
	struct message *list = realloc(messages->list, (size_t)count * pace->loops * sizeof(*list));
	if (list == NULL)
		return refuse(refusal, -ENODEV, "no memory for the loops of a capture");
	messages->list = list;
	int64_t first_ns = list[0].start_ns;
	double took_ns = (double)(list[count - 1].start_ns - first_ns) * (1 + 1.0 / count);
	for (uint32_t i = count * pace->loops; i-- > 0;) {
		struct message *to = &list[i];
		*to = list[i % count];
		double at_ns = (double)(to->start_ns - first_ns) + took_ns * (i / count);
		to->start_ns = to->end_ns = first_ns + (int64_t)llround(at_ns / pace->speed);
	}
	messages->count = count * pace->loops;
	return 0;
}

// ---------------------------------------------------------------- before and after

static int by_ends(const void *a, const void *b)
{
	const struct message *one = a, *other = b;
	int order = ORDER(one->from, other->from) ?: ORDER(one->to, other->to);
	return order ?: ORDER(one->bytes, other->bytes) ?: ORDER(one->start_ns, other->start_ns);
}

static bool are_twins(const struct message *one, const struct message *other)
{
	return one->from == other->from && one->to == other->to && one->bytes == other->bytes;
}

// From the first start to the last end.
struct span {
	int64_t from_ns, to_ns;
};

static void widen(struct span *span, const struct message *by)
{
	span->from_ns = by->start_ns < span->from_ns ? by->start_ns : span->from_ns;
	span->to_ns = by->end_ns > span->to_ns ? by->end_ns : span->to_ns;
}

static void say_row(const char *name, int64_t before_ns, int64_t after_ns)
{
	char w[2][WORDS_BYTES];
	double percent = before_ns > 0 ? 100.0 * (double)(after_ns - before_ns) / (double)before_ns
				       : 0;
	printf("  %-16s %12s %12s %+10.2f %%\n", name, time_words(w[0], before_ns),
	       time_words(w[1], after_ns), percent);
}

struct pairs {
	int64_t *before_ns, *after_ns;
	struct span before, after;
	uint32_t count;
	double worst; // difference of one message, as a part of its time
};

// What the fabric had sent again.
static void drop_repeats(struct messages *messages)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < messages->count; i++)
		if (!messages->list[i].is_again)
			messages->list[count++] = messages->list[i];
	messages->count = count;
}

// The k-th message of an end to another, of a size, is the k-th there.
static void match(struct replay *replay, struct pairs *pairs)
{
	struct messages *before = &replay->before, *after = &replay->after;
	if (replay->options.are_packets)
		drop_repeats(after);
	int64_t before_ns = before->count > 0 ? before->list[0].start_ns : 0;
	int64_t after_ns = after->count > 0 ? after->list[0].start_ns : 0;
	qsort(before->list, before->count, sizeof(*before->list), by_ends);
	qsort(after->list, after->count, sizeof(*after->list), by_ends);
	for (uint32_t i = 0, k = 0; i < before->count && k < after->count;) {
		struct message *one = &before->list[i], *other = &after->list[k];
		if (!are_twins(one, other)) {
			struct message early = *one; // without the time: which of them has no twin
			early.start_ns = other->start_ns;
			by_ends(&early, other) < 0 ? i++ : k++;
			continue;
		}
		i++;
		k++;
		if (one->end_ns < 0 || other->end_ns < 0)
			continue;
		int64_t was = one->end_ns - one->start_ns, is = other->end_ns - other->start_ns;
		if (replay->options.are_packets) {
			was = one->start_ns - before_ns;
			is = other->start_ns - after_ns;
		}
		widen(&pairs->before, one);
		widen(&pairs->after, other);
		double part = was > 0 ? fabs((double)(is - was)) / (double)was : 0;
		pairs->worst = part > pairs->worst ? part : pairs->worst;
		pairs->before_ns[pairs->count] = was;
		pairs->after_ns[pairs->count++] = is;
	}
}

static void say_pairs(struct pairs *pairs)
{
	static const struct {
		const char *name;
		double q;
	} rows[] = {{"shortest", 0}, {"p50", 0.5}, {"p99", 0.99}, {"longest", 1}};
	char w[2][WORDS_BYTES];
	if (pairs->count == 0) {
		puts("no message ends in both captures: nothing to compare");
		return;
	}
	qsort(pairs->before_ns, pairs->count, sizeof(int64_t), order_int64);
	qsort(pairs->after_ns, pairs->count, sizeof(int64_t), order_int64);
	printf("\nMessages, first packet to acknowledgement (%s that end in both captures)\n",
	       count_words(w[0], pairs->count));
	printf("  %-16s %12s %12s %12s\n", "", "captured", "replayed", "difference");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t at = (uint32_t)(rows[i].q * (pairs->count - 1) + 0.5);
		say_row(rows[i].name, pairs->before_ns[at], pairs->after_ns[at]);
	}
	say_row("first to last", pairs->before.to_ns - pairs->before.from_ns,
		pairs->after.to_ns - pairs->after.from_ns);
	printf("  the largest difference of one message is %.2f %%\n", 100 * pairs->worst);
}

// Of packets: how long after its time each began to leave, counted from the first.
static void say_lateness(const struct replay *replay, struct pairs *pairs)
{
	char w[5][WORDS_BYTES];
	uint32_t count = pairs->count;
	if (count == 0) {
		puts("no packet has its twin in the replay: transport.payload is less than theirs, "
		     "or "
		     "they went over a scale-up");
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		pairs->after_ns[i] -= pairs->before_ns[i];
	qsort(pairs->after_ns, count, sizeof(int64_t), order_int64);
	printf("\n%s of %s packets left over the new fabric, behind their time by: p50 %s, p99 %s, "
	       "at most %s\n",
	       count_words(w[0], count), count_words(w[1], replay->before.count),
	       time_words(w[2], pairs->after_ns[(count - 1) / 2]),
	       time_words(w[3], pairs->after_ns[(uint32_t)(0.99 * (count - 1) + 0.5)]),
	       time_words(w[4], pairs->after_ns[count - 1]));
}

static int compare(struct replay *replay)
{
	struct messages *before = &replay->before;
	const struct span none = {INT64_MAX, INT64_MIN};
	struct pairs pairs = {.before = none,
			      .after = none,
			      .before_ns = calloc(before->count + 1u, sizeof(int64_t)),
			      .after_ns = calloc(before->count + 1u, sizeof(int64_t))};
	int rc = messages_read(&replay->after, replay->capture, &replay->options, &replay->refusal);
	if (pairs.before_ns == NULL || pairs.after_ns == NULL)
		rc = refuse(&replay->refusal, -ENODEV, "no memory to compare messages");
	if (rc == 0) {
		match(replay, &pairs);
		if (!replay->options.are_packets)
			say_pairs(&pairs);
		else
			say_lateness(replay, &pairs);
	}
	free(pairs.before_ns);
	free(pairs.after_ns);
	return rc;
}

// ---------------------------------------------------------------- the run

static int make_folder(struct replay *replay)
{
	const char *root = getenv("TMPDIR");
	snprintf(replay->folder, sizeof(replay->folder), "%s/weft-replay-XXXXXX",
		 root != NULL && root[0] != '\0' ? root : "/tmp");
	if (mkdtemp(replay->folder) == NULL) {
		int error = errno;
		return file_unwritten(&replay->refusal, replay->folder, error);
	}
	snprintf(replay->program, sizeof(replay->program), "%.4000s/messages.%s", replay->folder,
		 program_is_matrix(&replay->before) ? "cm" : "goal");
	snprintf(replay->capture, sizeof(replay->capture), "%.4000s/replay.pcapng", replay->folder);
	return 0;
}

// How many NICs the fabric of the scenario has: a matrix is of all.
static int find_nics(struct replay *replay, uint32_t *ret_nics)
{
	static struct options options; // large: kept off the stack
	static struct scenario scenario;
	int rc = options_parse(&options, replay->is_emu ? "emu" : "sim",
			       replay->is_emu ? &emu_arguments : &sim_arguments, replay->count,
			       replay->words, &replay->refusal);
	if (rc == 0)
		rc = scenario_file_read(&scenario, options.scenario, options.sets,
					options.set_count, &replay->refusal);
	*ret_nics = scenario.fabric.nics;
	return rc;
}

static void add_set(struct replay *replay, char *word)
{
	replay->words[replay->count++] = "--set";
	replay->words[replay->count++] = word;
}

// Options of the command line come later, and win.
static int run(struct replay *replay)
{
	bool is_matrix = program_is_matrix(&replay->before);
	snprintf(replay->kind, sizeof(replay->kind), "traffic.kind=%s",
		 is_matrix ? "matrix" : "goal");
	snprintf(replay->file, sizeof(replay->file), "traffic.%s=%s", is_matrix ? "matrix" : "file",
		 replay->program);
	add_set(replay, replay->kind);
	add_set(replay, replay->file);
	add_set(replay, "capture.keep=headers");
	replay->words[replay->count++] = "--quiet";
	replay->words[replay->count++] = "--pcap";
	replay->words[replay->count++] = replay->capture;
	fflush(stdout);
	return run_main(replay->is_emu ? "emu" : "sim",
			replay->is_emu ? &emu_arguments : &sim_arguments, replay->count,
			replay->words);
}

static int replay_all(struct replay *replay, int *ret_status)
{
	int rc = messages_read(&replay->before, replay->path, &replay->options, &replay->refusal);
	if (rc < 0)
		return rc;
	if (replay->options.are_packets)
		rc = set_pace(&replay->before, &replay->pace, &replay->refusal);
	if (rc < 0)
		return rc;
	say_messages(&replay->before, replay->options.are_packets);
	drop_empty(&replay->before);
	if (replay->before.count == 0)
		return refuse(&replay->refusal, -EINVAL,
			      replay->options.are_packets
				      ? "no packet of RoCE or MRC with payload in this capture"
				      : "no message of RoCE or MRC begins in this capture");
	if (replay->out != NULL)
		rc = program_write(&replay->before, 0, replay->out, &replay->refusal);
	if (rc < 0 || !replay->has_scenario)
		return rc;
	uint32_t nics = 0;
	rc = find_nics(replay, &nics);
	if (rc == 0)
		rc = make_folder(replay);
	if (rc < 0)
		return rc;
	rc = program_write(&replay->before, nics, replay->program, &replay->refusal);
	if (rc == 0)
		*ret_status = run(replay);
	if (rc == 0 && access(replay->capture, R_OK) == 0)
		rc = compare(replay);
	unlink(replay->program);
	unlink(replay->capture);
	rmdir(replay->folder);
	return rc;
}

int replay_run(int argc, char **argv)
{
	static struct replay replay = {.pace = PACE_DEFAULT}; // large: kept off the stack
	int status = EXIT_SUCCESS;
	int rc = take_words(&replay, argc, argv);
	if (rc == 0 && (replay.wants_help || replay.wants_version)) {
		puts(replay.wants_help ? help_text : WEFT_VERSION_TEXT);
		return EXIT_SUCCESS;
	}
	if (rc == 0)
		rc = replay_all(&replay, &status);
	messages_free(&replay.before);
	messages_free(&replay.after);
	return rc < 0 ? outcome_refused("pcap", &replay.refusal, rc) : status;
}
