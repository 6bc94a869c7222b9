// SPDX-License-Identifier: Apache-2.0
// Triggers: each packet by itself, but for bursts of marks.

#include <string.h>

#include <weft/run/outcome.h>
#include <weft/wire/wire_ends.h>

#include "live/trigger.h"

enum { TRIGGER_NACK, TRIGGER_RNR, TRIGGER_TRIM, TRIGGER_CE, TRIGGER_EV, TRIGGERS };
static const char *const names[TRIGGERS] = {"nack", "rnr", "trim", "ce", "ev"};

// A QP that draws its EVs takes one of n that it has not had in this many packets with a
// probability of e^-16 at most.
#define QUIET_PACKETS(evs) (16 * (evs) + 16)
#define TRIES 8 // slots that a name may lie in

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
			return outcome_bad_word(refusal,
						"triggers are nack, rnr, trim, ce and ev, not", at);
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

static uint64_t mix_bytes(uint64_t hash, const void *at, size_t bytes)
{
	const uint8_t *byte = at;
	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t name_of(const struct wire_record *record)
{
	uint8_t addresses[32];
	struct wire_config wire;
	memcpy(addresses, record->source, 16);
	memcpy(addresses + 16, record->target, 16);
	if (record->found == WIRE_FOUND_MRC) { // each plane has its own
		wire_config_default(6, &wire);
		wire_leave_out_plane(&wire, addresses);
		wire_leave_out_plane(&wire, addresses + 16);
	}
	uint64_t hash = mix_bytes(UINT64_C(0xcbf29ce484222325), addresses, sizeof(addresses));
	return mix_bytes(hash, &record->qpn, sizeof(record->qpn)) | 1;
}

static struct trigger_qp *qp_of(struct trigger *trigger, uint64_t name)
{
	for (uint32_t i = 0; i < TRIES; i++) {
		struct trigger_qp *qp = &trigger->qps[((name >> 20) + i) % TRIGGER_QPS];
		if (qp->name == 0)
			qp->name = name;
		if (qp->name == name)
			return qp;
	}
	return NULL;
}

// Whether this one is new; false where there is no room.
static bool is_new_ev(struct trigger *trigger, uint64_t name, uint32_t ev)
{
	uint64_t both = mix_bytes(name, &ev, sizeof(ev)) | 1;
	for (uint32_t i = 0; i < TRIES; i++) {
		uint64_t *slot = &trigger->evs[((both >> 20) + i) % TRIGGER_EVS];
		if (*slot == both)
			return false;
		if (*slot == 0) {
			*slot = both;
			return true;
		}
	}
	trigger->unwatched++;
	return false;
}

// Whether a QP that had all its EVs for a while takes another one; of RoCE, another source port.
static bool changes_ev(struct trigger *trigger, const struct wire_record *record)
{
	bool is_mrc = record->found == WIRE_FOUND_MRC;
	if (record->payload_bytes == 0 || record->is_trimmed || record->is_rtx)
		return false;
	uint64_t name = name_of(record);
	struct trigger_qp *qp = qp_of(trigger, name);
	if (qp == NULL) {
		trigger->unwatched++;
		return false;
	}
	bool is_new = is_new_ev(trigger, name, is_mrc ? record->ev : record->source_port);
	bool changes = is_new && qp->evs > 0 && qp->packets >= QUIET_PACKETS(qp->evs);
	qp->evs += is_new;
	qp->packets = is_new ? 0 : qp->packets + 1;
	return changes;
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
	if (wants(trigger, TRIGGER_EV) && changes_ev(trigger, record))
		return "trigger: another EV";
	return NULL;
}
