// SPDX-License-Identifier: Apache-2.0
// UDP headers.

#include "udp.h"

#include "bytes.h"
#include "sum.h"

enum { SOURCE_AT = 0, TARGET_AT = 2, LENGTH_AT = 4, CHECKSUM_AT = 6 };

struct udp_head udp_parse(const uint8_t *at)
{
	return (struct udp_head){
		.source_port = get_be16(at + SOURCE_AT),
		.target_port = get_be16(at + TARGET_AT),
		.bytes = get_be16(at + LENGTH_AT),
		.has_checksum = get_be16(at + CHECKSUM_AT) != 0,
	};
}

void udp_build(const struct udp_head *head, uint8_t *at)
{
	put_be16(at + SOURCE_AT, head->source_port);
	put_be16(at + TARGET_AT, head->target_port);
	put_be16(at + LENGTH_AT, head->bytes);
	put_be16(at + CHECKSUM_AT, 0);
}

void udp_put_bytes(uint8_t *at, uint32_t bytes)
{
	put_be16(at + LENGTH_AT, bytes);
}

void udp_put_target_port(uint8_t *at, uint16_t port)
{
	put_be16(at + TARGET_AT, port);
}

void udp_seal(uint8_t *at, uint32_t bytes, uint64_t pseudo_sum)
{
	put_be16(at + CHECKSUM_AT, 0);
	uint16_t checksum = (uint16_t)~sum_fold(sum_add(pseudo_sum, at, bytes));
	sum_put(at + CHECKSUM_AT, checksum != 0 ? checksum : UINT16_MAX); // 0 stands for none
}

void udp_unseal(uint8_t *at)
{
	put_be16(at + CHECKSUM_AT, 0);
}
