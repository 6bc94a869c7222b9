// SPDX-License-Identifier: Apache-2.0
// Packets of a world as frames.

#include <weft/ports/codec.h>

#include <errno.h>
#include <string.h>

#include <weft/ports/payload.h>
#include <weft/wire/wire_apart.h>
#include <weft/wire/wire_neighbour.h>

// The sizes that the scenario charges hold on frames, too.
static void take_scenario(struct wire_config *config, const struct world *world)
{
	const struct frames_config *frames = &world->scenario->frames;
	config->port = frames->udp_port;
	config->entropy = (uint8_t)frames->entropy;
	config->ev_place = frames->ev_place;
	config->srv6.t0_nics = world->topology.t0_nics;
	config->srv6.has_srh = frames->has_srh;
	config->follows_usids = world->fabric.forwarding == FABRIC_USID;
	config->has_tseth = true; // round trips are measured with it
	config->trim_rewrites_lengths = frames->trim_rewrites_lengths;
	config->has_udp_checksum = frames->has_udp_checksum;
	config->has_ids = frames->has_identification;
	config->qpn_key = frames->is_qpn_drawn
		? rng_mix(world->scenario->seed ^ UINT64_C(0x51504e)) | 1
		: 0;
	config->has_solicited = frames->has_solicited;
	config->se_low = frames->is_se_low;
	static_assert(FRAMES_CLASSES == WIRE_CLASS_COUNT, "a value for each");
	memcpy(config->dscp, frames->dscp, sizeof(config->dscp));
	config->full_payload_bytes = (uint16_t)world->transport.payload_bytes;
	if (world->transport.kind == TRANSPORT_RC) { // RoCEv2 is where MRC may be, or may not
		config->port = WIRE_PORT;
		config->takes_requests = true; // to answer them
		if (scenario_evs_are_ports(world->scenario))
			config->entropy = WIRE_ENTROPY_PORT;
	}
	config->charged_header_bytes = (uint16_t)world->transport.header_bytes;
	config->charged_control_bytes = (uint16_t)world->transport.control_bytes;
	config->charged_trimmed_bytes = (uint16_t)world->fabric.trim_bytes;
}

int codec_init(struct codec *ret, const struct world *world, struct refusal *refusal)
{
	struct codec codec = {0};
	wire_config_default(world->scenario->frames.ip_version, &codec.nic);
	take_scenario(&codec.nic, world);
	int rc = wire_config_check(&codec.nic, refusal);
	if (rc < 0)
		return rc;
	if (world->fabric.nics > wire_nics_max(&codec.nic) ||
	    world->fabric.planes > wire_planes_max(&codec.nic))
		return refuse(refusal, -EINVAL,
			      "wire.ip 4 has addresses for % NICs in % planes; wire.ip 6 has more",
			      wire_nics_max(&codec.nic), wire_planes_max(&codec.nic));
	codec.in_switch = codec.nic;
	codec.in_switch.icrc_unchecked = true;
	struct packet largest = {.opcode = PACKET_WRITE_ONLY_IMM,
				 .target = world->fabric.nics - 1, // SRv6: the longest way
				 .payload_bytes = (uint16_t)world->transport.payload_bytes};
	codec.frame_bytes_max = (uint32_t)wire_frame_bytes(&codec.nic, &largest);
	*ret = codec;
	return 0;
}

uint32_t codec_write_headers(const struct codec *codec, const struct packet *packet, void *frame,
			     struct wire_view *ret_view)
{
	return (uint32_t)wire_build(&codec->nic, packet, frame, codec->frame_bytes_max, ret_view);
}

void codec_damage(const struct codec *codec, bool is_last_hop, uint64_t dice, uint8_t *frame,
		  uint32_t bytes)
{
	struct packet packet;
	struct wire_view view;
	enum wire_reason reason = wire_parse(&codec->in_switch, frame, bytes, &packet, &view);
	check(reason == WIRE_FINE); // what could not be read any more was not sent on
	wire_damage(frame, &view, is_last_hop, dice);
}

static struct dma_write where_of(const struct packet *packet, uint32_t bytes)
{
	const struct packet_data *data = &packet->u.data;
	return (struct dma_write){.nic = packet->target,
				  .qp = packet->qpn,
				  .rkey = data->rkey,
				  .bytes = bytes,
				  .va = data->va};
}

static void fill(const struct codec *codec, const struct packet *packet, uint8_t *ret,
		 uint32_t bytes)
{
	const struct packet_data *data = &packet->u.data;
	if (codec->ports == NULL || codec->ports->fill == NULL) {
		struct payload_origin spot = {packet->target, packet->qpn, data->rkey, data->va};
		payload_fill(&spot, ret, bytes);
		return;
	}
	struct dma_write where = where_of(packet, bytes);
	codec->ports->fill(codec->ports->payload_context, &where, ret);
}

uint32_t codec_write(const struct codec *codec, const struct packet *packet, void *frame)
{
	struct wire_view view;
	uint32_t bytes = codec_write_headers(codec, packet, frame, &view);
	if (view.payload_bytes > 0)
		fill(codec, packet, (uint8_t *)frame + view.payload_at, view.payload_bytes);
	wire_seal(frame, &view);
	return bytes;
}

uint32_t codec_write_apart(const struct codec *codec, const struct packet *packet, void *frame,
			   const uint8_t **ret_payload, struct wire_view *ret_view)
{
	const struct ports_options *ports = codec->ports;
	if (ports == NULL || ports->find == NULL || codec->nic.has_udp_checksum ||
	    packet->payload_bytes == 0 || packet->flags & PACKET_TRIMMED)
		return 0;
	struct dma_write where = where_of(packet, packet->payload_bytes);
	*ret_payload = ports->find(ports->payload_context, &where);
	uint32_t bytes = codec_write_headers(codec, packet, frame, ret_view);
	wire_seal_apart(frame, ret_view, *ret_payload);
	return bytes;
}

int codec_seen(const struct codec *codec, const struct world *world, uint32_t first, uint32_t count,
	       struct seen *ret)
{
	const struct wire_config *nic = &codec->nic;
	bool is_short = nic->entropy == WIRE_ENTROPY_PORT ||
		(nic->entropy == WIRE_ENTROPY_STEV && nic->ip_version == 4);
	*ret = (struct seen){.hosts = world->topology.hosts,
			     .host_first = first,
			     .host_count = count,
			     .nics_per_host = world->topology.nics_per_host,
			     .ev_mask = is_short ? UINT16_MAX : UINT32_MAX,
			     .hop_limit = nic->hop_limit};
	return seen_init(ret, world->arena,
			 2ull * world->transport.ev_count * world->fabric.planes);
}

struct device_filter codec_filter(const struct codec *codec, uint32_t nic, uint8_t plane)
{
	struct device_filter filter = {.udp_port = codec->nic.port,
				       .is_v4 = codec->nic.ip_version == 4,
				       .is_tunnelled = codec->nic.entropy == WIRE_ENTROPY_SRV6};
	wire_address(&codec->nic, nic, plane, filter.address);
	return filter;
}
