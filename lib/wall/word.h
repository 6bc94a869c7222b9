// SPDX-License-Identifier: Apache-2.0
// What hosts say to each other behind their greetings.
#pragma once

#include <stdint.h>

#include <weft/wall/meeting.h>

enum word_kind {
	WORD_DONE,
	WORD_ENDED,
	WORD_STOPPED,
	WORD_LOST,
	WORD_HERE,  // no more than that
	WORD_FIRED, // `signal`
	WORD_SHARE, // `host` bytes follow
	WORD_PART,  // how many bytes follow, and those
};

struct word {
	uint32_t kind, host;
	struct signal signal;
};

// Bytes from a host to host 0, or back; `host` is the other end. -errno with a reason.
int meeting_give(struct meeting *meeting, uint32_t host, const void *from, uint32_t bytes,
		 struct refusal *refusal);
int meeting_take(struct meeting *meeting, uint32_t host, void *ret, uint32_t bytes,
		 struct refusal *refusal);
