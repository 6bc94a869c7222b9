// SPDX-License-Identifier: Apache-2.0
// Tests of traffic that does not fit its fabric: each is refused at its key.

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/world/world.h>

static const char good[] = "fabric:\n  nics: 8\n  nics_per_t0: 4\n  t1_count: 2\n"
			   "traffic: {kind: permutation, bytes: 1MB}\n";

static struct scenario scenario;

static int parse(const char *const sets[4], struct refusal *refusal)
{
	uint32_t count = 0;
	while (count < 4 && sets[count] != NULL)
		count++;
	*refusal = (struct refusal){0};
	return scenario_parse(&scenario, "text", good, strlen(good), sets, count, refusal);
}

static void what_does_not_fit_is_refused_at_its_key(void **state)
{
	(void)state;
	static const struct {
		const char *sets[4];
		uint32_t line, column;
		const char *reason;
	} cases[] = {
		{{"traffic.receivers=4"}, 1, 1, "no effect here; it needs traffic.kind outcast"},
		{{"traffic.kind=outcast"}, 5, 30, "traffic.receivers is missing"},
		{{"traffic.kind=outcast", "traffic.receivers=8"}, 2, 19, "need more than 8 NICs"},
		{{"traffic.kind=incast", "traffic.senders=8"}, 2, 17, "need more than 8 NICs"},
		{{"traffic.kind=outcast", "traffic.senders=3"},
		 2,
		 1,
		 "it needs traffic.kind incast"},
		{{"traffic.kind=butterfly", "fabric.nics=12"}, 1, 14, "2, 4, 8, ... NICs, not 12"},
		{{"traffic.kind=tornado", "fabric.nics=15", "fabric.nics_per_t0=5"},
		 1,
		 14,
		 "two halves, but 15 NICs are odd"},
		{{"traffic.kind=tornado", "traffic.ranks=4"}, 2, 1, "it needs traffic.kind ring"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct refusal refusal;
		int rc = parse(cases[i].sets, &refusal);
		if (rc != -EINVAL || refusal.line != cases[i].line ||
		    refusal.column != cases[i].column ||
		    strstr(refusal.text, cases[i].reason) == NULL)
			fail_msg("case %zu: %d, %u:%u: %s", i, rc, refusal.line, refusal.column,
				 refusal.text);
	}
}

static void what_fits_is_accepted(void **state)
{
	(void)state;
	static const char *const cases[][4] = {
		{"traffic.kind=outcast", "traffic.receivers=7"},
		{"traffic.kind=incast", "traffic.senders=7"},
		{"traffic.kind=butterfly"},
		{"traffic.kind=tornado", "fabric.nics=12"},
		{"traffic.kind=all_to_all"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct refusal refusal;
		if (parse(cases[i], &refusal) != 0)
			fail_msg("case %zu: %s", i, refusal.text);
	}
}
