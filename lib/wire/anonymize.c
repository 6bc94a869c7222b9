// SPDX-License-Identifier: Apache-2.0
// A frame without who, where and what. The dissector tells where the fields are; checksums follow
// by what changed, so that a frame that was cut, or had a wrong one, is as good or bad as it was.

#include <string.h>

#include <weft/core/check.h>
#include <weft/wire/wire_anonymize.h>

#include "bytes.h"
#include "dissect.h"
#include "ip.h"
#include "udp.h"

// One value becomes another: each of its bits is flipped, or not, by a keyed hash of the bits ahead
// of it (as J. Fan, J. Xu, M. Ammar and S. Moon, "Prefix-preserving IP address anonymization",
// 2004). So different values stay different, and those that begin alike still do: a subnet is a
// subnet.

#define VALUE_BYTES 16

// ---------------------------------------------------------------- SipHash-2-4

static inline uint64_t rotate(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_rounds(uint64_t v[4], int count)
{
	for (int i = 0; i < count; i++) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32) + v[3];
		v[2] += v[1];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[2] = rotate(v[2], 32);
	}
}

// Of a message of whole words (J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast short-input
// PRF", 2012).
static uint64_t sip_hash(const uint64_t key[2], const uint64_t *words, uint32_t count)
{
	uint64_t v[4] = {
		key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
		key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)};
	for (uint32_t i = 0; i <= count; i++) {
		uint64_t word = i < count ? words[i] : (uint64_t)(8u * count) << 56;
		v[3] ^= word;
		sip_rounds(v, 2);
		v[0] ^= word;
	}
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

// ---------------------------------------------------------------- values

// Flips bits [from, to) of a value, counted from its first byte's highest. What lies ahead of
// `from` is not flipped, and decides nothing where `is_apart`.
static void flip(const struct wire_anonymizer *anonymizer, uint8_t kind, uint8_t *value,
		 uint32_t from, uint32_t to, bool is_apart)
{
	uint8_t ahead[VALUE_BYTES] = {0}, ret[VALUE_BYTES];
	uint32_t bytes = (to + 7) / 8;
	memcpy(ret, value, bytes);
	for (uint32_t i = is_apart ? from : 0; i < to; i++) {
		uint8_t bit = (uint8_t)(0x80u >> i % 8);
		if (i >= from) {
			uint64_t words[3] = {get_be64(ahead), get_be64(ahead + 8),
					     (uint64_t)kind << 8 | i};
			if (sip_hash(anonymizer->key, words, 3) & 1)
				ret[i / 8] ^= bit;
		}
		ahead[i / 8] |= value[i / 8] & bit;
	}
	memcpy(value, ret, bytes);
}

static bool is_filled(const uint8_t *value, uint32_t bytes, uint8_t with)
{
	for (uint32_t i = 0; i < bytes; i++)
		if (value[i] != with)
			return false;
	return true;
}

// Who makes it and what it is for stay as bits; broadcast, and what bridges keep to themselves.
static void map_mac(const struct wire_anonymizer *anonymizer, uint8_t *mac)
{
	static const uint8_t bridges[3] = {0x01, 0x80, 0xc2};
	uint8_t kept = mac[0] & 3;
	if (is_filled(mac, 6, 0xff) || is_filled(mac, 6, 0) ||
	    memcmp(mac, bridges, sizeof(bridges)) == 0)
		return;
	flip(anonymizer, SPAN_MAC, mac, kept & 1 ? 24 : 0, 48, false);
	mac[0] = (uint8_t)((mac[0] & ~3u) | kept);
}

// The first byte stays, so that a private address is one, and a group a group. In weft's prefix the
// plane stays, too, and the host becomes another one of the same in each plane.
static void map_ipv4(const struct wire_anonymizer *anonymizer, uint8_t *address)
{
	const struct wire_config *config = &anonymizer->config;
	if (is_filled(address, 4, 0xff) || is_filled(address, 4, 0))
		return;
	uint32_t below = 32u - config->ipv4_prefix_bits;
	bool is_ours = (get_be32(address) ^ config->ipv4_prefix) >> below == 0;
	uint32_t from = is_ours ? 32u - below + config->ipv4_plane_bits : 8;
	flip(anonymizer, SPAN_IPV4, address, from, 32, is_ours);
}

