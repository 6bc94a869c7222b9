// SPDX-License-Identifier: Apache-2.0
// What hosts say to each other behind their greetings.
#pragma once

#include <stdint.h>

enum word_kind {
	WORD_DONE,
	WORD_ENDED,
	WORD_STOPPED,
	WORD_LOST,
	WORD_HERE,  // no more than that
	WORD_SHARE, // `host` bytes follow
};

struct word {
	uint32_t kind, host;
};
