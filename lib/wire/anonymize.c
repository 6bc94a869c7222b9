// SPDX-License-Identifier: Apache-2.0
// A frame without who, where and what. The dissector tells where the fields are; checksums follow
// by what changed, so that a frame that was cut, or had a wrong one, is as good or bad as it was.

#include <string.h>

#include <weft/core/check.h>

#include "anonymize.h"
#include "bytes.h"
#include "ip.h"
#include "sum.h"
#include "udp.h"

void dissect_add(struct dissection *d, enum wire_span_kind kind, uint32_t at, uint32_t bytes)
{
	struct wire_spans *spans = d->spans;
	bool is_sum = kind >= SPAN_SUM_IP;
	uint32_t left = at < d->captured ? d->captured - at : 0;
	if (bytes == 0 || (!is_sum && left < bytes))
		return;
	check(spans->count < SPANS_MAX);
	spans->list[spans->count++] = (struct wire_span){.at = at,
							 .bytes = left < bytes ? left : bytes,
							 .ip_at = d->ip_at,
							 .kind = (uint8_t)kind,
							 .ip_version = d->ip_version};
	if (!is_sum)
		dissect_know(d, at + bytes);
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
