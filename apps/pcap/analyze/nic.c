// SPDX-License-Identifier: Apache-2.0
// Each counter that is known counts packets of one kind that the NIC sent or received. Between NIC
// and capture point packets get lost and doubled, so that the direction of a difference says whose
// it can be.

#include "analyze/nic.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/files.h>
#include <weft/run/outcome.h>

#define COUNTERS_BYTES_MAX ((size_t)16 << 20)

enum figure { FIGURE_PACKETS, FIGURE_NAKS, FIGURE_RNRS, FIGURE_CNPS, FIGURE_CE };

// Names as Linux's drivers have them in hw_counters: rxe, mlx5 (and ethtool), bnxt_re, irdma,
// ionic.
static const struct known {
	const char *name;
	enum figure figure;
	bool is_sent; // by the NIC; else received
} known[] = {
	{"sent_pkts", FIGURE_PACKETS, true},
	{"rcvd_pkts", FIGURE_PACKETS, false},
	{"tx_vport_rdma_unicast_packets", FIGURE_PACKETS, true},
	{"rx_vport_rdma_unicast_packets", FIGURE_PACKETS, false},
	{"tx_roce_only_pkts", FIGURE_PACKETS, true},
	{"rx_roce_only_pkts", FIGURE_PACKETS, false},
	{"roce_only_tx_pkts", FIGURE_PACKETS, true}, // bnxt_re as the vendor ships it
	{"roce_only_rx_pkts", FIGURE_PACKETS, false},
	{"tx_rdma_ucast_pkts", FIGURE_PACKETS, true},
	{"rx_rdma_ucast_pkts", FIGURE_PACKETS, false},
	{"out_of_seq_request", FIGURE_NAKS, true},
	{"resp_tx_pkt_seq_err", FIGURE_NAKS, true},
	{"req_rx_pkt_seq_err", FIGURE_NAKS, false},
	{"packet_seq_err", FIGURE_NAKS, false},
	{"seq_err_naks_rcvd", FIGURE_NAKS, false},
	{"send_rnr_err", FIGURE_RNRS, true},
	{"RNR sent", FIGURE_RNRS, true},
	{"rnr_naks_rcvd", FIGURE_RNRS, false},
	{"rnr_nak_retry_err", FIGURE_RNRS, false},
	{"RNR received", FIGURE_RNRS, false},
	{"np_cnp_sent", FIGURE_CNPS, true},
	{"tx_cnp_pkts", FIGURE_CNPS, true},
	{"np_cnp_pkts", FIGURE_CNPS, true}, // bnxt_re with the names of mlx5
	{"cnp_tx_pkts", FIGURE_CNPS, true},
	{"cnpSent", FIGURE_CNPS, true},
	{"tx_rdma_cnp_pkts", FIGURE_CNPS, true},
	{"rp_cnp_handled", FIGURE_CNPS, false},
	{"rx_cnp_pkts", FIGURE_CNPS, false},
	{"cnp_rx_pkts", FIGURE_CNPS, false},
	{"cnpHandled", FIGURE_CNPS, false},
	{"rx_rdma_cnp_pkts", FIGURE_CNPS, false},
	{"np_ecn_marked_roce_packets", FIGURE_CE, false},
	{"rx_ecn_marked_pkts", FIGURE_CE, false},
	{"RxECNMrkd", FIGURE_CE, false},
	{"rx_rdma_ecn_pkts", FIGURE_CE, false},
};
#define KNOWN (sizeof(known) / sizeof(known[0]))

// What the NIC drops itself: a finding without a packet beside it.
static const char *const drops[] = {
	"out_of_buffer",     "rx_discards_phy",	 "rx_out_of_buffer",
	"rx_prio0_discards", "rx_discards",	 "rx_missed_errors",
	"rx_roce_discards",  "tx_roce_discards", "rx_rdma_mtu_discard_pkts"};
#define DROPS (sizeof(drops) / sizeof(drops[0]))

static struct {
	char device[64];
	uint8_t address[16];
	bool has[KNOWN], has_drop[DROPS];
	int64_t moved[KNOWN], dropped[DROPS];
} nic;

// ---------------------------------------------------------------- files

