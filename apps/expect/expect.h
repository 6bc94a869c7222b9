// SPDX-License-Identifier: Apache-2.0
// weft expect: what its files share.
//
//   main.c      arguments; which sizes and scales       nccl.c   what weft coll says of one of them
//   output.c    reads nccl-tests' and ib_write_bw's     wire.c   one flow between two NICs
//   table.c     what is printed                         json.c   the same as JSON
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/files/files.h>
#include <weft/scenario/scenario.h>

#define SETS_MAX 64
#define ROWS_MAX 512
#define RANKS_MAX 8

// A line of the table, in GB/s of bus bandwidth, or in Gb/s of ib_write_bw.
struct row {
	uint64_t bytes;
	uint32_t ranks; // 0: of ib_write_bw
	bool has_expected;
	double least, expected, most, time_us;
	char algorithm[24];
	char why_not[192]; // there is no expectation
	bool is_held;
	double measured;
};

enum verdict { VERDICT_NOT_HELD, VERDICT_INSIDE, VERDICT_BELOW, VERDICT_ABOVE };

struct call {
	const char *scenario_name, *against, *collective;
	bool is_kind_given;
	uint64_t size_min, size_max;
	uint32_t factor;
	const char *ranks[RANKS_MAX];
	uint32_t rank_count;
	double within; // percent
	int64_t launch_ns;
	uint64_t packets_max;
	const char *sets[SETS_MAX];
	uint32_t set_count;
	bool is_json, is_over_rc; // what was measured, while FABRIC has MRC
	struct data_file file;
	struct scenario scenario; // for its fabric
	struct row rows[ROWS_MAX];
	uint32_t row_count;
	struct refusal refusal;
};

#define OUTPUT_HOSTS_MAX 1024
#define OUTPUT_HOST_BYTES 64

// What a file of --against has.
struct output {
	bool is_ours;	     // a table of weft itself
	bool is_wire;	     // of ib_write_bw, else of nccl-tests
	bool is_rc;	     // and it says that its QPs were RC
	char collective[32]; // as nccl-tests says, or ""
	uint32_t ranks;	     // as nccl-tests says, or 0
	uint32_t host_count; // of these ranks, as far as it names them
	char hosts[OUTPUT_HOSTS_MAX][OUTPUT_HOST_BYTES];
	uint32_t count;
	uint64_t bytes[ROWS_MAX];
	double value[ROWS_MAX]; // GB/s of bus bandwidth, the better of out of place and in place;
				// Gb/s
};

// Reads such a file. -EINVAL: it is none, with the reason.
int output_read(struct output *ret, const char *path, struct refusal *refusal);

// Finds out what weft coll says of row->bytes over row->ranks. Returns its exit status, which is 0
// where there is an expectation or a reason why not; what else it has to say is on stderr.
int nccl_expect(const struct call *call, struct row *row);

// The same of ib_write_bw's messages. -errno with call->refusal.
int wire_expect(struct call *call, struct row *row);

enum verdict row_verdict(const struct row *row);
const char *verdict_name(enum verdict verdict);

void table_print(FILE *to, const struct call *call);
void json_print(FILE *to, const struct call *call);
