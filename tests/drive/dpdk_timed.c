// SPDX-License-Identifier: Apache-2.0
// Frames that leave at a time which they say, by a clock made here: what stands in the frame as the
// driver gets it, and when the clock is given up. Ring ports give the frame back as it was sent; no
// driver here sends by it: that a NIC does is not tried.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <rte_ethdev.h>

#include <weft/files/files.h>
#include <weft/ports/device.h>
#include <weft/ports/ports.h>

#include "dpdk_ports.h"

#define FRAME_BYTES 2048u
#define MEMORY_BYTES ((size_t)1 << 20)
#define BOUND_NS 1000
#define START_NS INT64_C(5000000000)

static struct ports ports;
static struct dpdk_ports *own;

static int64_t now_ns(void *context)
{
	(void)context;
	return START_NS;
}

static int set_up_all(void **)
{
	static struct arena arena;
	static const struct dpdk_options dpdk = {.lanes = 1};
	const struct device device = {.word = "net_ring0"};
	struct refusal refusal = {0};
	void *memory = memory_reserve(MEMORY_BYTES);
	arena_init(&arena, memory, MEMORY_BYTES);
	ports = (struct ports){.frames = 1024, .frame_bytes_max = FRAME_BYTES};
	if (port_device_open(&ports, &arena, &device, 1, &dpdk, &refusal) < 0) {
		printf("%s\n", refusal.text);
		return -1;
	}
	own = ports.own;
	return 0;
}

// As if its clock counted twice as fast as ours, and showed 1,000 at START_NS.
static void fit(void)
{
	struct clock_reading readings[3];
	for (int i = 0; i < 3; i++) {
		int64_t ns = START_NS + i * 1000000;
		readings[i] = (struct clock_reading){ns, ns, 1000 + 2 * (uint64_t)(ns - START_NS)};
	}
	assert_true(device_clock_fit(&own->timed[0].clock, readings, 3, BOUND_NS));
}

// Sends one, and returns the frame as it comes back.
static struct rte_mbuf *sent_at(ps_t at)
{
	struct frame frame, back;
	assert_true(ports.ops->take(&ports, &frame, 1));
	frame.length = 64;
	frame.at = at;
	assert_int_equal(ports.ops->send(&ports, 0, &frame, 1), 1);
	assert_int_equal(ports.ops->receive(&ports, 0, &back, 1), 1);
	return back.owner;
}

static void give(struct rte_mbuf *mbuf)
{
	void *owner = mbuf;
	ports.ops->give(&ports, &owner, 1);
}

static void a_device_without_it_says_so(void **)
{
	struct device_clock clock;
	assert_int_equal(port_device_time(&ports, now_ns, NULL), 0);
	assert_string_equal(port_device_untimed(&ports, 0, &clock),
			    "net_ring sends nothing at a given time");
	struct rte_mbuf *mbuf = sent_at(77);
	assert_int_equal(mbuf->ol_flags & own->timed_field.flag, 0);
	give(mbuf);
}

static void the_offload_is_asked_for_where_it_is(void **)
{
	struct timed timed;
	assert_int_equal(timed_offload(&timed, "net_x", RTE_ETH_TX_OFFLOAD_UDP_CKSUM), 0);
	assert_string_equal(timed.why_not, "net_x sends nothing at a given time");
	assert_int_equal(
		timed_offload(&timed, "net_x",
			      RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP | RTE_ETH_TX_OFFLOAD_UDP_CKSUM),
		RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP);
	assert_false(timed.is_on); // its clock was not read
	assert_string_equal(timed.why_not, "the clock of the device was not read");
}

// A device that has the offload, and no clock: net_ring's cannot be read.
static void a_clock_that_cannot_be_read_is_not_used(void **)
{
	struct device_clock clock;
	own->timed[0].is_asked = true;
	assert_int_equal(port_device_time(&ports, now_ns, NULL), 0);
	assert_string_equal(port_device_untimed(&ports, 0, &clock),
			    "the device has no clock to read");
	own->timed[0].is_asked = false;
}

static void frames_carry_times_of_the_devices_clock(void **)
{
	fit();
	assert_int_equal(
		rte_mbuf_dyn_tx_timestamp_register(&own->timed_field.at, &own->timed_field.flag),
		0);
	own->has_timed = own->timed[0].is_on = true;
	ports.start_ns = START_NS + 500;
	struct rte_mbuf *mbuf = sent_at(250 * PS_PER_NS);
	assert_int_not_equal(mbuf->ol_flags & own->timed_field.flag, 0);
	assert_int_equal(*RTE_MBUF_DYNFIELD(mbuf, own->timed_field.at, rte_mbuf_timestamp_t *),
			 1000 + 2 * 750);
	give(mbuf);
	mbuf = sent_at(0); // at once
	assert_int_equal(mbuf->ol_flags & own->timed_field.flag, 0);
	give(mbuf);
	own->timed[0].is_on = false; // its clock went astray
	mbuf = sent_at(250 * PS_PER_NS);
	assert_int_equal(mbuf->ol_flags & own->timed_field.flag, 0);
	give(mbuf);
}
