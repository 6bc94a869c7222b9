// SPDX-License-Identifier: Apache-2.0
// UDP headers.

#include "udp.h"

#include "bytes.h"

void udp_build(const struct udp_head *head, uint8_t *at)
{
	put_be16(at + UDP_SOURCE_AT, head->source_port);
	put_be16(at + UDP_TARGET_AT, head->target_port);
	put_be16(at + UDP_LENGTH_AT, head->bytes);
	put_be16(at + UDP_CHECKSUM_AT, 0);
}

void udp_put_bytes(uint8_t *at, uint32_t bytes)
{
	put_be16(at + UDP_LENGTH_AT, bytes);
}

void udp_put_target_port(uint8_t *at, uint16_t port)
{
	put_be16(at + UDP_TARGET_AT, port);
}

void udp_seal(uint8_t *at, uint32_t bytes, uint64_t pseudo_sum)
{
	put_be16(at + UDP_CHECKSUM_AT, 0);
	uint16_t checksum = (uint16_t)~sum_fold(sum_add(pseudo_sum, at, bytes));
	sum_put(at + UDP_CHECKSUM_AT, checksum != 0 ? checksum : UINT16_MAX); // 0 stands for none
}

void udp_unseal(uint8_t *at)
{
	put_be16(at + UDP_CHECKSUM_AT, 0);
}
