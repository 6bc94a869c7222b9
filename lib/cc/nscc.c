// SPDX-License-Identifier: Apache-2.0
// NSCC, the network signal congestion control of UEC 1.0 section 3.6.13, which MRC uses: a window
// moved by two signals, the mark and the queueing delay of the packet that caused a SACK.
//
//                 delay < target              delay >= target
//   not marked    increase by the distance    fair increase
//   marked        hold (the path's business)  multiplicative decrease
//
// Not in here: path selection, retransmission, credits of the receiver, beside which it can run
// (nscc_rccc.c): then what is trimmed at the last hop does not move the window. Two places that the
// specification leaves to the implementer are filled as follows: the average delay is an average
// over about one window of acknowledged bytes, and a receiver asks for the penalty that it is
// configured for. With cc_config.is_htsim, or rule by rule (enum cc_rule), it follows the simulator
// of the Ultra Ethernet Consortium (uet-htsim) instead.
#include "algorithms.h"

#include <assert.h>
#include <string.h>

// The network for which the constants were chosen: 100 Gb/s times 12 us.
#define REFERENCE_BDP_BYTES 150000.0
#define REFERENCE_RTT_PS (12.0 * (double)PS_PER_US)

#define GAMMA 0.8	    // share of the excess delay that a decrease removes
#define MAX_MD_JUMP 0.5	    // least factor of one decrease
#define HTSIM_WEIGHT 0.0125 // of a sample in htsim's average delay
#define PPB 1e9
#define NO_DELAY_PS PS_PER_US		 // below this a delay counts as none (fast increase)
#define ADJUST_MTUS 8			 // bytes between adjustments, in packets
#define DEFAULT_QA_GATE 3		 // quick adapt acts below window_max / 2^3
#define PENALTY_WHOLE 128.0		 // a penalty of 64 over one window halves it
#define QA_NOT_STARTED ((ps_t)INT64_MIN) // no quick adapt period has begun

struct nscc {
	double cwnd, cwnd_max, saved_cwnd; // bytes
	double inc_bytes; // increase collected since the last adjustment, times cwnd
	double avg_delay_ps;
	double alpha;	     // bytes per ps below the target, for one window of acknowledgements
	double fi;	     // bytes per window, fair increase
	double fi_scale;     // bytes per acknowledged byte, fast increase
	double eta;	     // bytes per adjust period
	double gamma;	     // share of the excess delay that a decrease removes
	double max_md_jump;  // least factor of one decrease
	double bytes_per_ps; // rate, for the maximum when base_rtt shrinks
	ps_t target_ps, base_rtt_ps, config_rtt_ps, period_ps;
	ps_t adjusted_at, decreased_at, qa_ends_at, qa_threshold_ps;
	uint64_t achieved_bytes, received_bytes, fast_bytes;
	uint64_t ignored_bytes;
	uint32_t ignore_bytes, mtu_bytes, adjust_bytes, gather_bytes;
	struct cc_floor floor; // of base_rtt_ps
	uint8_t qa_gate;
	bool is_htsim_average : 1, is_htsim_period : 1, is_htsim_penalty : 1; // htsim's rules
	bool is_htsim_last_hop : 1, is_htsim_no_sample : 1, is_htsim_nack_rtt : 1;
	bool has_credit : 1, has_path_losses : 1;
	bool is_fast, is_qa_off, is_triggered;
	bool is_penalised, is_max_given, has_average, has_decreased;
};
static_assert(sizeof(struct nscc) <= NSCC_WORDS * sizeof(uint64_t),
	      "fits its share of the private state");

static struct nscc *nscc_of(struct cc *cc)
{
	return (struct nscc *)(void *)cc->state;
}

uint32_t nscc_window(const struct cc *cc)
{
	return (uint32_t)((const struct nscc *)(const void *)cc->state)->cwnd;
}

static void set_window(struct cc *cc, struct nscc *n, double cwnd)
{
	cwnd = cc_window_within(cwnd, n->mtu_bytes, n->cwnd_max);
	n->cwnd = cwnd;
	cc->window_bytes = (uint32_t)cwnd;
}

