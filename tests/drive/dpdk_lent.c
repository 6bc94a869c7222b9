// SPDX-License-Identifier: Apache-2.0
// Frames whose payload stays where it is. A ring port gives the buffers back as they were sent, and
// holds them until then, as a NIC does that is slow: a repeat that is sent meanwhile changes
// nothing of them, and memory is recalled when nobody reads it any more.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <rte_ethdev.h>

#include <weft/files/files.h>
#include <weft/ports/codec.h>
#include <weft/ports/device.h>
#include <weft/wire/wire_apart.h>

#include "dpdk_ports.h"

#define FRAME_BYTES 2048u
#define MEMORY_BYTES ((size_t)2 << 20)
#define LENT_BYTES 65536u
#define LOANS 8u
#define PAYLOAD 1024u

static struct ports ports;
static struct dpdk_ports *own;
static uint8_t *lent;
static struct wire_config config;

static int set_up_all(void **)
{
	static struct arena arena;
	static const struct dpdk_options dpdk = {.lanes = 1};
	const struct device device = {.word = "net_ring0"};
	struct refusal refusal = {0};
	arena_init(&arena, memory_reserve(MEMORY_BYTES), MEMORY_BYTES);
	ports = (struct ports){.frames = 1024, .frame_bytes_max = FRAME_BYTES, .loans = LOANS};
	if (port_device_open(&ports, &arena, &device, 1, &dpdk, &refusal) < 0) {
		printf("%s\n", refusal.text);
		return -1;
	}
	own = ports.own;
	lent = memory_reserve(LENT_BYTES);
	for (uint32_t i = 0; i < LENT_BYTES; i++)
		lent[i] = (uint8_t)(i * 7 + i / 256);
	wire_config_default(6, &config);
	return 0;
}

// net_ring hands buffers to whoever receives, so the lending is asked for as if it were af_packet.
static void begin(void)
{
	char why[DEVICE_WHY_BYTES];
	own->reads_all = true;
	assert_true(port_device_lend(&ports, lent, LENT_BYTES, why));
	assert_non_null(ports.ops->lend);
}

static uint16_t readers(void)
{
	return (uint16_t)(rte_mbuf_ext_refcnt_read(&own->readers) - 1);
}

static uint32_t seal_whole(const struct packet *packet, const uint8_t *payload, uint8_t *ret)
{
	struct wire_view view;
	uint32_t bytes = (uint32_t)wire_build(&config, packet, ret, FRAME_BYTES, &view);
	memcpy(ret + view.payload_at, payload, packet->payload_bytes);
	wire_seal(ret, &view);
	return bytes;
}

static bool send_lent(const struct packet *packet, const uint8_t *payload)
{
	struct frame frame;
	struct wire_view view;
	assert_true(ports.ops->take(&ports, &frame, 1));
	frame.at = 0;
	frame.length = (uint32_t)wire_build(&config, packet, frame.bytes, FRAME_BYTES, &view);
	assert_int_equal(wire_seal_apart(frame.bytes, &view, payload),
			 frame.length - view.payload_at - view.payload_bytes);
	if (!ports.ops->lend(&ports, &frame, view.payload_at, payload, view.payload_bytes)) {
		ports.ops->give(&ports, &frame.owner, 1);
		return false;
	}
	assert_int_equal(ports.ops->send(&ports, 0, &frame, 1), 1);
	return true;
}

// The next frame that comes, all of its buffers one behind the other.
static struct rte_mbuf *receive(uint8_t *ret, uint32_t *ret_bytes)
{
	struct frame frame;
	assert_int_equal(ports.ops->receive(&ports, 0, &frame, 1), 1);
	struct rte_mbuf *mbuf = frame.owner;
	*ret_bytes = mbuf->pkt_len;
	const uint8_t *all = rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, ret);
	assert_ptr_equal(all, ret); // in more than one
	return mbuf;
}

static void give(struct rte_mbuf *mbuf)
{
	void *owner = mbuf;
	ports.ops->give(&ports, &owner, 1);
}

static struct packet packet_of(uint32_t psn, uint16_t bytes)
{
	return (struct packet){.opcode = PACKET_WRITE_MIDDLE,
			       .source = 1,
			       .target = 2,
			       .qpn = 3,
			       .psn = psn,
			       .payload_bytes = bytes,
			       .u.data = {.rkey = 5, .va = 4096}};
}

// Byte for byte, and the payload's buffer is the memory itself.
static void a_frame_in_parts_is_the_whole_frame(void **)
{
	static uint8_t whole[FRAME_BYTES], parts[FRAME_BYTES];
	begin();
	for (uint16_t bytes = PAYLOAD; bytes > PAYLOAD - 5; bytes--) { // and each padding
		struct packet packet = packet_of(9, bytes);
		const uint8_t *payload = lent + 3 * bytes;
		uint32_t length = seal_whole(&packet, payload, whole), came;
		assert_true(send_lent(&packet, payload));
		assert_int_equal(readers(), 1);
		struct rte_mbuf *mbuf = receive(parts, &came);
		assert_int_equal(came, length);
		assert_memory_equal(parts, whole, length);
		assert_int_equal(mbuf->nb_segs, 3);
		assert_ptr_equal(rte_pktmbuf_mtod(mbuf->next, uint8_t *), payload);
		give(mbuf);
		assert_int_equal(readers(), 0);
	}
	port_device_recall(&ports);
}

static void a_repeat_changes_nothing_that_is_still_read(void **)
{
	static uint8_t whole[2][FRAME_BYTES], came[FRAME_BYTES];
	struct packet first = packet_of(9, PAYLOAD), again = first;
	uint32_t length[2], bytes;
	again.ev = 77;
	again.plane = 1;
	begin();
	length[0] = seal_whole(&first, lent, whole[0]);
	length[1] = seal_whole(&again, lent, whole[1]);
	assert_memory_not_equal(whole[0], whole[1], length[0]);
	assert_true(send_lent(&first, lent)); // the port has it
	assert_true(send_lent(&again, lent));
	assert_int_equal(readers(), 2);
	for (int i = 0; i < 2; i++) {
		struct rte_mbuf *mbuf = receive(came, &bytes);
		assert_int_equal(bytes, length[i]);
		assert_memory_equal(came, whole[i], bytes);
		give(mbuf);
	}
	assert_int_equal(readers(), 0);
	port_device_recall(&ports);
}

// What no buffer is left for is copied: nothing is sent, nothing stays counted.
static void no_more_is_lent_than_there_are_buffers(void **)
{
	static uint8_t came[FRAME_BYTES];
	struct packet packet = packet_of(9, PAYLOAD);
	uint32_t sent = 0, bytes;
	begin();
	uint32_t taken = ports.ops->taken(&ports);
	while (send_lent(&packet, lent))
		sent++;
	assert_in_range(sent, LOANS, 1000);
	assert_int_equal(readers(), sent);
	for (uint32_t i = 0; i < sent; i++)
		give(receive(came, &bytes));
	assert_int_equal(readers(), 0);
	assert_int_equal(ports.ops->taken(&ports), taken);
	port_device_recall(&ports);
	assert_null(own->lent);
}

// A driver that sends from memory of DPDK alone gets copies, and says so.
static void who_cannot_read_it_gets_copies(void **)
{
	char why[DEVICE_WHY_BYTES];
	own->reads_all = false;
	assert_false(port_device_lend(&ports, lent, LENT_BYTES, why));
	assert_string_equal(why, "net_ring sends from memory of DPDK alone");
	assert_null(own->lent);
}
