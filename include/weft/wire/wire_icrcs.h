// SPDX-License-Identifier: Apache-2.0
// ICRCs of captured frames, several with one CRC: a CRC is linear, so that frames of one length are
// summed (XOR), each one byte behind the one before, and the CRC of the sum is right if all of
// theirs are. One wrong ICRC among them is always found, and so are any number that are wrong by
// the same bits: the powers of x^8 below its 32nd are linearly independent modulo the polynomial.
// Several that are wrong by unrelated bits stay hidden with a chance of 2^-32. From the first wrong
// one on each is computed by itself.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/wire/wire_dissect.h>

#define WIRE_ICRCS_MAX 32

struct wire_icrcs { // begin: all zero
	struct {
		const uint8_t *ip;
		uint32_t bth_at, bytes; // from the IP header on; up to the ICRC
		uint8_t ip_version;
		struct wire_record *record;
	} due[WIRE_ICRCS_MAX];
	uint32_t count;
	bool is_apart; // a wrong one was found
};

#ifdef __cplusplus
extern "C" {
#endif

// wire_dissect(), which may leave ret->icrc to wire_icrcs_check(): until that `frame` and *ret stay
// where they are. At most WIRE_ICRCS_MAX frames between two checks.
void wire_dissect_due(const struct wire_config *config, uint16_t link, const void *frame,
		      uint32_t captured, uint32_t original, struct wire_record *ret,
		      struct wire_icrcs *icrcs);

// Sets what was left.
void wire_icrcs_check(struct wire_icrcs *icrcs);

#ifdef __cplusplus
}
#endif