static bool is_htsim(const struct cc_config *config, enum cc_rule rule)
{
	return cc_rule_is_htsim(rule, config->is_htsim);
}

// A knob of a configuration, where 0 means the default.
static double figure(uint32_t knob, double usual)
{
	if (knob == CC_ZERO)
		return 0;
	return knob > 0 ? knob : usual;
}

static double share(uint64_t knob_ppb, double usual)
{
	if (knob_ppb == CC_ZERO_PPB)
		return 0;
	return knob_ppb > 0 ? (double)knob_ppb / PPB : usual;
}

// The formulas of UEC 1.0 section 3.6.13: everything scales with BDP, target and MTU.
static void derive(struct nscc *n, const struct cc_config *config)
{
	double bdp = (double)cc_bdp_bytes(config);
	double a = bdp / REFERENCE_BDP_BYTES;
	double mtu = config->mtu_bytes;
	if (config->payload_bytes != 0 && is_htsim(config, config->growth_rule))
		mtu = config->payload_bytes;

	n->target_ps = cc_target_ps(config);
	// alpha = 4 a b MTU / T with b = T / 12 us: the target cancels out
	n->alpha = 4.0 * a * mtu / REFERENCE_RTT_PS;
	n->fi = figure(config->fi_bytes, 5.0 * mtu * a);
	n->fi_scale = share(config->fi_scale_ppb, 0.25 * a);
	n->eta = figure(config->eta_bytes, 0.15 * mtu * a);
	n->gamma = config->gamma_ppb ? config->gamma_ppb / PPB : GAMMA;
	n->max_md_jump = config->max_md_jump_ppb ? config->max_md_jump_ppb / PPB : MAX_MD_JUMP;
	n->adjust_bytes = config->adjust_bytes ? config->adjust_bytes
					       : ADJUST_MTUS * config->mtu_bytes;
	n->period_ps = config->adjust_period_ps ? config->adjust_period_ps : config->base_rtt_ps;
	n->is_max_given = config->max_cwnd_bytes != 0 || // on a short line no way is longer
		config->sized_rtt_ps > config->base_rtt_ps;
	n->cwnd_max = cc_window_max(config);
}

static void choose_rules(struct nscc *n, const struct cc_config *config)
{
	bool has_delay = !config->has_trimming || is_htsim(config, config->qa_delay_rule);
	n->is_htsim_average = is_htsim(config, config->average_rule);
	n->is_htsim_period = is_htsim(config, config->qa_period_rule);
	n->is_htsim_penalty = is_htsim(config, config->penalty_rule);
	n->is_htsim_last_hop = is_htsim(config, config->last_hop_rule);
	n->is_htsim_no_sample = is_htsim(config, config->no_sample_rule);
	n->has_path_losses = config->has_trimming && !config->is_htsim;
	n->is_htsim_nack_rtt = is_htsim(config, config->nack_rtt_rule);
	n->qa_gate = (uint8_t)figure(config->qa_gate, DEFAULT_QA_GATE);
	n->is_qa_off = config->disable_qa;
	n->qa_threshold_ps = config->qa_threshold_ps;
	if (n->qa_threshold_ps == 0)
		n->qa_threshold_ps = has_delay ? 4 * n->target_ps : PS_NEVER;
}

static void nscc_init(struct cc *cc, const struct cc_config *config, ps_t now)
{
	struct nscc *n = nscc_of(cc);
	memset(n, 0, sizeof(*n));
	n->mtu_bytes = config->mtu_bytes;
	n->gather_bytes = config->gather_bytes;
	n->base_rtt_ps = n->config_rtt_ps = config->base_rtt_ps;
	n->bytes_per_ps = (double)config->rate_bps / 8e12;
	n->adjusted_at = now;
	n->qa_ends_at = QA_NOT_STARTED;
	n->has_credit = cc->ops->has_credit;
	derive(n, config);
	choose_rules(n, config);
	cc->rate_bps = 0;
	cc->wake_at = PS_NEVER;
	set_window(cc, n, n->cwnd_max);
}

