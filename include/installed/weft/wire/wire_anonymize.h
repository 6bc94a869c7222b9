// SPDX-License-Identifier: Apache-2.0
// Frames that others may see: who, where and what are hidden, all else stays. MACs, IP addresses
// and GIDs, R_Keys, Q_Keys, virtual addresses and immediates become others, the same for the same
// under one key, so that relations stay; what an application sent, and all that is not understood,
// becomes zeros. Lengths, ports, QP numbers, PSNs, DSCP, ECN, identifications, EVs and times are
// not touched. Checksums and the ICRC are made anew: a good one is good, a bad one bad.
#pragma once

#include <stdint.h>

#include <weft/wire/wire_dissect.h>

#define WIRE_ANONYMIZE_KEY_BYTES 16
#define WIRE_ANONYMIZE_KEPT 4096 // a power of 2

// What was mapped lately; its size is the speed.
struct wire_anonymized {
	uint8_t from[16], to[16];
	uint8_t kind, is_used;
};

struct wire_anonymizer {
	uint64_t key[2];
	struct wire_config config; // whose prefixes, and planes in addresses, stay
	struct wire_anonymized kept[WIRE_ANONYMIZE_KEPT];
};

#ifdef __cplusplus
extern "C" {
#endif

void wire_anonymizer_init(struct wire_anonymizer *ret, const struct wire_config *config,
			  const uint8_t key[WIRE_ANONYMIZE_KEY_BYTES]);

// Rewrites `captured` bytes of a frame that had `original` on the line, of a link type. Returns
// what the ICRC was before, as wire_dissect() tells it.
enum wire_icrc wire_anonymize(struct wire_anonymizer *anonymizer, uint16_t link, uint8_t *frame,
			      uint32_t captured, uint32_t original);

#ifdef __cplusplus
}
#endif
