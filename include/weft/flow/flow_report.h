// SPDX-License-Identifier: Apache-2.0
// What room flow reports. Times are nanoseconds; -1 stands for "did not happen".
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/flow/flow_bursts.h>
#include <weft/flow/flow_rules.h>
#include <weft/flow/flow_totals.h>
#include <weft/wire/wire_dissect.h>

#define FLOW_LAGS_KEPT 1024 // values of which a quantile is exact
#define FLOW_SLOTS 32	    // opcodes of one transport
#define FLOW_PLACES_MAX 256

// Why something was sent again, or is not as it should be.
enum flow_cause {
	FLOW_LOSS_BEFORE,    // lost before the capture point
	FLOW_LOSS_BEHIND,    // behind it, or damaged there: the packets are the same
	FLOW_CORRUPT_BEFORE, // damaged before: bad ICRC here
	FLOW_REORDER_BEFORE, // overtaken before
	FLOW_GONE_BEFORE,    // lost or overtaken before, and nothing here tells which
	FLOW_REORDER_BEHIND, // NAKed, then acknowledged before its repeat can have been
	FLOW_GONE_BEHIND,    // lost or overtaken behind it, and nothing here tells which
	FLOW_TIMEOUT,	     // sent again by a timer though all had arrived
	FLOW_TIMER,	     // sent again by a timer; what for is not seen here
	FLOW_DUPLICATE,	     // doubled by the network
	FLOW_COPY_OR_LATE,   // doubled or overtaken before, and nothing here tells which
	FLOW_NOT_READY,	     // RNR: the receiver had no buffer posted
	FLOW_REFUSED,	     // NAK of another kind: ends the QP
	FLOW_TRIM_BEFORE,    // MRC: trimmed before the capture point
	FLOW_TRIM_BEHIND,    // behind it
	FLOW_CONGESTION,     // marks and notifications, nothing lost
	FLOW_PAUSE,	     // pause frames
	FLOW_CAPTURE,	     // the capture itself: acknowledged, never seen here
	FLOW_CAUSE_COUNT
};

// Times between two things. All values are kept up to FLOW_LAGS_KEPT; then every second, fourth...
struct flow_lags {
	uint64_t count;
	int64_t min_ns, max_ns;
	double sum_ns;
	uint32_t kept_count, stride;
	int64_t kept_ns[FLOW_LAGS_KEPT];
};

// Something that was sent again, once. `number`: of packets in the capture, 0: there is none.
struct flow_repair {
	uint8_t cause;	   // enum flow_cause
	bool is_timer;	   // no NAK, NACK or RNR called for it
	bool is_settled;   // the cause does not wait for a later packet
	uint32_t stream;   // index into flow_report.streams
	uint32_t psn;	   // 24 bits
	uint64_t number;   // of the NAK, of a timer 0; MRC: of the first packet with this PSN, or 0
	uint64_t repeat;   // first packet of the repeat; 0: not seen
	int64_t at_ns;	   // of the NAK, else of the repeat
	int64_t passed_ns; // the PSN had last passed so long before the NAK
	int64_t repeat_ns; // from the NAK to the repeat
	int64_t silence_ns; // from the last packet of the stream to the repeat
};

// Packets that stand out one by one.
enum flow_note_kind {
	FLOW_NOTE_JUMP,	   // PSNs before it are missing here: `count` of them
	FLOW_NOTE_LATE,	   // it was overtaken, or is the first of `count` that were
	FLOW_NOTE_DOUBLED, // the network's copy
	FLOW_NOTE_COPY_OR_LATE,
	FLOW_NOTE_DAMAGED, // bad ICRC
	FLOW_NOTE_TRIMMED,
	FLOW_NOTE_CLASS, // another DSCP than its stream had: `count` is the old one * 256 + the new
	FLOW_NOTE_COUNT
};

struct flow_note {
	uint64_t number;
	uint32_t stream; // index into flow_report.streams
	uint32_t psn;	 // 24 bits; of a jump the first that is missing
	uint32_t count;
	uint8_t kind;
};