static void map_ipv6(const struct wire_anonymizer *anonymizer, uint8_t *address)
{
	static const uint8_t mapped[12] = {[10] = 0xff, 0xff};
	if (memcmp(address, mapped, sizeof(mapped)) == 0) {
		map_ipv4(anonymizer, address + 12);
		return;
	}
	if (is_filled(address, 15, 0) && address[15] <= 1) // "::", "::1"
		return;
	bool is_ours = (get_be64(address) ^ anonymizer->config.ipv6_prefix) >> 16 == 0;
	bool is_of_link = address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
	flip(anonymizer, SPAN_IPV6, address, is_ours || is_of_link ? 64 : 16, 128, is_ours);
}

static const uint8_t field_bytes[] = {[SPAN_MAC] = 6, [SPAN_IPV4] = 4, [SPAN_IPV6] = 16,
				      [SPAN_KEY] = 4, [SPAN_VA] = 8,   [SPAN_IMM] = 4};
#define PAGE_BITS 12 // of a virtual address: its place in a page stays

static void map_value(const struct wire_anonymizer *anonymizer, enum wire_span_kind kind,
		      uint8_t *value)
{
	if (kind == SPAN_MAC)
		map_mac(anonymizer, value);
	else if (kind == SPAN_IPV4)
		map_ipv4(anonymizer, value);
	else if (kind == SPAN_IPV6)
		map_ipv6(anonymizer, value);
	else
		flip(anonymizer, (uint8_t)kind, value, 0,
		     8u * field_bytes[kind] - (kind == SPAN_VA ? PAGE_BITS : 0), false);
}

// Replaces the field of `kind` at `field`, in place.
static void anonymize_field(struct wire_anonymizer *anonymizer, enum wire_span_kind kind,
			    uint8_t *field)
{
	uint8_t from[VALUE_BYTES] = {0};
	memcpy(from, field, field_bytes[kind]);
	uint64_t words[3] = {get_be64(from), get_be64(from + 8), kind};
	uint64_t hash = sip_hash(anonymizer->key, words, 3);
	struct wire_anonymized *slot = &anonymizer->kept[hash % WIRE_ANONYMIZE_KEPT];
	bool is_known = slot->is_used && slot->kind == kind &&
		memcmp(slot->from, from, sizeof(from)) == 0;
	if (!is_known) {
		memcpy(slot->from, from, sizeof(from));
		map_value(anonymizer, kind, from);
		memcpy(slot->to, from, sizeof(from));
		slot->kind = (uint8_t)kind;
		slot->is_used = 1;
	}
	memcpy(field, slot->to, field_bytes[kind]);
}

void wire_anonymizer_init(struct wire_anonymizer *ret, const struct wire_config *config,
			  const uint8_t key[WIRE_ANONYMIZE_KEY_BYTES])
{
	memset(ret, 0, sizeof(*ret));
	ret->config = *config;
	ret->key[0] = get_be64(key);
	ret->key[1] = get_be64(key + 8);
}

// ---------------------------------------------------------------- checksums

#define TCP_SUM_AT 16
#define UDP_SUM_AT 6
#define IPV4_SUM_AT 10

static uint32_t sum_at(const struct wire_span *span)
{
	return span->at +
		(span->kind == SPAN_SUM_IP	      ? IPV4_SUM_AT
			 : span->kind == SPAN_SUM_UDP ? UDP_SUM_AT
						      : TCP_SUM_AT);
}

// Whether its checksum was captured, and there is one.
static bool has_sum(const struct wire_span *span, const uint8_t *frame)
{
	uint32_t at = sum_at(span);
	return span->kind >= SPAN_SUM_IP && at + 2 <= span->at + span->bytes &&
		(span->kind != SPAN_SUM_UDP || (frame[at] | frame[at + 1]) != 0);
}

