// SPDX-License-Identifier: Apache-2.0
// Congestion control as a table of plug-ins. A plug-in reads events and writes two numbers: window
// and rate. Each has a sender half (feedback in; window and rate out) and a receiver half (data in;
// window penalty, or credit, out). Sources: UEC 1.0 section 3.6.13 (NSCC) as related in public
// readings; names of the MRC controller structure (OCP mrc_ctl.h); DCQCN: Zhu et al., SIGCOMM 2015.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/time.h>

#define CC_STATE_WORDS 30   // private state of a sender half
#define CC_RECEIVER_WORDS 6 // private state of a receiver half

// Where uet-htsim departs from the specification: as cc_config.is_htsim says, or by itself.
enum cc_rule { CC_RULE_AUTO, CC_RULE_SPEC, CC_RULE_HTSIM };

static inline bool cc_rule_is_htsim(enum cc_rule rule, bool is_htsim)
{
	return rule == CC_RULE_HTSIM || (rule == CC_RULE_AUTO && is_htsim);
}

// Parameters that are 0, where 0 in a configuration means the default.
#define CC_ZERO UINT32_MAX
#define CC_ZERO_PPB UINT64_MAX

// What every algorithm gets at start. 0 is derived from the network where a formula exists.
struct cc_config {
	const char *name;	 // of cc_all
	uint32_t window_bytes;	 // fixed: the window; 0 = cc_window_auto()
	uint64_t rate_bps;	 // smaller of source and target rate, all planes together
	ps_t base_rtt_ps;	 // unloaded round trip of one MTU packet over the longest path
	ps_t sized_rtt_ps;	 // that windows and targets are made for, if it is longer
	uint32_t gather_bytes;	 // that arrive before the receiver answers; 0 = one packet
	uint32_t mtu_bytes;	 // wire bytes of a full packet
	uint32_t payload_bytes;	 // of a full packet, for growth_rule; 0 = mtu_bytes
	bool has_trimming;	 // switches trim
	uint32_t max_cwnd_bytes; // largest window, also the first one; 0 = cc_window_auto()
	ps_t target_delay_ps;	 // queueing delay aimed at (NSCC, Swift); 0 = the default formula
	// NSCC's parameters of the MRC controller structure (mrc_ctl.h); 0 = the default formula,
	// and CC_ZERO of eta, fi and qa_gate, CC_ZERO_PPB of fi_scale are 0 itself
	uint32_t adjust_bytes;	  // adjust_bytes_threshold: 8 packets
	ps_t adjust_period_ps;	  // adjust_period_threshold: base_rtt_ps
	uint32_t eta_bytes;	  // growth per adjust period: 0.15 a MTU
	uint32_t fi_bytes;	  // fair increase per window: 5 a MTU
	uint64_t fi_scale_ppb;	  // fast increase, bytes per byte, in 10^-9: 0.25 a
	uint32_t gamma_ppb;	  // share of the excess delay that a decrease removes: 0.8
	uint32_t max_md_jump_ppb; // least factor of one decrease: 0.5
	uint32_t qa_gate;	  // quick adapt below max / 2^gate: 3
	ps_t qa_threshold_ps;	  // four targets; none with trimming
	bool disable_qa;
	// NSCC as htsim has it: all at once, or one rule at a time
	bool is_htsim;
	enum cc_rule average_rule;   // htsim: weight 0.0125, long delays without a mark replaced
	enum cc_rule qa_delay_rule;  // htsim: delay triggers quick adapt with trimming, too
	enum cc_rule qa_period_rule; // htsim: a period ends after its last instant, not at it
	enum cc_rule send_gate_rule; // spec: a full packet fits the window; htsim: this packet
	enum cc_rule penalty_rule;   // htsim: a penalty saves no window and gives none back
	enum cc_rule last_hop_rule;  // with credits: htsim adapts to trims at the last hop, too
	enum cc_rule no_sample_rule; // htsim: without a round trip the average delay stands for it
	enum cc_rule growth_rule;    // steps in packets: spec, of mtu_bytes; htsim, of its payload
	enum cc_rule nack_rtt_rule;  // htsim: round trips of NACKs lower the base round trip, too
	uint32_t penalty; // that receivers ask for with each SACK, 0 to 127; 64 over one window
			  // halves it. What makes a receiver ask is left to implementers
	// DCQCN's reaction point, by the names of its paper (SIGCOMM 2015); 0 = its figures
	uint32_t gain_ppb;	  // g, weight of one CNP in alpha: 1/256
	ps_t alpha_timer_ps;	  // alpha decays after so long without a CNP: 55 us
	ps_t rate_timer_ps;	  // T, an increase per so much time: 55 us
	uint64_t rate_bytes;	  // B, and one per so many bytes sent: 10 MB
	uint32_t recovery_rounds; // F: 5
	uint64_t rate_ai_bps;	  // R_AI: a thousandth of the line, 40 Mb/s at 40 Gb/s
	uint64_t rate_hai_bps;	  // R_HAI: ten R_AI
	uint64_t rate_min_bps;	  // one R_AI
	// Credits of a receiver
	uint32_t credit_rate_ppb;      // share of its lines that it grants: 0.99
	uint32_t credit_quantum_bytes; // in one credit: 4 packets
	bool credit_notified; // the first answer ends what is sent without credit, and the sender
			      // tells how much waits (htsim, UEC's credit_target)
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
	ps_t rtt_ps;	  // a NACK's: since that packet left last; 0 = not known
	bool is_trim;	  // a trim NACK; else inferred (timer, hole)
	bool is_last_hop; // trimmed at the last hop
};

