// SPDX-License-Identifier: Apache-2.0
// The scenario of one size: the file with this collective in the place of its traffic.

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "coll.h"

struct words {
	const char *list[SETS_MAX + 16];
	char room[16][SET_BYTES];
	uint32_t count, used;
};

__attribute__((format(printf, 2, 3))) static void say(struct words *words, const char *format, ...)
{
	va_list list;
	char *to = words->room[words->used++];
	va_start(list, format);
	vsnprintf(to, SET_BYTES, format, list);
	va_end(list);
	words->list[words->count++] = to;
}

static void say_shape(struct words *words, const struct call *call, bool is_credit_ring)
{
	if (!is_credit_ring)
		say(words, "traffic.algorithm=%s",
		    call->choice.is_auto ? "auto" : coll_algorithm_name(call->choice.algorithm));
	if (!is_credit_ring)
		say(words, "traffic.element=%uB", call->type->bytes);
	if (call->ranks > 0)
		say(words, "traffic.ranks=%u", call->ranks);
	if (call->gpus > 0)
		say(words, "fabric.nics_per_host=%u", call->gpus);
	if (call->channels > 0)
		say(words, "traffic.channels=%u", call->channels);
	if (call->chunk_bytes > 0)
		say(words, "traffic.chunk=%lluB", (unsigned long long)call->chunk_bytes);
	if (!is_credit_ring && coll_has_root(call->kind))
		say(words, "traffic.root=%u", call->root);
	if (is_credit_ring) { // one ring over all, whatever the file has
		say(words, "traffic.axes=none");
		say(words, "traffic.jobs=1");
	}
	if (is_credit_ring)
		say(words, "sample.packets=%llu", (unsigned long long)call->packets_max);
}

// A key that the collective, its size or an option sets is not to be set by --set, too.
static int refuse_own(struct call *call, const struct words *words)
{
	struct refusal *refusal = &call->refusal;
	for (uint32_t i = 0; i < call->set_count; i++)
		for (uint32_t k = 0; k < words->used; k++) {
			size_t length = strcspn(words->room[k], "=");
			if (strncmp(call->sets[i], words->room[k], length + 1) != 0)
				continue;
			refusal_name(refusal, "--set");
			refusal->line = i + 1;
			refusal->column = 1;
			snprintf(refusal->text, sizeof(refusal->text),
				 "%.*s: COLLECTIVE, the sizes or an option of weft coll set it",
				 (int)length, call->sets[i]);
			return -EINVAL;
		}
	return 0;
}

// A refusal counts all assignments together. Those of --set are counted by themselves; what an
// option says has no place.
static void place_refusal(struct refusal *refusal, const struct words *words)
{
	if (strcmp(refusal->file, "--set") != 0)
		return;
	bool is_of_set = refusal->line > words->used;
	refusal->line = is_of_set ? refusal->line - words->used : 0;
	refusal->column = is_of_set ? refusal->column : 0;
	refusal->file[0] = is_of_set ? refusal->file[0] : '\0';
}

int call_scenario(struct call *call, uint64_t bytes, bool is_credit_ring, uint64_t seed)
{
	struct words words = {.count = 0};
	say(&words, "traffic.kind=%s", is_credit_ring ? "ring" : "collective");
	say(&words, "traffic.collective=%s", coll_kind_name(call->kind));
	say(&words, "traffic.bytes=%lluB", (unsigned long long)bytes);
	say_shape(&words, call, is_credit_ring);
	int rc = refuse_own(call, &words);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < call->set_count; i++)
		words.list[words.count++] = call->sets[i];
	rc = scenario_parse(&call->scenario, call->file.path, call->file.text, call->file.bytes,
			    words.list, words.count, &call->refusal);
	if (rc < 0)
		place_refusal(&call->refusal, &words);
	if (rc == 0 && call->is_seed_given)
		call->scenario.seed = seed;
	return rc;
}

bool gives_all(enum coll_kind kind)
{
	return kind == COLL_ALL_REDUCE || kind == COLL_BROADCAST || kind == COLL_REDUCE ||
		kind == COLL_SEND_RECEIVE;
}

uint64_t size_whole(const struct measured *row, const struct call *call, uint64_t bytes)
{
	uint64_t grain = (uint64_t)call->type->bytes * (gives_all(call->kind) ? 1 : row->ranks);
	return bytes < grain ? grain : bytes - bytes % grain;
}
