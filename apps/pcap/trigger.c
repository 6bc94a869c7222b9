// SPDX-License-Identifier: Apache-2.0
// Triggers: each packet by itself, but for bursts of marks.

#include <string.h>

#include <weft/run/outcome.h>

#include "trigger.h"

enum { TRIGGER_NACK, TRIGGER_RNR, TRIGGER_TRIM, TRIGGER_CE, TRIGGERS };
static const char *const names[TRIGGERS] = {"nack", "rnr", "trim", "ce"};

#define AETH_KIND(syndrome) ((syndrome) >> 5 & 3)
#define AETH_RNR 1
#define AETH_NAK 3

int trigger_parse(struct trigger *trigger, const char *words, struct refusal *refusal)
{
	for (const char *at = words; *at != '\0';) {
		size_t bytes = strcspn(at, ",");
		int found = TRIGGERS;
		for (int i = 0; i < TRIGGERS; i++)
			if (strlen(names[i]) == bytes && memcmp(names[i], at, bytes) == 0)
				found = i;
		if (found == TRIGGERS)
			return outcome_bad_word(refusal, "triggers are nack, rnr, trim and ce, not",
						at);
		trigger->wanted |= 1u << found;
		at += bytes;
		at += *at == ',';
	}
	return 0;
}

static bool wants(const struct trigger *trigger, int which)
{
	return trigger->wanted & 1u << which;
}

// Whether this mark is the last of a burst.
static bool ends_burst(struct trigger *trigger, int64_t at_ns)
{
	trigger->mark_ns[trigger->marks++ % trigger->burst] = at_ns;
	int64_t oldest_ns = trigger->mark_ns[trigger->marks % trigger->burst];
	return trigger->marks >= trigger->burst && at_ns - oldest_ns <= TRIGGER_BURST_NS;
}

const char *trigger_of(struct trigger *trigger, const struct wire_record *record, int64_t at_ns)
{
	if (!(record->layers & WIRE_LAYER_BTH))
		return NULL;
	bool is_mrc = record->found == WIRE_FOUND_MRC;
	uint8_t kind = record->layers & WIRE_LAYER_AETH ? AETH_KIND(record->syndrome) : 0;
	if (wants(trigger, TRIGGER_NACK) && is_mrc && record->opcode == PACKET_NACK)
		return "trigger: NACK";
	if (wants(trigger, TRIGGER_NACK) && kind == AETH_NAK)
		return "trigger: NAK";
	if (wants(trigger, TRIGGER_RNR) && !is_mrc && kind == AETH_RNR)
		return "trigger: RNR NAK";
	if (wants(trigger, TRIGGER_TRIM) && record->is_trimmed)
		return "trigger: trimmed";
	if (wants(trigger, TRIGGER_CE) && record->ecn == 3 && ends_burst(trigger, at_ns))
		return "trigger: burst of CE";
	return NULL;
}
