// SPDX-License-Identifier: Apache-2.0
// The messages of a capture, one by one: who sent how much to whom, when its first packet passed,
// and when it was acknowledged. Of each way of a QP what passes at one place counts, that where it
// passes first: the sender's NIC if there is a tap.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/capture/capture_reader.h>
#include <weft/core/refusal.h>

struct message {
	uint32_t from, to;	      // index of a node
	uint32_t stream;	      // way of a QP
	uint32_t first_psn, last_psn; // running numbers
	uint64_t bytes;
	int64_t start_ns, end_ns; // end: -1, not seen
	bool has_last;
	bool is_again; // of packets: its PSN had been seen
};

struct messages {
	uint32_t count, node_count, stream_count;
	struct message *list; // [count] in order of start
	uint8_t (*nodes)[16]; // [node_count] addresses, without the plane
	uint64_t frames;
	uint64_t reads, datagrams;    // left out: READs, atomics; UD
	uint64_t headless;	      // packets of messages that began before the capture
	bool is_by_rule;	      // nodes are NICs by weft's rule of addresses
	char end[REFUSAL_TEXT_BYTES]; // why the capture ended early; empty: it did not
};

// What is made of a capture.
struct messages_options {
	bool renumbers;
	bool are_packets; // each packet with payload is a message of its own, READ responses, UD
			  // too
};

// Reads all of a capture. Nodes are NICs by weft's rule of addresses where all are, else, or where
// `renumbers`, they are numbered by their addresses. -errno with a reason that names the file.
int messages_read(struct messages *ret, const char *path, const struct messages_options *options,
		  struct refusal *refusal);
void messages_free(struct messages *messages);

// The messages of a capture as traffic of a scenario.

// Whether a matrix of htsim can say them: no QP carries two, so that no message shares another's
// state. Else they are a GOAL program, where a pair has its QP all the time.
bool program_is_matrix(const struct messages *messages);

// Writes them into a file, each to begin when it did, counted from the first. A fabric may have
// more NICs than there are nodes: `nics`, or 0. -errno with a reason.
int program_write(const struct messages *messages, uint32_t nics, const char *path,
		  struct refusal *refusal);