// Over what of it was captured, and the addresses of its IP header.
static uint16_t sum_over(const struct wire_span *span, const uint8_t *frame)
{
	uint64_t sum = 0;
	if (span->kind != SPAN_SUM_IP && span->ip_version == 4)
		sum = sum_add(0, frame + span->ip_at + 12, 8);
	else if (span->kind != SPAN_SUM_IP)
		sum = sum_add(0, frame + span->ip_at + 8, 32);
	return sum_fold(sum_add(sum, frame + span->at, span->bytes));
}

// By RFC 1624: what was added and what was taken away.
static void follow(const struct wire_span *span, uint8_t *frame, uint16_t before)
{
	uint8_t *at = frame + sum_at(span);
	uint16_t old;
	memcpy(&old, at, sizeof(old));
	uint16_t after = sum_over(span, frame);
	if (before == after)
		return;
	uint16_t sum = (uint16_t)~sum_fold((uint64_t)(uint16_t)~old + after + (uint16_t)~before);
	sum_put(at, span->kind == SPAN_SUM_UDP && sum == 0 ? UINT16_MAX : sum);
}

// ---------------------------------------------------------------- the frame

// An IPv6 header's options: padding, one piece after the other.
static void pad_options(uint8_t *at, uint32_t bytes)
{
	while (bytes > 0) {
		uint32_t piece = bytes > 257 ? 257 : bytes;
		memset(at, 0, piece);
		if (piece > 1) { // PadN; one byte alone is Pad1
			at[0] = 1;
			at[1] = (uint8_t)(piece - 2);
		}
		at += piece;
		bytes -= piece;
	}
}

static void hide(struct wire_anonymizer *anonymizer, const struct wire_span *span, uint8_t *frame)
{
	if (span->kind == SPAN_DATA)
		memset(frame + span->at, 0, span->bytes);
	else if (span->kind == SPAN_OPTIONS)
		pad_options(frame + span->at, span->bytes);
	else if (span->kind == SPAN_IPV6)
		for (uint32_t i = 0; i < span->bytes; i += 16)
			anonymize_field(anonymizer, SPAN_IPV6, frame + span->at + i);
	else if (span->kind < SPAN_DATA)
		anonymize_field(anonymizer, span->kind, frame + span->at);
}

enum wire_icrc wire_anonymize(struct wire_anonymizer *anonymizer, uint16_t link, uint8_t *frame,
			      uint32_t captured, uint32_t original)
{
	struct wire_config config = anonymizer->config;
	config.icrc_unchecked = true;
	struct wire_record record;
	struct wire_spans spans;
	uint16_t sums[SPANS_MAX];
	dissect_spans(&config, link, frame, captured, original, &record, &spans);
	const struct wire_view *view = &spans.icrc;
	uint32_t wrong = 0; // of the ICRC: bits that are not as computed
	if (spans.has_icrc)
		wrong = get_le32(frame + view->icrc_at) ^ wire_icrc(frame, view);
	for (uint32_t i = 0; i < spans.count; i++)
		sums[i] = has_sum(&spans.list[i], frame) ? sum_over(&spans.list[i], frame) : 0;
	for (uint32_t i = 0; i < spans.count; i++)
		hide(anonymizer, &spans.list[i], frame);
	memset(frame + spans.known, 0, captured - spans.known);
	if (spans.has_icrc)
		put_le32(frame + view->icrc_at, wire_icrc(frame, view) ^ wrong);
	for (uint32_t i = spans.count; i-- > 0;) // a tunnel's is over that of what is inside
		if (has_sum(&spans.list[i], frame))
			follow(&spans.list[i], frame, sums[i]);
	return !spans.has_icrc ? record.icrc : wrong == 0 ? WIRE_ICRC_GOOD : WIRE_ICRC_BAD;
}
