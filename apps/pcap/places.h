// SPDX-License-Identifier: Apache-2.0
// Where interfaces listen, numbered as they are met.
#pragma once

#include "pcap.h"

struct places {
	uint32_t count;
	char names[CAPTURE_INTERFACES_MAX][2 * CAPTURE_TEXT_BYTES];
};

// The number of an interface's place, from 0.
uint32_t places_find(struct places *places, const struct capture_reader *reader,
		     const struct capture_interface *interface);
