// SPDX-License-Identifier: Apache-2.0
// Categories of the BMWG draft on AI-fabric training benchmarks; the second is not in the draft:
// what MRC adds.
#pragma once

enum section {
	SECTION_BASELINE,
	SECTION_MRC,
	SECTION_CONGESTION,
	SECTION_BALANCE,
	SECTION_COLLECTIVES,
	SECTION_STEP,
	SECTION_CONVERGENCE,
	SECTION_SOAK,
	SECTION_COUNT
};

const char *section_title(enum section section);
const char *section_word(enum section section); // one word, for --only
