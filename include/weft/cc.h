// SPDX-License-Identifier: Apache-2.0
// Congestion control as a table of plug-ins. A plug-in reads events and writes two numbers: window
// and rate. Each has a sender half (feedback in; window and rate out) and a receiver half (data in;
// window penalty out). Sources: UEC 1.0 section 3.6.13 (NSCC) as related in public readings; names
// of the MRC controller structure (OCP mrc_ctl.h).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/time.h>

#define CC_STATE_WORDS 28   // private state of a sender half
#define CC_RECEIVER_WORDS 4 // private state of a receiver half

// What every algorithm is told at start. Zero means "derive it from the network" where a formula
// exists.
struct cc_config {
	const char *name;      // "fixed" or "nscc"
	uint32_t window_bytes; // fixed: the window; 0 = 1.5 BDP
	uint64_t rate_bps;     // smaller of source and target rate, all planes together
	ps_t base_rtt_ps;      // unloaded round trip of one MTU packet over the longest path
	uint32_t mtu_bytes;    // wire bytes of a full packet
	bool has_trimming;     // switches trim
	bool is_htsim;	       // the htsim differences of NSCC (average, thresholds)
	// NSCC knobs, units of mrc_ctl.h; 0 = the default formula
	ps_t target_delay_ps;
	uint32_t max_cwnd_bytes;
	uint32_t qa_gate; // 3
	ps_t qa_threshold_ps;
	bool disable_qa;
};

// Feedback for newly received bytes.
struct cc_ack {
	uint32_t newly_bytes; // bytes the receiver reports received since the last feedback, wire
			      // bytes
	uint32_t inflight_bytes; // after this feedback
	ps_t rtt_ps;		 // sample of the packet that caused it, or -1 when ambiguous
	bool is_marked;		 // that packet was marked CE
	uint8_t penalty;	 // receiver's window penalty 0..127
	bool is_restore;	 // receiver asks to restore the saved window
};

// A packet that was trimmed or is held lost.
struct cc_loss {
	uint32_t bytes; // wire bytes of that packet
	uint32_t inflight_bytes;
	bool is_trim;	  // a trim NACK; else inferred (timer, hole)
	bool is_last_hop; // trimmed at the last hop
};

struct cc;

struct cc_ops {
	const char *name;
	void (*init)(struct cc *, const struct cc_config *, ps_t now);
	void (*on_ack)(struct cc *, const struct cc_ack *, ps_t now);
	void (*on_loss)(struct cc *, const struct cc_loss *, ps_t now);
	void (*on_time)(struct cc *, ps_t now); // at wake_at
	// Receiver half: sees each data packet; returns the penalty byte for the next SACK (bit 7
	// restore, bits 6:0 penalty).
	void (*receiver_init)(uint64_t state[CC_RECEIVER_WORDS], const struct cc_config *);
	uint8_t (*receiver_on_data)(uint64_t state[CC_RECEIVER_WORDS], uint32_t bytes,
				    bool is_marked, bool is_trimmed, ps_t now);
};

// The sender half of one QP (later: of one destination).
struct cc {
	const struct cc_ops *ops;
	uint32_t window_bytes; // may send while inflight + packet <= window
	uint64_t rate_bps;     // 0 = not paced
	ps_t wake_at;	       // when on_time wants to run, PS_NEVER = not
	uint64_t state[CC_STATE_WORDS];
};

#ifdef __cplusplus
extern "C" {
#endif

// All algorithms, ended by NULL. Explicit: a new one is added here by hand.
extern const struct cc_ops *const cc_all[];

// The algorithm of that name, or NULL.
const struct cc_ops *cc_find(const char *name);

// Bandwidth-delay product in bytes: rate_bps / 8 * base_rtt.
uint64_t cc_bdp_bytes(const struct cc_config *config);

#ifdef __cplusplus
}
#endif
