// SPDX-License-Identifier: Apache-2.0
// Packets of a world as frames and back: room wire with the world's sizes and addresses, and the
// payload's pattern. Works on plain memory; knows no port.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/measure/measure_seen.h>
#include <weft/ports/device.h>
#include <weft/ports/ports.h>
#include <weft/wire/wire.h>
#include <weft/world/world.h>

struct codec {
	const struct ports_options *ports; // who has the payload's bytes; NULL: the pattern
	struct wire_config nic;		   // what NICs build and parse
	struct wire_config in_switch;	   // the same, but a switch does not look at the ICRC
	uint32_t frame_bytes_max;	   // longest frame of the world
};

// The codec of a world. -EINVAL when its packets cannot be distinguished as frames (too many NICs
// or planes for the addresses).
int codec_init(struct codec *ret, const struct world *world, struct refusal *refusal);

// Draws what hosts `first` to `first` + `count` - 1 see of others as frames. -ENOMEM.
int codec_seen(const struct codec *codec, const struct world *world, uint32_t first, uint32_t count,
	       struct seen *ret);

// What of the frames that come by a wire is for a port of a NIC.
struct device_filter codec_filter(const struct codec *codec, uint32_t nic, uint8_t plane);

// Writes the frame of a packet that a NIC sends, payload included, into `frame_bytes_max` bytes.
// Returns its length.
uint32_t codec_write(const struct codec *codec, const struct packet *packet, void *frame);

// The same for a payload that stays where it is (ports->find): headers, and behind them what goes
// behind the payload. 0: it has to be copied.
uint32_t codec_write_apart(const struct codec *codec, const struct packet *packet, void *frame,
			   const uint8_t **ret_payload, struct wire_view *ret_view);

// As codec_write() without the payload's bytes (they stay as they are) and without ICRC: what a
// capture of headers needs. `ret_view` says where things stand.
uint32_t codec_write_headers(const struct codec *codec, const struct packet *packet, void *frame,
			     struct wire_view *ret_view);

// Damages a frame that is on its way so that the NIC that gets it will find it; see wire_damage().
void codec_damage(const struct codec *codec, bool is_last_hop, uint64_t dice, uint8_t *frame,
		  uint32_t bytes);
