// SPDX-License-Identifier: Apache-2.0
// Two MRC adapters in one program: 10 MB of WRITE_WITH_IMM from one to the other, over wires in
// memory that lose, trim, mark and reorder frames; one of them goes dark for a while, and both
// programs see that. At the end every byte is compared. How to build
// it, and what a program with real lines does otherwise: use-the-endpoint.md beside this file.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/adapter/adapter.h>

#define MESSAGES 10
#define MESSAGE_BYTES 1000000u
#define RKEY 7u
#define VA 0x10000u // what the sender calls the first byte of the target's memory
#define IN_FLIGHT 4096
#define FRAME_BYTES 5000
#define DARK_FROM (100 * PS_PER_US)
#define DARK_UNTIL (300 * PS_PER_US)
#define DARK_PLANE 1u
#define SEEN_AFTER (10 * PS_PER_US) // a real NIC's word for this takes longer

// --- Wires: what is on its way, in no order.

struct frame {
	ps_t at; // when it is there
	int to;
	size_t bytes;
	uint8_t data[FRAME_BYTES];
};

struct wires {
	struct wire_config look; // how a switch looks at frames
	struct frame *frames;
	int count;
	uint64_t dice;
	uint64_t lost, trimmed, marked;
	uint64_t dark; // lost because the wire was
};

static uint32_t roll(struct wires *wires, uint32_t sides)
{
	wires->dice = wires->dice * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(wires->dice >> 33) % sides;
}

// What a switch with a full queue does to a frame: marks it, or cuts off its payload.
static size_t pass_switch(struct wires *wires, void *frame, size_t bytes)
{
	struct packet packet;
	struct wire_view view;
	if (wire_parse(&wires->look, frame, bytes, &packet, &view) != WIRE_FINE)
		return bytes;
	packet.hop++;
	if ((packet.flags & PACKET_ECT) && roll(wires, 50) == 0) {
		packet.flags |= PACKET_CE;
		wires->marked++;
	}
	if ((packet.flags & PACKET_TRIMMABLE) && roll(wires, 50) == 0) {
		packet.flags |= PACKET_TRIMMED;
		packet.klass = PACKET_CLASS_CONTROL;
		packet.payload_bytes = 0;
		wires->trimmed++;
	}
	return wire_patch(&wires->look, &packet, frame, &view);
}

// A frame whose last bit has left at `now`. It takes 1 to 5 us, so others overtake it.
static void carry(struct wires *wires, int to, const void *data, size_t bytes, ps_t now)
{
	if (roll(wires, 50) == 0 || wires->count == IN_FLIGHT) {
		wires->lost++;
		return;
	}
	struct frame *frame = &wires->frames[wires->count++];
	memcpy(frame->data, data, bytes);
	frame->bytes = pass_switch(wires, frame->data, bytes);
	frame->to = to;
	frame->at = now + PS_PER_US + roll(wires, 4000) * PS_PER_NS;
}

// --- A program's two ends of the wire.

static bool is_light(uint32_t plane, ps_t at)
{
	return plane != DARK_PLANE || at < DARK_FROM || at >= DARK_UNTIL;
}

// What a program hears from its port's driver, a little late. To say again what is known is fine.
static void look_at_ports(struct adapter *adapter, ps_t now)
{
	adapter_port(adapter, DARK_PLANE, is_light(DARK_PLANE, now - SEEN_AFTER), now);
}

// Lets each line that is free send what there is.
static void send_frames(struct adapter *adapter, uint32_t planes, int to, struct wires *wires,
			ps_t now)
{
	uint8_t frame[FRAME_BYTES];
	for (uint32_t plane = 0; plane < planes; plane++) {
		while (adapter_free_at(adapter, plane) <= now) {
			int bytes = adapter_pull(adapter, plane, frame, sizeof(frame), now);
			if (bytes <= 0)
				break;
			if (is_light(plane, now))
				carry(wires, to, frame, (size_t)bytes,
				      adapter_free_at(adapter, plane));
			else
				wires->dark++;
		}
	}
}

// Feeds what has come by now.
static void receive_frames(struct adapter **adapters, struct wires *wires, ps_t now)
{
	for (int i = 0; i < wires->count;) {
		struct frame *frame = &wires->frames[i];
		if (frame->at > now) {
			i++;
			continue;
		}
		adapter_feed(adapters[frame->to], frame->data, frame->bytes, now);
		*frame = wires->frames[--wires->count];
	}
}

// Takes completions; returns how many messages were received, all in the order of their posts.
static int take_completions(struct adapter *adapter, uint32_t *next_imm)
{
	struct completion done[16];
	uint32_t count;
	int received = 0;
	while ((count = adapter_poll(adapter, done, 16)) > 0) {
		for (uint32_t i = 0; i < count; i++) {
			if (done[i].kind == COMPLETION_FLUSHED) {
				fprintf(stderr, "the peer does not answer\n");
				exit(1);
			}
			if (done[i].kind == COMPLETION_RECEIVED && done[i].imm == *next_imm) {
				++*next_imm;
				received++;
			}
		}
	}
	return received;
}

// When there is something to do again.
static ps_t next_at(struct adapter **adapters, const struct wires *wires, ps_t now)
{
	ps_t at = ps_min(adapter_next_at(adapters[0], now), adapter_next_at(adapters[1], now));
	for (int i = 0; i < wires->count; i++)
		at = ps_min(at, wires->frames[i].at);
	if (now < DARK_FROM + SEEN_AFTER) // the programs look at their ports then
		at = ps_min(at, DARK_FROM + SEEN_AFTER);
	else if (now < DARK_UNTIL + SEEN_AFTER)
		at = ps_min(at, DARK_UNTIL + SEEN_AFTER);
	return at;
}

