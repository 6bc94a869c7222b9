// SPDX-License-Identifier: Apache-2.0
// What is counted of every frame: what it is, and whether stamps and bytes can be trusted.

#include "sequence.h"

#define SYNDROME_RNR 1
#define SYNDROME_NAK 3

static void take_stamp(struct flow *flow, const struct flow_packet *packet)
{
	struct flow_totals *totals = &flow->report.totals;
	if (!packet->has_time) {
		totals->untimed++;
		return;
	}
	if (totals->granularity_ns == 0)
		totals->granularity_ns = 1000000000;
	while (totals->granularity_ns > 1 && packet->at_ns % totals->granularity_ns != 0)
		totals->granularity_ns /= 10;
	if (!flow->has_last) {
		flow->has_last = true;
		totals->first_ns = totals->last_ns = packet->at_ns;
	} else if (packet->at_ns == flow->last_ns) {
		totals->same_stamp++;
	} else if (packet->at_ns < flow->last_ns) {
		totals->backward++;
		if (flow->last_ns - packet->at_ns > totals->backward_max_ns)
			totals->backward_max_ns = flow->last_ns - packet->at_ns;
	}
	flow->last_ns = packet->at_ns;
	if (packet->at_ns < totals->first_ns)
		totals->first_ns = packet->at_ns;
	if (packet->at_ns > totals->last_ns)
		totals->last_ns = packet->at_ns;
}

__attribute__((cold, noinline)) static void take_pause(struct flow_totals *totals,
						       const struct wire_record *record)
{
	if (record->pause_priorities == 0xff && record->pause_quanta[1] == 0) {
		bool is_global = record->pause_quanta[0] != 0;
		totals->pauses += is_global;
		totals->resumes += !is_global;
		totals->pauses_by_priority[8] += is_global;
		return;
	}
	bool pauses = false;
	for (int i = 0; i < 8; i++) {
		bool is_paused = record->pause_priorities & 1 << i && record->pause_quanta[i] != 0;
		totals->pauses_by_priority[i] += is_paused;
		pauses |= is_paused;
	}
	totals->pauses += pauses;
	totals->resumes += !pauses;
}

static void take_syndrome(struct flow_totals *totals, uint8_t syndrome)
{
	uint8_t kind = syndrome >> 5 & 3;
	totals->positive += kind == 0;
	totals->rnr += kind == SYNDROME_RNR;
	totals->nak += kind == SYNDROME_NAK;
	if (kind == SYNDROME_NAK)
		totals->nak_codes[syndrome & 31]++;
}

static void take_class(struct flow_class *class, const struct wire_record *record)
{
	class->packets++;
	class->bytes += record->original;
	class->ect += record->ecn == 1 || record->ecn == 2;
	class->ce += record->ecn == 3;
}

#define EV_PROBES 64 // places that are looked at

static uint32_t ev_slot(uint32_t ev)
{
	return ((ev >> 3) * UINT32_C(0x9e3779b1) >> 16 & ~7u) | (ev & 7); // one line for 8
}

const struct flow_ev *totals_ev(const struct flow_totals *totals, uint32_t ev)
{
	return &totals->evs[ev_slot(ev) % FLOW_EVS];
}

static void take_ev(struct flow_totals *totals, uint32_t ev)
{
	uint32_t at = ev_slot(ev);
	for (uint32_t i = 0; i < EV_PROBES; i++, at++) {
		struct flow_ev *slot = &totals->evs[at % FLOW_EVS];
		if (slot->packets == 0 || slot->ev == ev) {
			slot->ev = ev;
			slot->packets++;
			return;
		}
	}
	totals->evs_left_out++;
}

#define UNTAGGED 8 // in place of a priority

struct flow_class *totals_class(struct flow *flow, const struct wire_record *record)
{
	bool is_tagged = record->layers & WIRE_LAYER_VLAN;
	return &flow->classes[is_tagged ? record->vlan >> 13 : UNTAGGED][record->dscp];
}

void totals_take_data(struct flow *flow, const struct flow_packet *packet, bool is_again)
{
	struct flow_totals *totals = &flow->report.totals;
	const struct wire_record *record = packet->record;
	struct flow_class *class = totals_class(flow, record);
	class->data++;
	class->again += is_again;
	class->trims += record->is_trimmed;
	if (is_again || record->is_rtx)
		return;
	bool is_mrc = record->found == WIRE_FOUND_MRC;
	take_ev(totals, is_mrc ? record->ev : record->source_port);
	totals->source_ports[record->source_port]++;
	bool has_plane = is_mrc && flow->plane >= 0 && flow->plane < FLOW_PLANES;
	if (has_plane)
		totals->planes[flow->plane]++;
	totals->planes_left_out += is_mrc && !has_plane;
}

static void take_bth(struct flow *flow, const struct flow_packet *packet)
{
	struct flow_totals *totals = &flow->report.totals;
	const struct wire_record *record = packet->record;
	totals->bth++;
	totals->opcodes[record->found][record->opcode]++;
	totals->icrc[record->icrc]++;
	if (record->icrc == WIRE_ICRC_BAD && totals->first_bad_icrc == 0)
		totals->first_bad_icrc = packet->number;
	if (record->layers & (WIRE_LAYER_IPV4 | WIRE_LAYER_IPV6)) {
		totals->ecn[record->ecn]++;
		take_class(totals_class(flow, record), record);
		uint64_t bit = UINT64_C(1) << (record->source_port % 64);
		uint64_t *word = &totals->udp_ports[record->source_port / 64];
		totals->udp_source_ports += !(*word & bit);
		*word |= bit;
	}
	if (record->layers & WIRE_LAYER_AETH)
		take_syndrome(totals, record->syndrome);
}

void totals_take(struct flow *flow, const struct flow_packet *packet)
{
	struct flow_totals *totals = &flow->report.totals;
	const struct wire_record *record = packet->record;
	totals->frames++;
	totals->bytes += record->original;
	totals->cut += record->is_cut;
	totals->found[record->found]++;
	totals->found_bytes[record->found] += record->original;
	totals->stopped[record->stopped]++;
	take_stamp(flow, packet);
	if (record->found == WIRE_FOUND_PAUSE)
		take_pause(totals, record);
	if (record->layers & WIRE_LAYER_BTH)
		take_bth(flow, packet);
	else if (record->found == WIRE_FOUND_UET)
		totals->opcodes[WIRE_FOUND_UET][record->opcode]++;
}

static void add_class(struct flow_class *sum, const struct flow_class *class)
{
	sum->packets += class->packets;
	sum->bytes += class->bytes;
	sum->data += class->data;
	sum->again += class->again;
	sum->trims += class->trims;
	sum->ect += class->ect;
	sum->ce += class->ce;
}

// A priority is what switches map to a queue, and what a pause names.
void totals_end(struct flow *flow)
{
	struct flow_totals *totals = &flow->report.totals;
	for (uint32_t tag = 0; tag <= UNTAGGED; tag++)
		for (uint32_t dscp = 0; dscp < 64; dscp++) {
			const struct flow_class *class = &flow->classes[tag][dscp];
			add_class(&totals->dscp[dscp], class);
			add_class(&totals->priority[tag == UNTAGGED ? dscp >> 3 : tag], class);
		}
}