// One way of a QP: from one address to another and a QP there.
struct flow_stream {
	uint8_t source[16], target[16];
	uint32_t qpn;
	uint32_t place;
	uint32_t peer;	   // index + 1 of the stream that its answers are about; 0: not known
	uint8_t found;	   // enum wire_found
	uint8_t transport; // high 3 bits of its opcodes; MRC: 6
	bool is_used;
	uint64_t packets, bytes; // bytes on the line, without preamble and FCS
	uint64_t first_number, last_number;
	int64_t first_ns, last_ns;
	uint32_t first_psn, last_psn, low_psn, high_psn;
	uint32_t opcodes[FLOW_SLOTS]; // by flow_slot()
	uint64_t ce, ect, cnps;
	uint64_t data, data_bytes;	  // packets with a PSN of their own; their payload
	uint64_t again, again_bytes;	  // of them: PSN seen before
	uint64_t doubled;		  // of those: the network's copies
	uint64_t late, late_distance_max; // overtaken, by how many PSNs at most
	uint64_t holes;			  // PSNs stepped over above the highest
	uint64_t acks, naks, rnrs, sacks, nacks;
	uint64_t trims, rtx;
	uint64_t acked_unseen; // PSNs acknowledged that never passed here
	uint64_t acked_psns;
	uint64_t class_changes;		  // of the DSCP of packets of one kind
	uint64_t begun, done, done_bytes; // messages
	uint64_t size_min, size_max;	  // of those whose size is known, bytes
	uint64_t sizes;
	uint64_t causes[FLOW_CAUSE_COUNT]; // losses, events
	struct {
		uint64_t count;
		int64_t min_ns, max_ns;
		double sum_ns;
	} messages;
	bool has_reads;	      // PSNs jump by its READ requests
	bool is_partial;      // MRC: the tap sees some of its planes; losses before it are withheld
	bool has_ids;	      // IPv4 identifications change: they tell copies from repeats
	bool has_ordered_ids; // and go up: they tell what was overtaken
};

struct flow_report {
	struct flow_totals totals;
	struct flow_stream *streams; // [stream_count], some not used
	uint32_t stream_count;
	uint64_t evicted;	  // streams that made room for others
	uint64_t forgotten;	  // packets whose PSN was too far back to be remembered
	uint64_t ambiguous;	  // answers that fit more than one stream
	uint64_t unpaired;	  // that fit none
	uint32_t partial_streams; // see flow_stream.is_partial
	uint64_t partial_acked,
		partial_unseen;	       // PSNs acknowledged to them; of those, never seen here
	uint64_t restarts;	       // PSNs that jumped out of any window
	uint64_t unread, unread_taken; // frames not read, and PSNs of RoCE that they stand for
	uint64_t unfilled;	       // holes that nothing filled, of RoCE
	uint64_t late_stamps;	       // RoCE packets that go back in PSN and in time, too
	uint64_t causes[FLOW_CAUSE_COUNT];
	struct flow_target *targets; // [target_count], by their first packets
	uint32_t target_count;
	uint64_t targets_left_out;   // packets to whose destination there was no room
	struct flow_repair *repairs; // [repair_count]
	uint32_t repair_count;
	uint64_t repairs_left_out;
	struct flow_note *notes; // [note_count], nearly in the order of packets
	uint32_t note_count;
	uint64_t notes_left_out;
	struct flow_change *changes; // [change_count], the first of class_changes
	uint32_t change_count;
	uint64_t class_changes;
	struct flow_broken broken[FLOW_RULE_COUNT];
	struct flow_lags messages; // first packet to acknowledgement
	struct flow_lags ack;	   // of a packet that asks for it to its ACK
	struct flow_lags ce_to_cnp;
	struct flow_lags trim_to_rtx;
	// MRC: no SACK passed for so long at most, while packets were sent again that had come.
	int64_t silence_ns;
};

#ifdef __cplusplus
extern "C" {
#endif

// "loss_before", ...
const char *flow_cause_name(enum flow_cause cause);

// Quantile `q` (0..1) of what was kept; the mean of the middle two where q falls between two. 0 of
// none. Sorts what was kept.
int64_t flow_quantile(struct flow_lags *lags, double q);

// Adds a value.
void flow_lag(struct flow_lags *lags, int64_t ns);

// The place of an opcode in flow_stream.opcodes, and back.
uint8_t flow_slot(uint8_t opcode);
uint8_t flow_opcode(const struct flow_stream *stream, uint8_t slot);

#ifdef __cplusplus
}
#endif