// What an algorithm measures itself by.
struct cc_aims {
	ps_t base_rtt_ps; // round trip without queues, as far as is known
	ps_t target_ps;	  // queueing delay that is not too long
	uint32_t window_max;
};

// NSCC's parameters in force, with the names and units of the MRC controller structure (mrc_ctl.h).
struct cc_settings {
	bool disable_qa;
	uint32_t adjust_bytes_threshold;     // bytes
	uint64_t adjust_period_threshold_ns; // this and other times: to the nearest
	uint64_t base_rtt_ns;
	double eta, fi; // bytes
	double fi_scale, gamma, max_md_jump;
	uint32_t max_cwnd; // bytes
	uint8_t qa_gate;
	uint64_t qa_threshold_ns; // 0 = none
	uint64_t target_delay_ns;
};

struct cc;

// Transports that give an algorithm the signals it works on.
#define CC_ON_MRC 1u // SACKs: bytes, round trips, marks; trims and losses; credits
#define CC_ON_RC 2u  // ACKs and NAKs: bytes, round trips, losses, but no marks; CNPs

// Families of scenario keys that an algorithm reads.
#define CC_KEYS_TARGET 1u    // cc.target_delay
#define CC_KEYS_NSCC 2u	     // NSCC's parameters
#define CC_KEYS_DCQCN 4u     // DCQCN's
#define CC_KEYS_CREDIT 8u    // of credits
#define CC_KEYS_LAST_HOP 16u // cc.last_hop_rule

struct cc_ops {
	const char *name;     // the word that cc.algorithm takes
	uint32_t transports;  // CC_ON_...; on others it is refused
	uint32_t keys;	      // CC_KEYS_...
	bool is_fixed;	      // the window never moves: cc.window in place of cc.max_window
	bool needs_marks;     // without marks, or the CNPs they cause, only losses slow it down
	bool needs_full_gate; // a packet leaves when a full one fits the window (NSCC)
	bool has_rate;	      // writes rate_bps; RC paces, MRC does not
	bool has_credit;      // sends what the receiver grants, which is an extension: not MRC
	bool is_credit_alone; // and has no window but these
	void (*init)(struct cc *, const struct cc_config *, ps_t now);
	void (*on_ack)(struct cc *, const struct cc_ack *, ps_t now);
	void (*on_loss)(struct cc *, const struct cc_loss *, ps_t now);
	void (*on_cnp)(struct cc *, ps_t now);	// a congestion notification of RoCEv2 came
	void (*on_time)(struct cc *, ps_t now); // at wake_at
	// A packet of so many wire bytes left; called for senders with a rate only.
	void (*on_sent)(struct cc *, uint32_t bytes, ps_t now);
	// The receiver granted so many bytes more; called for algorithms with credits only.
	void (*on_credit)(struct cc *, uint32_t bytes, ps_t now);
	// What it measures itself by at this time.
	void (*aims)(const struct cc *, const struct cc_config *, struct cc_aims *ret);
	// Receiver half: sees each data packet; returns the penalty byte for the next SACK (bit 7
	// restore, bits 6:0 penalty).
	void (*receiver_init)(uint64_t state[CC_RECEIVER_WORDS], const struct cc_config *);
	uint8_t (*receiver_on_data)(uint64_t state[CC_RECEIVER_WORDS], uint32_t bytes,
				    bool is_marked, bool is_trimmed, ps_t now);
	// The sender announced, of all bytes since the QP began, what it asks credit for and what
	// it sent without, modulo 2^32.
	void (*receiver_notified)(uint64_t state[CC_RECEIVER_WORDS], uint32_t asked,
				  uint32_t unpaid);
	// Its turn: what it is granted; `passed_bytes` left before what came, and are under way.
	uint32_t (*receiver_grant)(uint64_t state[CC_RECEIVER_WORDS], uint32_t passed_bytes);
};

// The sender half of one QP (later: of one destination).
struct cc {
	const struct cc_ops *ops;
	uint32_t window_bytes; // may send while inflight + packet <= window
	uint32_t credit_bytes; // the same by the receiver's credits alone; set to UINT32_MAX
			       // before init, and left so by those without
	uint64_t rate_bps; // a packet's first bit leaves no earlier than the last one's wire bytes
			   // take at this rate; 0 = not paced
	ps_t wake_at;	   // when on_time wants to run, PS_NEVER = not
	uint64_t state[CC_STATE_WORDS];
};

#ifdef __cplusplus
extern "C" {
#endif

// All algorithms, and their names in the same order, ended by NULL: the rows of CC_ALL.
extern const struct cc_ops *const cc_all[];
extern const char *const cc_names[];

// The algorithm of that name, or NULL.
const struct cc_ops *cc_find(const char *name);

// What NSCC makes of a configuration, with or without credits. False where the algorithm has none
// of its parameters (CC_KEYS_NSCC).
bool cc_settings_of(const struct cc_config *config, struct cc_settings *ret);

// Bandwidth-delay product in bytes: rate_bps / 8 * base_rtt.
uint64_t cc_bdp_bytes(const struct cc_config *config);

#ifdef __cplusplus
}
#endif
