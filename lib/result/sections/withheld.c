// SPDX-License-Identifier: Apache-2.0
// See withheld.h.

#include "withheld.h"

#include <stdio.h>
#include <string.h>

#include <weft/result/put.h>

#define FABRIC "the fabric between these hosts is not weft's, and does not report"
#define ALL "not all hosts reported their figures"
#define WINDOWS "hosts go by the clock, turn after turn"
#define ONE_WAY "hosts have no common clock for the way of a packet"

// A path in the document; "a[].b" is of each element.
static const struct withheld {
	const char *path, *reason;
	bool needs_all; // it is there where all hosts told
} rows[] = {
	{"goodput.total_bps", ALL, true},
	{"goodput.per_nic_bps", ALL, true},
	{"congestion.marked", FABRIC, false},
	{"congestion.marked_share", FABRIC, false},
	{"congestion.trimmed_core", FABRIC, false},
	{"congestion.trimmed_last_hop", FABRIC, false},
	{"congestion.trimmed_share", FABRIC, false},
	{"congestion.queue_bytes_max", FABRIC, false},
	{"drops[].switches", FABRIC, false},
	{"drops[].cables", FABRIC, false},
	{"cables", FABRIC, false},
	{"switches", FABRIC, false},
	{"conservation.holds", FABRIC, false},
	{"conservation.sent", ALL, true},
	{"conservation.delivered", ALL, true},
	{"conservation.doubled", FABRIC, false},
	{"conservation.pauses_sent", FABRIC, false},
	{"conservation.pauses_taken", FABRIC, false},
	{"conservation.dropped", FABRIC, false},
	{"conservation.held", FABRIC, false},
	{"conservation.not_sent", FABRIC, false},
	{"links", FABRIC, false},
	{"culprits", FABRIC, false},
	{"delays", ONE_WAY, false},
	{"speed.hops", FABRIC, false},
	{"speed.data_hops", FABRIC, false},
	{"speed.hops_per_s", FABRIC, false},
	{"speed.ns_per_hop", FABRIC, false},
	{"speed.windows", WINDOWS, false},
	{"speed.machine_visits", WINDOWS, false},
	{"speed.cpu_waiting_s", WINDOWS, false},
	{"speed.cpu_busiest_s", WINDOWS, false},
};

static void withhold(json_t *at, const char *path, const char *reason)
{
	char name[64];
	size_t i, length = strcspn(path, ".[");
	json_t *each;
	snprintf(name, sizeof(name), "%.*s", (int)length, path);
	json_t *field = json_object_get(at, name);
	const char *rest = path + length;
	if (*rest == '.')
		withhold(field, rest + 1, reason);
	else if (*rest == '[')
		json_array_foreach(field, i, each) withhold(each, rest + 3, reason);
	else if (field != NULL && !json_is_null(field)) // which has a reason of its own
		put_reason(at, name, reason);
}

void withheld_json(json_t *root, const struct report_input *input)
{
	if (input->wall == NULL)
		return;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!rows[i].needs_all || !input->is_whole)
			withhold(root, rows[i].path, rows[i].reason);
	json_object_del(root, "buffer"); // of switches
	put(root, "wall", json_incref(input->wall));
}