// The largest window follows the base round trip, to no more than it is at first.
static void update_base_rtt(struct nscc *n, ps_t rtt_ps)
{
	if (!cc_floor_take(&n->floor, &n->base_rtt_ps, rtt_ps) || n->is_max_given)
		return;
	double bdp_bytes = n->bytes_per_ps * (double)n->base_rtt_ps;
	double first_bytes = (double)(uint64_t)(n->bytes_per_ps * (double)n->config_rtt_ps);
	if (bdp_bytes > first_bytes)
		bdp_bytes = first_bytes;
	n->cwnd_max = cc_window_within(cc_window_of_bdp(bdp_bytes, n->gather_bytes, n->mtu_bytes),
				       n->mtu_bytes, (double)UINT32_MAX);
}

static void update_average(struct nscc *n, ps_t delay_ps, uint32_t bytes, bool is_marked)
{
	double sample = (double)delay_ps;
	double weight = (double)bytes / n->cwnd;
	if (n->is_htsim_average) {
		weight = HTSIM_WEIGHT;
		if (!is_marked && delay_ps > n->target_ps)
			sample = 0.25 * (double)n->base_rtt_ps;
	} else if (!n->has_average || weight > 1.0) {
		weight = 1.0;
	}
	n->has_average = true;
	n->avg_delay_ps += weight * (sample - n->avg_delay_ps);
}

// At the end of a quick adapt period: true when the window was set to what was achieved in it.
static bool adapt_at_end(struct cc *cc, struct nscc *n, uint32_t inflight_bytes, bool is_asked)
{
	bool is_low = (double)n->achieved_bytes < n->cwnd_max / (double)(1u << n->qa_gate);
	if (n->qa_ends_at == QA_NOT_STARTED || !is_asked || !is_low)
		return false;
	set_window(cc, n, (double)n->achieved_bytes);
	n->ignore_bytes = inflight_bytes;
	n->ignored_bytes = 0;
	n->is_triggered = false;
	n->inc_bytes = 0;
	n->received_bytes = 0;
	return true;
}

struct qa_signal {
	uint32_t inflight_bytes;
	ps_t delay_ps;
	bool is_loss, is_marked;
};

// True when this feedback is dealt with: the window was just adapted, or the feedback belongs to
// packets sent before it was.
static bool quick_adapt(struct cc *cc, struct nscc *n, const struct qa_signal *signal, ps_t now)
{
	if (n->is_qa_off)
		return false;
	if (n->ignored_bytes < n->ignore_bytes && signal->is_marked) {
		n->inc_bytes = 0;
		n->received_bytes = 0;
		return true;
	}
	if (now < n->qa_ends_at || (n->is_htsim_period && now == n->qa_ends_at))
		return false;
	bool is_asked = n->is_triggered || signal->is_loss || signal->delay_ps > n->qa_threshold_ps;
	bool is_done = adapt_at_end(cc, n, signal->inflight_bytes, is_asked);
	n->achieved_bytes = 0;
	n->qa_ends_at = now + n->base_rtt_ps + n->target_ps;
	return is_done;
}

// Exponential growth while packets meet no queue at all. True when it took the feedback.
static bool fast_increase(struct cc *cc, struct nscc *n, ps_t delay_ps, uint32_t bytes)
{
	if (delay_ps >= NO_DELAY_PS) {
		n->fast_bytes = 0;
		n->is_fast = false;
		return false;
	}
	n->fast_bytes += bytes;
	if (!n->is_fast && (double)n->fast_bytes <= n->cwnd)
		return false;
	n->is_fast = true;
	set_window(cc, n, n->cwnd + n->fi_scale * bytes);
	return true;
}

static void decrease(struct cc *cc, struct nscc *n, ps_t now)
{
	n->fast_bytes = 0;
	n->is_fast = false;
	double excess = n->avg_delay_ps - (double)n->target_ps;
	if (excess <= 0 || (n->has_decreased && now - n->decreased_at <= n->base_rtt_ps))
		return;
	double factor = 1.0 - n->gamma * excess / n->avg_delay_ps;
	set_window(cc, n, n->cwnd * (factor > n->max_md_jump ? factor : n->max_md_jump));
	n->decreased_at = now;
	n->has_decreased = true;
}

