// SPDX-License-Identifier: Apache-2.0
// Live frames. A port is polled, and what is there at once has one stamp: nothing finer is known.

#include "port.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include <weft/files/clock.h>
#include <weft/run/outcome.h>

#define PORT_FRAMES 4096u
#define LINK_ETHERNET 1
#define IDLE_NS 20000	// between two looks at a port that had nothing
#define IDLE_TRIES 5000 // a tenth of a second

int inlet_open(struct inlet *ret, const struct sniff_choice *choice, struct refusal *refusal)
{
	int rc;
	*ret = (struct inlet){.is_port = one_port_is(choice->device),
			      .snap_bytes = choice->snap_bytes};
	if (!ret->is_port) {
		rc = sniff_open(&ret->sniff, choice, refusal);
		ret->link = ret->sniff.link;
		return rc;
	}
	if (choice->filter != NULL)
		return outcome_bad_line(
			refusal, "--filter is for devices of libpcap, not for a port of DPDK");
	if (choice->is_plain)
		return outcome_bad_line(
			refusal,
			"--not-promiscuous is for devices of libpcap, not for a port of DPDK");
	ret->link = LINK_ETHERNET;
	return one_port_open(&ret->port, choice->device, false, PORT_FRAMES, refusal);
}

static void give_back(struct inlet *inlet)
{
	void *owners[PORT_BURST];
	for (uint32_t i = 0; i < inlet->burst_count; i++)
		owners[i] = inlet->burst[i].owner;
	if (inlet->burst_count > 0)
		inlet->port.ports.ops->give(&inlet->port.ports, owners, inlet->burst_count);
	inlet->burst_count = inlet->burst_at = 0;
}

static void take_burst(struct inlet *inlet, int tries)
{
	struct ports *ports = &inlet->port.ports;
	for (int i = 0; inlet->burst_count == 0 && i < tries; i++) {
		inlet->burst_count = ports->ops->receive(ports, 0, inlet->burst, PORT_BURST);
		if (inlet->burst_count == 0)
			nap(IDLE_NS);
	}
	inlet->burst_ns = clock_ns(CLOCK_REALTIME);
}

int inlet_next(struct inlet *inlet, struct sniff_frame *ret)
{
	if (!inlet->is_port) {
		int rc = sniff_next(&inlet->sniff, ret);
		if (rc < 0)
			memcpy(inlet->why, inlet->sniff.why, sizeof(inlet->why));
		return rc;
	}
	if (inlet->burst_at == inlet->burst_count) {
		give_back(inlet);
		take_burst(inlet, IDLE_TRIES);
		bool is_gone = inlet->burst_count == 0 && one_port_is_gone(&inlet->port);
		if (is_gone)
			take_burst(inlet, 1); // what it sent since that look
		if (inlet->burst_count == 0 && is_gone) {
			strcpy(inlet->why, "the other end of the shared memory has ended");
			return -EIO;
		}
		if (inlet->burst_count == 0)
			return 0;
	}
	const struct frame *frame = &inlet->burst[inlet->burst_at++];
	bool is_cut = frame->length > inlet->snap_bytes;
	*ret = (struct sniff_frame){.bytes = frame->bytes,
				    .captured = is_cut ? inlet->snap_bytes : frame->length,
				    .original = frame->length,
				    .at_ns = inlet->burst_ns};
	return 1;
}

void inlet_counts(const struct inlet *inlet, uint64_t *ret_received, uint64_t *ret_dropped)
{
	struct port_counts counts = {0};
	if (!inlet->is_port) {
		sniff_counts(&inlet->sniff, ret_received, ret_dropped);
		return;
	}
	inlet->port.ports.ops->count(&inlet->port.ports, &counts);
	*ret_received = counts.received;
	*ret_dropped = counts.missed;
}

void inlet_close(struct inlet *inlet)
{
	if (!inlet->is_port && inlet->sniff.handle != NULL)
		sniff_close(&inlet->sniff);
	if (!inlet->is_port)
		return;
	give_back(inlet);
	one_port_close(&inlet->port);
}