// The counters of the one device in a file; the caller frees *ret_root.
static int read_counters(const char *path, json_t **ret_root, const json_t **ret_counters,
			 struct refusal *refusal)
{
	char *text;
	size_t bytes;
	json_error_t error;
	int rc = file_read(path, COUNTERS_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	*ret_root = json_loadb(text, bytes, 0, &error);
	free(text);
	const json_t *one = *ret_root;
	if (json_is_array(one) && json_array_size(one) == 1)
		one = json_array_get(one, 0);
	if (json_is_object(one)) {
		*ret_counters = one;
		return 0;
	}
	refusal_name(refusal, path);
	refusal->line = *ret_root == NULL ? (uint32_t)error.line : 0;
	snprintf(refusal->text, sizeof(refusal->text), "%s",
		 *ret_root == NULL	      ? "this is not JSON, as rdma statistic -j prints it"
			 : json_is_array(one) ? "the counters of one device are needed, as "
						"rdma statistic show link DEVICE/PORT -j prints "
						"them"
					      : "these are not counters of a device");
	json_decref(*ret_root);
	*ret_root = NULL;
	return -EINVAL;
}

// How far a counter went. False: it is not in both, or is no number.
static bool find(const json_t *before, const json_t *after, const char *name, int64_t *ret_moved)
{
	const json_t *first = json_object_get(before, name), *last = json_object_get(after, name);
	if (!json_is_integer(first) || !json_is_integer(last))
		return false;
	*ret_moved = json_integer_value(last) - json_integer_value(first);
	return true;
}

static int take(struct call *call, const json_t *before, const json_t *after)
{
	uint32_t count = 0;
	const char *name = json_string_value(json_object_get(after, "ifname"));
	const char *other = json_string_value(json_object_get(before, "ifname"));
	snprintf(nic.device, sizeof(nic.device), "%s", name != NULL ? name : "NIC");
	if (name != NULL && other != NULL && strcmp(name, other) != 0)
		return outcome_bad_word(&call->refusal, "--before is of another device:", other);
	for (size_t i = 0; i < KNOWN + DROPS; i++) {
		bool is_drop = i >= KNOWN;
		const char *counter = is_drop ? drops[i - KNOWN] : known[i].name;
		int64_t *moved = is_drop ? &nic.dropped[i - KNOWN] : &nic.moved[i];
		bool has = find(before, after, counter, moved);
		*(is_drop ? &nic.has_drop[i - KNOWN] : &nic.has[i]) = has;
		count += has;
		if (has && *moved < 0)
			return outcome_bad_word(
				&call->refusal,
				"a counter goes back from --before to --after:", counter);
	}
	return count > 0 ? 0
			 : outcome_bad_word(&call->refusal, "no counter whose meaning is known in",
					    call->after);
}

int nic_read(struct call *call)
{
	json_t *roots[2] = {NULL, NULL};
	const json_t *counters[2] = {NULL, NULL};
	uint8_t *at = nic.address;
	int rc = inet_pton(AF_INET6, call->nic, at) == 1 ? 0 : -EINVAL;
	if (rc < 0 && inet_pton(AF_INET, call->nic, at + 12) == 1) {
		at[10] = at[11] = 0xff;
		rc = 0;
	}
	if (rc < 0)
		return outcome_bad_word(&call->refusal,
					"--nic needs the address that the NIC has in the capture, "
					"not",
					call->nic);
	rc = read_counters(call->before, &roots[0], &counters[0], &call->refusal);
	if (rc == 0)
		rc = read_counters(call->after, &roots[1], &counters[1], &call->refusal);
	if (rc == 0)
		rc = take(call, counters[0], counters[1]);
	json_decref(roots[0]);
	json_decref(roots[1]);
	return rc;
}

// ---------------------------------------------------------------- beside the capture

static bool is_of_nic(const struct flow_stream *stream, bool is_sent)
{
	return stream->is_used &&
		memcmp(is_sent ? stream->source : stream->target, nic.address, 16) == 0;
}

// Where most of its packets passed: other places have the same ones again.
static uint32_t place_of_nic(const struct flow_report *report)
{
	uint64_t packets[FLOW_PLACES_MAX] = {0};
	uint32_t ret = 0;
	for (uint32_t i = 0; i < report->stream_count; i++) {
		const struct flow_stream *stream = &report->streams[i];
		if (is_of_nic(stream, true) || is_of_nic(stream, false))
			packets[stream->place] += stream->packets;
	}
	for (uint32_t i = 1; i < FLOW_PLACES_MAX; i++)
		ret = packets[i] > packets[ret] ? i : ret;
	return ret;
}

static uint64_t passed(const struct flow_report *report, const struct known *of)
{
	uint64_t sum = 0;
	uint32_t place = place_of_nic(report);
	for (uint32_t i = 0; i < report->stream_count; i++) {
		const struct flow_stream *stream = &report->streams[i];
		const uint64_t figures[] = {[FIGURE_PACKETS] = stream->packets -
						    (of->is_sent ? stream->doubled : 0),
					    [FIGURE_NAKS] = stream->naks,
					    [FIGURE_RNRS] = stream->rnrs,
					    [FIGURE_CNPS] = stream->cnps,
					    [FIGURE_CE] = stream->ce};
		if (stream->place == place && is_of_nic(stream, of->is_sent))
			sum += figures[of->figure];
	}
	return sum;
}

enum state { STATE_AGREES, STATE_MORE, STATE_LESS };

static enum state state_of(int64_t moved, uint64_t here)
{
	return (uint64_t)moved == here	 ? STATE_AGREES
		: (uint64_t)moved > here ? STATE_MORE
					 : STATE_LESS;
}

static const char *reason(enum state state, bool is_sent)
{
	if (state == STATE_MORE)
		return is_sent ? "the tap did not see all that the NIC sent: lost before it, "
				 "missed, or sent outside of the capture"
			       : "the tap did not see all that the NIC got: missed, or outside of "
				 "the capture";
	return is_sent ? "the NIC miscounts: what passed here it has sent"
		       : "lost or dropped between the tap and this counter, or the NIC miscounts";
}

void nic_print(FILE *to, const struct call *call)
{
	static const char *const names[] = {"packets", "NAKs", "RNR NAKs", "CNPs", "CE"};
	uint32_t agree = 0;
	fprintf(to, "\ncounters of %s, %s, beside what passed here\n", nic.device, call->nic);
	for (size_t i = 0; i < KNOWN; i++) {
		uint64_t here = passed(call->report, &known[i]);
		enum state state = state_of(nic.moved[i], here);
		char moved[WORDS_BYTES], seen[WORDS_BYTES];
		agree += nic.has[i] && state == STATE_AGREES;
		if (!nic.has[i] || state == STATE_AGREES)
			continue;
		fprintf(to, "  %s went up by %s, and %s %s %s it passed here: %s\n", known[i].name,
			count_words(moved, (uint64_t)nic.moved[i]), count_words(seen, here),
			names[known[i].figure], known[i].is_sent ? "from" : "to",
			reason(state, known[i].is_sent));
	}
	for (size_t i = 0; i < DROPS; i++)
		if (nic.has_drop[i] && nic.dropped[i] > 0)
			fprintf(to, "  %s went up by %" PRId64 ": the NIC dropped what it got\n",
				drops[i], nic.dropped[i]);
	fprintf(to, "  %" PRIu32 " counter%s\n", agree, agree == 1 ? " agrees" : "s agree");
}

json_t *nic_json(const struct call *call)
{
	static const char *const states[] = {"agrees", "nic_has_more", "nic_has_less"};
	json_t *list = json_array();
	for (size_t i = 0; i < KNOWN; i++) {
		uint64_t here = passed(call->report, &known[i]);
		if (nic.has[i])
			json_array_append_new(list,
					      json_pack("{s:s, s:s, s:I, s:I, s:s}", "device",
							nic.device, "counter", known[i].name,
							"moved", (json_int_t)nic.moved[i], "passed",
							(json_int_t)here, "state",
							states[state_of(nic.moved[i], here)]));
	}
	for (size_t i = 0; i < DROPS; i++)
		if (nic.has_drop[i])
			json_array_append_new(list,
					      json_pack("{s:s, s:s, s:I, s:n, s:s}", "device",
							nic.device, "counter", drops[i], "moved",
							(json_int_t)nic.dropped[i], "passed",
							"state",
							nic.dropped[i] > 0 ? "dropped" : "agrees"));
	return list;
}