static void increase(struct cc *cc, struct nscc *n, ps_t delay_ps, uint32_t bytes)
{
	if (n->is_penalised)
		return;
	if (delay_ps >= n->target_ps) {
		n->fast_bytes = 0;
		n->is_fast = false;
		n->inc_bytes += n->fi * bytes;
	} else if (!fast_increase(cc, n, delay_ps, bytes)) {
		n->inc_bytes += n->alpha * bytes * (double)(n->target_ps - delay_ps);
	}
}

// Applies what was collected, every 8 packets or once per base round trip.
static void adjust(struct cc *cc, struct nscc *n, ps_t now)
{
	bool is_period = now - n->adjusted_at >= n->period_ps;
	if (!is_period && n->received_bytes <= n->adjust_bytes)
		return;
	double cwnd = n->cwnd + n->inc_bytes / n->cwnd;
	if (is_period) {
		cwnd += n->is_penalised ? 0 : n->eta;
		n->adjusted_at = now;
	}
	set_window(cc, n, cwnd);
	n->inc_bytes = 0;
	n->received_bytes = 0;
}

// The receiver takes window away (penalty) or gives it back. The window falls from what was in
// flight before this feedback, else one window of feedback would count twice.
static void penalise(struct cc *cc, struct nscc *n, const struct cc_ack *ack)
{
	if (n->is_htsim_penalty) { // a cut of its own, and nothing else changes
		set_window(cc, n,
			   n->cwnd - ack->penalty * (double)ack->newly_bytes / PENALTY_WHOLE);
		return;
	}
	if (ack->penalty == 0) {
		if (ack->is_restore && n->saved_cwnd > 0) {
			set_window(cc, n, n->saved_cwnd);
			n->saved_cwnd = 0;
		}
		n->is_penalised = false;
		return;
	}
	double cwnd = n->cwnd;
	if (!n->is_penalised) {
		double inflight = (double)ack->inflight_bytes + (double)ack->newly_bytes;
		n->saved_cwnd = cwnd;
		n->is_penalised = true;
		if (inflight < cwnd)
			cwnd = inflight;
	}
	n->inc_bytes = 0;
	set_window(cc, n, cwnd - ack->penalty * (double)ack->newly_bytes / PENALTY_WHOLE);
}

// The queueing delay of the packet that caused the feedback. False when it is not known.
static bool take_delay(struct nscc *n, const struct cc_ack *ack, ps_t *ret_delay_ps)
{
	if (ack->rtt_ps < 0) {
		*ret_delay_ps = (ps_t)n->avg_delay_ps;
		return n->is_htsim_no_sample;
	}
	update_base_rtt(n, ack->rtt_ps);
	*ret_delay_ps = ack->rtt_ps - n->base_rtt_ps;
	update_average(n, *ret_delay_ps, ack->newly_bytes, ack->is_marked);
	return true;
}

static void nscc_on_ack(struct cc *cc, const struct cc_ack *ack, ps_t now)
{
	struct nscc *n = nscc_of(cc);
	ps_t delay_ps;
	n->ignored_bytes += ack->newly_bytes;
	n->received_bytes += ack->newly_bytes;
	n->achieved_bytes += ack->newly_bytes;
	if (ack->penalty != 0 || ack->is_restore || n->is_penalised)
		penalise(cc, n, ack);
	if (!take_delay(n, ack, &delay_ps))
		return;
	struct qa_signal signal = {.inflight_bytes = ack->inflight_bytes,
				   .delay_ps = delay_ps,
				   .is_marked = ack->is_marked};
	if (quick_adapt(cc, n, &signal, now))
		return;
	if (!ack->is_marked)
		increase(cc, n, delay_ps, ack->newly_bytes);
	else if (delay_ps >= n->target_ps)
		decrease(cc, n, now);
	adjust(cc, n, now);
}