// The adapter's memory is ours, to be freed when it is not used any more.
static struct adapter *make(struct adapter_config *config, uint32_t nic, void **ret_memory)
{
	struct adapter *adapter;
	struct refusal refusal;
	config->nic = nic;
	size_t bytes = adapter_bytes(config, &refusal);
	size_t rounded = (bytes + ADAPTER_ALIGN - 1) / ADAPTER_ALIGN * ADAPTER_ALIGN;
	void *memory = bytes == 0 ? NULL : aligned_alloc(ADAPTER_ALIGN, rounded);
	if (memory == NULL || adapter_create(&adapter, memory, rounded, config, &refusal) != 0) {
		fprintf(stderr, "no adapter: %s\n", bytes == 0 ? refusal.text : "no memory");
		exit(1);
	}
	*ret_memory = memory;
	return adapter;
}

// Connects the first QPs of two adapters. What they exchange would travel over a socket.
static uint32_t join(struct adapter **adapters)
{
	struct adapter_exchange exchanges[2];
	uint32_t qpns[2];
	struct refusal refusal;
	for (int i = 0; i < 2; i++)
		adapter_open(adapters[i], &qpns[i], &exchanges[i]);
	for (int i = 0; i < 2; i++) {
		if (adapter_connect(adapters[i], qpns[i], &exchanges[1 - i], 0, &refusal) != 0) {
			fprintf(stderr, "not connected: %s\n", refusal.text);
			exit(1);
		}
	}
	return qpns[0];
}

static void post_all(struct adapter *adapter, uint32_t qpn, const uint8_t *from)
{
	for (uint32_t i = 0; i < MESSAGES; i++) {
		struct adapter_write write = {
			.local = from + (size_t)i * MESSAGE_BYTES,
			.bytes = MESSAGE_BYTES,
			.rkey = RKEY,
			.va = VA + (uint64_t)i * MESSAGE_BYTES,
			.cookie = i,
			.imm = i,
			.has_imm = true,
		};
		if (adapter_post(adapter, qpn, &write, 0) != 0)
			exit(1);
	}
}

static void print_counters(struct adapter **adapters, const struct wires *wires, ps_t now)
{
	const struct adapter_counters *sent = adapter_counters(adapters[0]);
	const struct adapter_counters *received = adapter_counters(adapters[1]);
	const struct transport_counters *from = adapter_transport(adapters[0]);
	const struct transport_counters *to = adapter_transport(adapters[1]);
	printf("time             %lld us\n", (long long)(now / PS_PER_US));
	printf("frames           %llu sent, %llu received\n",
	       (unsigned long long)sent->frames_pulled, (unsigned long long)received->frames_fed);
	printf("wires            %llu lost, %llu trimmed, %llu marked\n",
	       (unsigned long long)wires->lost, (unsigned long long)wires->trimmed,
	       (unsigned long long)wires->marked);
	printf("a port down      %llu frames lost; requests %llu and %llu\n",
	       (unsigned long long)wires->dark, (unsigned long long)from->requests_sent,
	       (unsigned long long)to->requests_sent);
	printf("retransmitted    %llu after NACKs, %llu after timeouts\n",
	       (unsigned long long)from->rtx[RTX_NACK], (unsigned long long)from->rtx[RTX_TIMEOUT]);
	printf("SACKs and NACKs  %llu and %llu\n", (unsigned long long)to->sacks_sent,
	       (unsigned long long)to->nacks_sent);
	printf("placed           %llu bytes\n", (unsigned long long)received->bytes_placed);
}

int main(void)
{
	struct adapter_config config;
	struct adapter *adapters[2];
	void *memories[2];
	struct wires wires = {.dice = 1};
	ps_t now = 0;
	uint32_t next_imm = 0;
	int received = 0;

	adapter_config_default(&config);
	for (uint32_t i = 0; i < 2; i++)
		adapters[i] = make(&config, i, &memories[i]);
	wires.look = config.wire;
	wires.look.icrc_unchecked = true; // switches do not look at the payload
	wires.frames = malloc(IN_FLIGHT * sizeof(*wires.frames));

	uint8_t *from = malloc((size_t)MESSAGES * MESSAGE_BYTES);
	uint8_t *to = calloc(MESSAGES, MESSAGE_BYTES);
	if (wires.frames == NULL || from == NULL || to == NULL)
		return 1;
	for (size_t i = 0; i < (size_t)MESSAGES * MESSAGE_BYTES; i++)
		from[i] = (uint8_t)roll(&wires, 256);

	if (adapter_register(adapters[1], RKEY, to, VA, (uint64_t)MESSAGES * MESSAGE_BYTES) != 0)
		return 1;
	post_all(adapters[0], join(adapters), from);

	while (now != PS_NEVER && received < MESSAGES) {
		for (int i = 0; i < 2; i++)
			send_frames(adapters[i], config.transport.planes, 1 - i, &wires, now);
		now = next_at(adapters, &wires, now); // with real lines: wait, and read the clock
		receive_frames(adapters, &wires, now);
		for (int i = 0; i < 2; i++) {
			look_at_ports(adapters[i], now);
			adapter_on_time(adapters[i], now);
			received += take_completions(adapters[i], &next_imm);
		}
	}

	print_counters(adapters, &wires, now);
	bool is_same = memcmp(from, to, (size_t)MESSAGES * MESSAGE_BYTES) == 0;
	printf("messages         %d of %d, in order; bytes %s\n", received, MESSAGES,
	       is_same ? "all the same" : "DIFFERENT");
	for (int i = 0; i < 2; i++)
		free(memories[i]);
	free(wires.frames);
	free(from);
	free(to);
	return is_same && received == MESSAGES ? 0 : 1;
}
