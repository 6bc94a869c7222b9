// SPDX-License-Identifier: Apache-2.0
// The bytes that messages are said to consist of: a pattern that follows from where a payload
// belongs, so that both ends know it, retransmissions carry it again, and bytes that end in another
// place are wrong there.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Where a payload belongs.
struct payload_origin {
	uint32_t nic; // that it is for
	uint32_t qp;  // of that NIC
	uint32_t rkey;
	uint64_t va;
};

// Writes `bytes` bytes of the pattern.
void payload_fill(const struct payload_origin *spot, void *ret, uint32_t bytes);

// Bytes that differ from the pattern.
uint32_t payload_wrong(const struct payload_origin *spot, const void *payload, uint32_t bytes);
