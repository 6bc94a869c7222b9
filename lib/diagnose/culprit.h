// SPDX-License-Identifier: Apache-2.0
// Who explains what went wrong: which link, NIC, host, switch or plane stands out in what was
// measured with watch.links. Nothing here reads the scenario's faults. docs/measuring.md says how
// it is done.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/result/report.h>

#define CULPRITS_MAX 8

// What stands out, causes before what may follow from them.
enum culprit_finding {
	CULPRIT_DOWN,	 // lost packets as it was down
	CULPRIT_SILENT,	 // carries nothing, where its like do
	CULPRIT_LOSSY,	 // loses or damages packets
	CULPRIT_TWICE,	 // delivers packets twice
	CULPRIT_ORDER,	 // holds packets back, so that others overtake them
	CULPRIT_SLOW,	 // its line is slower than it should be
	CULPRIT_STALLED, // takes for a while nothing that comes
	CULPRIT_EVS,	 // its packets take few paths
	CULPRIT_ECN,	 // marks from other depths on than was ordered
	CULPRIT_LATE,	 // its own work takes longer than that of others
	CULPRIT_FINDING_COUNT
};

enum culprit_location {
	CULPRIT_LINK,
	CULPRIT_NIC,
	CULPRIT_HOST,
	CULPRIT_SWITCH,
	CULPRIT_PLANE,
	CULPRIT_BUNDLE // all cables between two switches
};

// What is wrong with a switch's marks.
enum culprit_marks {
	MARKS_EARLY, // some where the queue was below the threshold; measured, expected: bytes
	MARKS_LATE,  // some were left out above the upper threshold; bytes
	MARKS_FEW,   // fewer than were due; packets
	MARKS_MANY,  // more than were due; packets
};

// What NICs saw on ports that carry nothing.
enum culprit_link_state {
	LINK_STATE_UNKNOWN, // NICs do not tell (transport.port_status)
	LINK_STATE_UP,
	LINK_STATE_DOWN, // on all of them
};

struct culprit {
	enum culprit_finding finding;
	enum culprit_location place;
	uint32_t index; // link, NIC, host, switch (its place in the topology), plane; of a
			// bundle its first link
	bool up, down;	// of a link: ways on which it stands out
	uint32_t links, links_of;      // that stand out there, and of how many that were used
	double measured, expected;     // in the unit of the finding; see culprit_unit()
	uint64_t lost, packets, downs; // of links: lost, damaged, doubled or held back, sent into
				       // it; times that one of its links was seen to go down. Of a
				       // host that stalled: packets that waited
	ps_t since_ps;		       // the first of the lost, and so on
	ps_t longest_ps;	  // ORDER, STALLED: the longest that one was held back or waited
	enum culprit_marks marks; // ECN
	enum culprit_link_state link_state; // SILENT
};

struct culprits {
	uint32_t count;
	struct culprit list[CULPRITS_MAX];  // the first explains most
	uint32_t links, nics, hosts;	    // measured: links used, NICs that sprayed, hosts' work
	uint32_t switches, switches_judged; // that could mark; of these, whose queues made marks
					    // enough due to tell whether it does
	const char *reason[CULPRIT_FINDING_COUNT]; // why it could not be looked for, or NULL
};

// One more, of this finding; NULL: there are as many as can be.
static inline struct culprit *culprit_add(struct culprits *culprits, enum culprit_finding finding)
{
	if (culprits->count == CULPRITS_MAX)
		return NULL;
	struct culprit *culprit = &culprits->list[culprits->count++];
	*culprit = (struct culprit){.finding = finding};
	return culprit;
}

// -ENOMEM; else culprits, none where all is even. Only with world->links.
int culprits_find(struct culprits *ret, const struct world *world);

// "slow", ...; "link", ...; unit of measured and expected; name and evidence.
const char *culprit_location_name(enum culprit_location place);
void culprit_name(const struct culprit *culprit, const struct world *world, char *ret,
		  size_t bytes);
void culprit_evidence(const struct culprit *culprit, char *ret, size_t bytes);

// Switches whose marks are not those that the depths of their queues made due.

// Adds them, and counts the switches that could be judged; or says why none could.
void culprit_find_ecn(struct culprits *culprits, const struct world *world);
