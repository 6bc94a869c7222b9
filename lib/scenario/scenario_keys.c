// SPDX-License-Identifier: Apache-2.0
// The one table of all keys of a scenario: name, unit, default, range, meaning, the field each
// fills, and when it has an effect. docs/scenario.md lists the same keys; a test compares.
// Sources of defaults: docs/scenario.md. Rows stand in keys/, by what they are about, in the order
// of that page.

#include "scenario_keys.h"

#include <stddef.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/workload/workload_steady.h>

#include "scenario_words.h"

static_assert(sizeof(path_words) / sizeof(*path_words) == PATH_COUNT + 1, "a word for each");
static_assert(sizeof(fault_words) / sizeof(*fault_words) == FAULT_KIND_COUNT + 1,
	      "a word for each");

// Where a field lies and how long it is.
#define IN(type, field) offsetof(type, field), sizeof(((type *)NULL)->field)
#define SCENARIO(field) IN(struct scenario, field)
#define JOB(field) IN(struct scenario_job, field)

#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)
#define GIB (KIB * MIB)
#define U32 UINT64_C(0xfffffffe)
#define I64 ((uint64_t)INT64_MAX)
#define GBPS UINT64_C(1000000000)
#define NICS_MAX (UINT64_C(1) << 20)
#define SECOND ((uint64_t)PS_PER_S)
#define US ((uint64_t)PS_PER_US)
#define NS ((uint64_t)PS_PER_NS)

// path, unit, default, meaning, field, min, max, word for 0, words, use
static const struct scenario_key keys[] = {
	{"name", "text", "unnamed",
	 "Name of the scenario in results; that of its file where there is none.", SCENARIO(name),
	 0, 0, NULL, NULL, USE_ALWAYS},
	{"description", "text", "-", "One line about the scenario.", SCENARIO(description), 0, 0,
	 NULL, NULL, USE_ALWAYS},
	{"seed", "count", "1", "Names the random streams of a run.", SCENARIO(seed), 0, I64, NULL,
	 NULL, USE_ALWAYS},

	{"preset", "word", "none",
	 "Values of transport, control and queues that go together, for keys that are not given: "
	 "roce-dcqcn, roce-pfc, mrc, uec, mrc-nccl-plugin.",
	 SCENARIO(preset), 0, 0, NULL, preset_words, USE_ALWAYS},

#include "keys/fabric.def"

#include "keys/transport.def"

#include "keys/traffic.def"

#include "keys/faults.def"

#include "keys/expect.def"
};

static_assert(sizeof(keys) / sizeof(keys[0]) <= SCENARIO_KEYS_MAX, "room for marks");

static const char *const sections[] = {"fabric", "queue", "scaleup", "transport", "cc", "traffic",
				       "limits", "wire",  "capture", "watch",	  NULL};

const struct key_table scenario_table = {keys, sections, "scenario", "the scenario",
					 "fabric.nics and traffic.kind"};

const struct scenario_key *scenario_keys(void)
{
	return keys;
}

const char *scenario_fault_name(enum fault_kind kind)
{
	return fault_words[kind];
}