// Whether a loss is a path's, and the window has nothing to answer: where switches trim, what is
// lost without a word met no full queue (MRC: an untrimmed loss is a path failure), and what
// arrived since met none either. Else a QP that learns of dead EVs one by one shrinks to a packet a
// time-out, and learns no faster than that.
static bool is_of_path(const struct nscc *n, const struct cc_loss *loss)
{
	return n->has_path_losses && !loss->is_trim && n->has_average &&
		n->avg_delay_ps < (double)n->target_ps;
}

static void nscc_on_loss(struct cc *cc, const struct cc_loss *loss, ps_t now)
{
	struct nscc *n = nscc_of(cc);
	bool is_credits = n->has_credit && loss->is_trim && loss->is_last_hop; // their business
	if (loss->is_trim) {
		if (n->is_htsim_nack_rtt && loss->rtt_ps > 0)
			update_base_rtt(n, loss->rtt_ps);
		update_average(n, n->config_rtt_ps, loss->bytes, true);
		n->ignored_bytes += loss->bytes;
		if (is_credits && !n->is_htsim_last_hop)
			return;
		n->is_triggered = true;
		struct qa_signal signal = {
			.inflight_bytes = loss->inflight_bytes, .is_loss = true, .is_marked = true};
		if (quick_adapt(cc, n, &signal, now))
			return;
	}
	if (!is_credits && !is_of_path(n, loss))
		set_window(cc, n, n->cwnd - loss->bytes);
}

static void nscc_aims(const struct cc *cc, const struct cc_config *config, struct cc_aims *ret)
{
	const struct nscc *n = (const struct nscc *)(const void *)cc->state;
	(void)config;
	*ret = (struct cc_aims){.base_rtt_ps = n->base_rtt_ps,
				.target_ps = n->target_ps,
				.window_max = (uint32_t)n->cwnd_max};
}

static uint64_t ns_of(ps_t ps)
{
	return (uint64_t)((ps + PS_PER_NS / 2) / PS_PER_NS);
}

bool cc_settings_of(const struct cc_config *config, struct cc_settings *ret)
{
	struct cc cc = {.ops = cc_find(config->name)};
	if (!(cc.ops->keys & CC_KEYS_NSCC))
		return false;
	nscc_init(&cc, config, 0);
	const struct nscc *n = nscc_of(&cc);
	*ret = (struct cc_settings){
		.disable_qa = n->is_qa_off,
		.adjust_bytes_threshold = n->adjust_bytes,
		.adjust_period_threshold_ns = ns_of(n->period_ps),
		.base_rtt_ns = ns_of(n->base_rtt_ps),
		.eta = n->eta,
		.fi = n->fi,
		.fi_scale = n->fi_scale,
		.gamma = n->gamma,
		.max_md_jump = n->max_md_jump,
		.max_cwnd = (uint32_t)n->cwnd_max,
		.qa_gate = n->qa_gate,
		.qa_threshold_ns = n->qa_threshold_ps == PS_NEVER ? 0 : ns_of(n->qa_threshold_ps),
		.target_delay_ns = ns_of(n->target_ps),
	};
	return true;
}

// A receiver that asks for the same penalty all the time, or for none.
static void nscc_receiver_init(uint64_t state[CC_RECEIVER_WORDS], const struct cc_config *config)
{
	state[0] = config->penalty;
}

static uint8_t nscc_receiver_on_data(uint64_t state[CC_RECEIVER_WORDS], uint32_t bytes,
				     bool is_marked, bool is_trimmed, ps_t now)
{
	return (uint8_t)state[0];
}

const struct cc_ops cc_nscc = {
	.name = "nscc",
	.transports = CC_ON_MRC,
	.keys = CC_KEYS_TARGET | CC_KEYS_NSCC,
	.needs_marks = true,
	.needs_full_gate = true,
	.init = nscc_init,
	.on_ack = nscc_on_ack,
	.on_loss = nscc_on_loss,
	.on_cnp = cc_on_cnp_none,
	.on_time = cc_on_time_none,
	.on_sent = cc_on_sent_none,
	.on_credit = cc_on_sent_none,
	.aims = nscc_aims,
	.receiver_init = nscc_receiver_init,
	.receiver_on_data = nscc_receiver_on_data,
	.receiver_notified = cc_receiver_notified_none,
	.receiver_grant = cc_receiver_grant_none,
};
