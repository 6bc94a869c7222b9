// SPDX-License-Identifier: Apache-2.0
// The tables of docs/wire.md have the sizes of the code, and a row for each byte, in order.

#include "wire_rig.h"

#include <stdio.h>

#include "eth.h"
#include "ip.h"
#include "mrc.h"
#include "rc.h"
#include "srv6.h"
#include "udp.h"

static const struct {
	const char *name;
	unsigned bytes;
} headers[] = {
	{"Ethernet", ETH_BYTES},       {"IPv4", IPV4_BYTES},
	{"IPv6", IPV6_BYTES},	       {"SRv6", IPV6_BYTES},
	{"SRH", SRV6_SRH_BYTES},       {"UDP", UDP_BYTES},
	{"BTH", MRC_BTH_BYTES},	       {"METH", MRC_METH_BYTES},
	{"TSETH", MRC_TSETH_BYTES},    {"RETH", MRC_RETH_BYTES},
	{"ImmDt", MRC_IMM_BYTES},      {"AETH", MRC_AETH_BYTES},
	{"ERTH", MRC_ERTH_BYTES},      {"EETH", MRC_EETH_BYTES},
	{"SETH", MRC_SETH_BYTES},      {"CC_STATE", MRC_CC_STATE_BYTES},
	{"NETH", MRC_NETH_BYTES},      {"PETH", MRC_PETH_BYTES},
	{"Credit", WEFT_CREDIT_BYTES}, {"Demand", WEFT_DEMAND_BYTES},
	{"CNP", RC_CNP_BYTES},
};
#define HEADERS (sizeof(headers) / sizeof(headers[0]))

static void tables_and_code_have_the_same_sizes(void **)
{
	char path[4096], line[4096], name[64];
	unsigned bytes = 0, next = 0, first, last;
	size_t seen = 0;
	const char *source = getenv("WEFT_SOURCE");
	snprintf(path, sizeof(path), "%s/docs/wire.md", source != NULL ? source : ".");
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		if (line[0] == '#') {
			assert_int_equal(next, bytes); // the table above is complete
			next = bytes = 0;
			if (sscanf(line, "### %63s (%u bytes)", name, &bytes) != 2)
				continue;
			assert_true(seen < HEADERS);
			assert_string_equal(name, headers[seen].name);
			assert_int_equal(bytes, headers[seen++].bytes);
		} else if (bytes > 0 && sscanf(line, "| %u-%u |", &first, &last) == 2) {
			assert_int_equal(first, next);
			assert_true(last > first);
			next = last + 1;
		} else if (bytes > 0 && sscanf(line, "| %u |", &first) == 1) {
			assert_int_equal(first, next);
			next = first + 1;
		}
	}
	fclose(file);
	assert_int_equal(next, bytes);
	assert_int_equal(seen, HEADERS);
}

static void headers_sum_up_as_the_order_says(void **)
{
	unsigned write = MRC_BTH_BYTES + MRC_METH_BYTES + MRC_RETH_BYTES;
	assert_int_equal(mrc_bytes(PACKET_WRITE_FIRST, false), write);
	assert_int_equal(mrc_bytes(PACKET_WRITE_LAST, true), write + MRC_TSETH_BYTES);
	assert_int_equal(mrc_bytes(PACKET_WRITE_LAST_IMM, true),
			 write + MRC_TSETH_BYTES + MRC_IMM_BYTES);
	assert_int_equal(mrc_bytes(PACKET_SACK, true),
			 MRC_BTH_BYTES + MRC_SETH_BYTES + MRC_CC_STATE_BYTES);
	assert_int_equal(mrc_bytes(PACKET_NACK, false), MRC_BTH_BYTES + MRC_NETH_BYTES);
	assert_int_equal(mrc_bytes(PACKET_ACK, true), MRC_BTH_BYTES + MRC_AETH_BYTES);
	assert_int_equal(mrc_bytes(PACKET_ENDPOINT_REQUEST, true), MRC_BTH_BYTES + MRC_ERTH_BYTES);
	assert_int_equal(mrc_bytes(PACKET_ENDPOINT_RESPONSE, true), MRC_BTH_BYTES + MRC_EETH_BYTES);
	assert_int_equal(mrc_bytes(PACKET_PROBE, true), MRC_BTH_BYTES + MRC_PETH_BYTES);
	assert_int_equal(mrc_bytes(PACKET_CREDIT, false), MRC_BTH_BYTES + WEFT_CREDIT_BYTES);
	assert_int_equal(mrc_bytes(PACKET_DEMAND, false), MRC_BTH_BYTES + WEFT_DEMAND_BYTES);
	assert_int_equal(mrc_bytes(RC_WRITE_ONLY, false), 0);
}

static void headers_of_rocev2_are_the_shorter_ones(void **)
{
	assert_int_equal(rc_bytes(RC_WRITE_FIRST), MRC_BTH_BYTES + MRC_RETH_BYTES);
	assert_int_equal(rc_bytes(RC_WRITE_MIDDLE), MRC_BTH_BYTES);
	assert_int_equal(rc_bytes(RC_WRITE_LAST), MRC_BTH_BYTES);
	assert_int_equal(rc_bytes(RC_WRITE_LAST_IMM), MRC_BTH_BYTES + MRC_IMM_BYTES);
	assert_int_equal(rc_bytes(RC_WRITE_ONLY_IMM),
			 MRC_BTH_BYTES + MRC_RETH_BYTES + MRC_IMM_BYTES);
	assert_int_equal(rc_bytes(RC_ACK), MRC_BTH_BYTES + MRC_AETH_BYTES);
	assert_int_equal(rc_bytes(RC_CNP), MRC_BTH_BYTES + RC_CNP_BYTES);
	for (int opcode = 0; opcode < 256; opcode++) // a packet is of one of the two
		assert_true(rc_bytes((uint8_t)opcode) == 0 ||
			    mrc_bytes((uint8_t)opcode, false) == 0);
	assert_int_equal(rc_headers(RC_WRITE_FIRST), WIRE_HAS_RETH);
	assert_int_equal(rc_headers(RC_WRITE_MIDDLE), 0);
	assert_int_equal(rc_headers(RC_WRITE_LAST_IMM), WIRE_HAS_IMM);
	assert_int_equal(rc_headers(RC_WRITE_ONLY_IMM), WIRE_HAS_RETH | WIRE_HAS_IMM);
	assert_int_equal(rc_headers(RC_ACK), 0);
	assert_int_equal(rc_bytes(0x04), 0); // SEND Only
	assert_int_equal(rc_bytes(0x0c), 0); // READ request
}
