// SPDX-License-Identifier: Apache-2.0
// Frames of captures that others made, read by tshark and by our own reader and dissector: each
// field of each frame is the same. What differs is in a table with its frames and the reason;
// a row that no frame needs any more fails, too. Of the broken captures each one with a row and
// each sixth, or all with WEFT_DISSECT_ALL. Skipped where tshark or the captures are not here.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <unistd.h>

#include <cmocka.h>

#include <weft/capture/capture_gunzip.h>
#include <weft/capture/capture_reader.h>
#include <weft/core/check.h>
#include <weft/wire/wire_dissect.h>

#define SKIPPED 77
#define FILES_MAX 256
#define TEXT_BYTES 64

#define NOT_ASKED "-" // a value that tshark's is not held against

struct seen {
	const struct capture_frame *frame;
	const struct wire_record *record;
	uint16_t link;
};

// A value as tshark prints it into `ret`, empty: we say nothing of it.
typedef void value_fn(char ret[TEXT_BYTES], const struct seen *seen);

static bool has(const struct seen *seen, uint16_t layer)
{
	return seen->record->layers & layer;
}

// tshark knows no header of MRC behind the BTH.
static bool has_known(const struct seen *seen, uint16_t layer)
{
	return has(seen, layer) && seen->record->found != WIRE_FOUND_MRC;
}

static void put(char ret[TEXT_BYTES], bool is_there, const char *format, uint64_t value)
{
	if (is_there)
		snprintf(ret, TEXT_BYTES, format, value);
}

static void put_mac(char ret[TEXT_BYTES], const struct seen *seen, uint64_t mac)
{
	if (seen->link != WIRE_LINK_ETHERNET || seen->frame->captured < 12)
		strcpy(ret, NOT_ASKED);
	else
		snprintf(ret, TEXT_BYTES, "%02x:%02x:%02x:%02x:%02x:%02x",
			 (unsigned)(mac >> 40 & 255), (unsigned)(mac >> 32 & 255),
			 (unsigned)(mac >> 24 & 255), (unsigned)(mac >> 16 & 255),
			 (unsigned)(mac >> 8 & 255), (unsigned)(mac & 255));
}

static bool is_v4(const uint8_t *address)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	return memcmp(address, mapped, 12) == 0;
}

// Of two packets, one in the other, we have the inner one's.
static void put_address(char ret[TEXT_BYTES], const struct seen *seen, const uint8_t *address,
			bool wants_v4)
{
	uint16_t both = WIRE_LAYER_IPV4 | WIRE_LAYER_IPV6;
	if (!has(seen, wants_v4 ? WIRE_LAYER_IPV4 : WIRE_LAYER_IPV6))
		return;
	if (is_v4(address) == wants_v4)
		inet_ntop(wants_v4 ? AF_INET : AF_INET6, address + (wants_v4 ? 12 : 0), ret,
			  TEXT_BYTES);
	else if ((seen->record->layers & both) == both)
		strcpy(ret, NOT_ASKED);
}

static bool has_udp(const struct seen *seen)
{
	uint8_t found = seen->record->found;
	return found == WIRE_FOUND_UDP || found == WIRE_FOUND_UET || found == WIRE_FOUND_ROCE ||
		found == WIRE_FOUND_MRC;
}

#define VALUE(name, is_there, format, value) \
	static void name(char ret[TEXT_BYTES], const struct seen *seen) \
	{ \
		put(ret, is_there, format, (uint64_t)(value)); \
	}

#define AS_DECIMAL "%" PRIu64
#define AS_HEX "0x%08" PRIx64

VALUE(frame_bytes, true, AS_DECIMAL, seen->frame->original)
VALUE(frame_captured, true, AS_DECIMAL, seen->frame->captured)
VALUE(vlan_number, has(seen, WIRE_LAYER_VLAN), AS_DECIMAL, seen->record->vlan & 0xfff)
VALUE(vlan_priority, has(seen, WIRE_LAYER_VLAN), AS_DECIMAL, seen->record->vlan >> 13)
VALUE(opcode, has(seen, WIRE_LAYER_BTH), AS_DECIMAL, seen->record->opcode)
VALUE(qpn, has(seen, WIRE_LAYER_BTH), "0x%06" PRIx64, seen->record->qpn)
VALUE(psn, has(seen, WIRE_LAYER_BTH), AS_DECIMAL, seen->record->psn)
VALUE(pkey, has(seen, WIRE_LAYER_BTH), AS_DECIMAL, seen->record->pkey)
VALUE(pad, has(seen, WIRE_LAYER_BTH), AS_DECIMAL, seen->record->pad_bytes)
VALUE(asks_ack, has(seen, WIRE_LAYER_BTH), AS_DECIMAL, seen->record->asks_ack)
VALUE(qkey, has_known(seen, WIRE_LAYER_DETH), "0x%016" PRIx64, seen->record->qkey)
VALUE(source_qpn, has_known(seen, WIRE_LAYER_DETH), AS_HEX, seen->record->source_qpn)
VALUE(virtual_address, has_known(seen, WIRE_LAYER_RETH | WIRE_LAYER_ATOMIC), "0x%016" PRIx64,
      seen->record->virtual_address)
VALUE(key, has_known(seen, WIRE_LAYER_RETH | WIRE_LAYER_ATOMIC), AS_HEX, seen->record->key)
VALUE(message_bytes, has_known(seen, WIRE_LAYER_RETH), AS_DECIMAL, seen->record->message_bytes)
VALUE(syndrome, has_known(seen, WIRE_LAYER_AETH), AS_DECIMAL, seen->record->syndrome)
VALUE(msn, has_known(seen, WIRE_LAYER_AETH), AS_DECIMAL, seen->record->msn)
VALUE(immediate, has_known(seen, WIRE_LAYER_IMM), "%08" PRIx64, seen->record->immediate)

// Of the inner packet, too.
static void put_port(char ret[TEXT_BYTES], const struct seen *seen, uint16_t port)
{
	if (has(seen, WIRE_LAYER_VXLAN) && !has_udp(seen))
		strcpy(ret, NOT_ASKED);
	else
		put(ret, has_udp(seen), AS_DECIMAL, port);
}

static void source_port(char ret[TEXT_BYTES], const struct seen *seen)
{
	put_port(ret, seen, seen->record->source_port);
}

static void target_port(char ret[TEXT_BYTES], const struct seen *seen)
{
	put_port(ret, seen, seen->record->target_port);
}

static void identification(char ret[TEXT_BYTES], const struct seen *seen)
{
	if (has(seen, WIRE_LAYER_IPV4) && has(seen, WIRE_LAYER_IPV6))
		strcpy(ret, NOT_ASKED); // that of the outer packet
	else
		put(ret, has(seen, WIRE_LAYER_IPV4), "0x%04" PRIx64, seen->record->identification);
}

static void stamp(char ret[TEXT_BYTES], const struct seen *seen)
{
	if (seen->frame->has_time)
		snprintf(ret, TEXT_BYTES, "%" PRId64 ".%09" PRId64, seen->frame->at_ns / 1000000000,
			 seen->frame->at_ns % 1000000000);
}

static void source_mac(char ret[TEXT_BYTES], const struct seen *seen)
{
	put_mac(ret, seen, seen->record->source_mac);
}

static void target_mac(char ret[TEXT_BYTES], const struct seen *seen)
{
	put_mac(ret, seen, seen->record->target_mac);
}

static void source_v4(char ret[TEXT_BYTES], const struct seen *seen)
{
	put_address(ret, seen, seen->record->source, true);
}

static void target_v4(char ret[TEXT_BYTES], const struct seen *seen)
{
	put_address(ret, seen, seen->record->target, true);
}

static void source_v6(char ret[TEXT_BYTES], const struct seen *seen)
{
	put_address(ret, seen, seen->record->source, false);
}

static void target_v6(char ret[TEXT_BYTES], const struct seen *seen)
{
	put_address(ret, seen, seen->record->target, false);
}

// Which of several values of one field is ours: that of the outermost header, or the innermost.
enum which { OUTER, INNER };

static const struct field {
	const char *name;
	value_fn *value;
	enum which which;
} fields[] = {
	{"frame.len", frame_bytes, OUTER},
	{"frame.cap_len", frame_captured, OUTER},
	{"frame.time_epoch", stamp, OUTER},
	{"eth.src", source_mac, INNER},
	{"eth.dst", target_mac, INNER},
	{"vlan.id", vlan_number, OUTER},
	{"vlan.priority", vlan_priority, OUTER},
	{"ip.src", source_v4, INNER},
	{"ip.dst", target_v4, INNER},
	{"ipv6.src", source_v6, INNER},
	{"ipv6.dst", target_v6, INNER},
	{"ip.id", identification, INNER},
	{"udp.srcport", source_port, INNER},
	{"udp.dstport", target_port, INNER},
	{"infiniband.bth.opcode", opcode, INNER},
	{"infiniband.bth.destqp", qpn, INNER},
	{"infiniband.bth.psn", psn, INNER},
	{"infiniband.bth.p_key", pkey, INNER},
	{"infiniband.bth.padcnt", pad, INNER},
	{"infiniband.bth.a", asks_ack, INNER},
	{"infiniband.deth.q_key", qkey, INNER},
	{"infiniband.deth.srcqp", source_qpn, INNER},
	{"infiniband.reth.va", virtual_address, INNER},
	{"infiniband.reth.r_key", key, INNER},
	{"infiniband.reth.dmalen", message_bytes, INNER},
	{"infiniband.aeth.syndrome", syndrome, INNER},
	{"infiniband.aeth.msn", msn, INNER},
	{"infiniband.immdt", immediate, INNER},
};

enum { FIELDS = sizeof(fields) / sizeof(*fields), OF_FRAMES = 3 };

// Whose fields are compared: of frames that no header is right of, those of the file alone.
static size_t field_count = FIELDS;

#define BROKEN_STEP 6 // tshark takes 0.2 s to start

// ---------------------------------------------------------------- what differs, and why

static struct difference {
	const char *file, *field; // how its name begins; "end": tshark ends before these frames
	uint64_t first, last;	  // frames
	const char *reason;
	uint64_t met;
} differences[] = {
	{"infiniband_native_erf.pcap", "frame.", 1, 43,
	 "with the 16 bytes of the record's own head, as in the file", 0},
	{"infiniband_native_erf.pcap", "ip", 1, 43, "within the payload (IPoIB): not looked into",
	 0},
	{"infiniband_native_erf.pcap", "udp", 3, 25, "the same", 0},
	{"pcpp_frag_with_padding.pcap", "udp.", 8, 8,
	 "the first of several fragments: none is looked into", 0},
	{"pcpp_ip4_bad_fragment.pcap", "ip.", 1, 1,
	 "a head of 60 bytes of which 42 are there: nothing of it is told", 0},
	{"hoobr_juniper3.pcap", "end", 1, 9999,
	 "a link type without a name: its frames are counted", 0},
	{"juniper_es_oobr.pcap", "end", 1, 9999, "the same", 0},
	{"vtp_asan-2.pcap", "end", 1, 9999,
	 "link type 182, which tshark does not read: its frames are counted", 0},
	{"vtp_asan-3.pcap", "end", 1, 9999, "the same", 0},
	{"aoe-oobr-1.pcap", "frame.len", 1, 1,
	 "it is shorter than what was captured of it: here it is as long", 0},
	{"atm-heapoverflow.pcap", "frame.", 1, 1, "the same", 0},
	{"atm-oam-heapoverflow.pcap", "frame.", 1, 1, "the same", 0},
	{"icmp-icmp_print-oobr-2.pcap", "frame.len", 1, 2, "the same", 0},
	{"malformed_header-wire_length_tcp.pcap", "frame.len", 2, 8, "the same", 0},
	{"malformed_wire_length_tcp.pcap", "frame.len", 2, 10, "the same", 0},
	{"pim_header_asan-2.pcap", "frame.len", 3, 3, "the same", 0},
	{"rsvp-rsvp_obj_print-oobr.pcap", "frame.len", 2, 2, "the same", 0},
	{"slip-sliplink_print-oobr.pcap", "frame.len", 1, 1, "the same", 0},
	{"rx_serviceid_oobr.pcap", "frame.time_epoch", 2, 2,
	 "microseconds beyond a second: they are added, tshark takes them as below 0", 0},
	{"timestamp_invalid_micro.pcap", "frame.time_epoch", 2, 3, "the same", 0},
	{"timestamp_invalid_nano.pcap", "frame.time_epoch", 2, 3, "the same of nanoseconds", 0},
};

static bool is_known(const char *file, const char *field, uint64_t number)
{
	for (size_t i = 0; i < sizeof(differences) / sizeof(*differences); i++) {
		struct difference *one = &differences[i];
		if (strcmp(one->file, file) != 0 || number < one->first || number > one->last ||
		    strncmp(field, one->field, strlen(one->field)) != 0)
			continue;
		one->met++;
		return true;
	}
	return false;
}

// ---------------------------------------------------------------- a capture

static const char *folder; // with captures/
static uint64_t compared;

static int64_t read_file(void *context, void *to, size_t bytes)
{
	return (int64_t)fread(to, 1, bytes, context);
}

// tshark's line of the next frame, in values by field.
static bool next_line(FILE *from, char *line, size_t bytes, char *values[FIELDS])
{
	if (fgets(line, (int)bytes, from) == NULL)
		return false;
	line[strcspn(line, "\n")] = '\0';
	for (size_t i = 0; i < FIELDS; i++)
		values[i] = strsep(&line, "\t");
	return values[FIELDS - 1] != NULL;
}

// One of the values of a field, which commas part.
static const char *one_of(char *values, enum which which)
{
	char *comma = which == OUTER ? strchr(values, ',') : strrchr(values, ',');
	if (comma == NULL)
		return values;
	*comma = '\0';
	return which == OUTER ? values : comma + 1;
}

// Returns how many fields differ without a reason.
static int compare(const char *file, const struct seen *seen, char *values[FIELDS])
{
	int wrong = 0;
	for (size_t i = 0; i < field_count; i++) {
		char own[TEXT_BYTES] = "";
		fields[i].value(own, seen);
		const char *theirs = one_of(values[i], fields[i].which);
		compared += own[0] != '\0' && *theirs != '\0';
		if (strcmp(own, theirs) == 0 || strcmp(own, NOT_ASKED) == 0 ||
		    is_known(file, fields[i].name, seen->frame->number))
			continue;
		if (wrong++ == 0)
			print_error("%s, frame %" PRIu64 ": %s is %s, tshark has %s\n", file,
				    seen->frame->number, fields[i].name, own, theirs);
	}
	return wrong;
}

// What comes from port 69 is no TFTP, what goes to 4971 is MRC, and each fragment stands for
// itself.
#define OPTIONS "--disable-protocol tftp -d udp.port==4971,infiniband -o ip.defragment:FALSE"

static FILE *tshark_of(const char *path)
{
	char command[8192];
	int at = snprintf(command, sizeof(command),
			  "LC_ALL=C tshark -n " OPTIONS " -r '%s' -T fields", path);
	for (size_t i = 0; i < FIELDS; i++)
		at += snprintf(command + at, sizeof(command) - (size_t)at, " -e %s",
			       fields[i].name);
	snprintf(command + at, sizeof(command) - (size_t)at, " 2>/dev/null");
	return popen(command, "r");
}

// Frames that both read, up to where one of them ends.
static int frames_of(const char *file, struct capture_reader *reader, FILE *tshark)
{
	static char line[65536];
	char *values[FIELDS];
	struct capture_frame frame;
	struct wire_record record;
	struct wire_config config;
	int wrong = 0;
	wire_config_default(6, &config);
	while (capture_next(reader, &frame)) {
		if (!next_line(tshark, line, sizeof(line), values)) {
			if (is_known(file, "end", frame.number))
				continue;
			print_error("%s: tshark ends before frame %" PRIu64 "\n", file,
				    frame.number);
			return wrong + 1;
		}
		uint16_t link = reader->interfaces[frame.interface].link;
		wire_dissect(&config, link, frame.bytes, frame.captured, frame.original, &record);
		wrong += compare(file, &(struct seen){&frame, &record, link}, values);
	}
	if (next_line(tshark, line, sizeof(line), values) &&
	    !is_known(file, "end", reader->frames + 1)) {
		print_error("%s: tshark reads on behind frame %" PRIu64 ": %s\n", file,
			    reader->frames, reader->why);
		wrong++;
	}
	while (fgets(line, sizeof(line), tshark) != NULL)
		;
	return wrong;
}

static int one_file(const char *path, const char *file)
{
	static struct capture_reader reader;
	static uint8_t buffer[1 << 18];
	struct refusal refusal;
	void *unpacked = aligned_alloc(64, (capture_gunzip_bytes() + 63) / 64 * 64);
	FILE *from = fopen(path, "rb"), *tshark = tshark_of(path);
	check(from != NULL && tshark != NULL && unpacked != NULL);
	reader = (struct capture_reader){.read = capture_gunzip_read,
					 .context = capture_gunzip_begin(unpacked, read_file, from),
					 .buffer = buffer,
					 .capacity = sizeof(buffer)};
	int wrong = 0;
	if (capture_begin(&reader, &refusal) == 0)
		wrong = frames_of(file, &reader, tshark);
	else if (fgetc(tshark) != EOF)
		wrong = 1, print_error("%s: %s, and tshark reads it\n", file, refusal.text);
	pclose(tshark);
	fclose(from);
	free(unpacked);
	return wrong;
}

static bool has_row(const char *file)
{
	for (size_t i = 0; i < sizeof(differences) / sizeof(*differences); i++)
		if (strcmp(differences[i].file, file) == 0)
			return true;
	return false;
}

// Each `step`th capture of a kind, and those with a row.
static void some_of(const char *kind, int step)
{
	char path[4096];
	int wrong = 0, files = 0;
	snprintf(path, sizeof(path), "%s/captures/given/%s", folder, kind);
	DIR *directory = opendir(path);
	assert_non_null(directory);
	for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
		if (strstr(entry->d_name, ".pcap") == NULL)
			continue;
		if (files++ % step != 0 && !has_row(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/captures/given/%s/%s", folder, kind,
			 entry->d_name);
		wrong += one_file(path, entry->d_name);
	}
	closedir(directory);
	assert_true(files > 0);
	assert_int_equal(wrong, 0);
}

static void captures_of_rdma(void **)
{
	some_of("roce", 1);
	assert_true(compared > 100000);
}

static void captures_of_other_protocols(void **)
{
	some_of("other", 1);
}

static void captures_that_try_a_reader(void **)
{
	some_of("robust", 1);
}

static void captures_that_are_broken(void **)
{
	field_count = OF_FRAMES;
	some_of("malformed", getenv("WEFT_DISSECT_ALL") != NULL ? 1 : BROKEN_STEP);
	field_count = FIELDS;
}

static void each_difference_is_met(void **)
{
	for (size_t i = 0; i < sizeof(differences) / sizeof(*differences); i++)
		if (differences[i].met == 0)
			fail_msg("%s, %s: no frame differs any more", differences[i].file,
				 differences[i].field);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captures_of_rdma),
		cmocka_unit_test(captures_of_other_protocols),
		cmocka_unit_test(captures_that_try_a_reader),
		cmocka_unit_test(captures_that_are_broken),
		cmocka_unit_test(each_difference_is_met),
	};
	static char path[4096];
	const char *shared = getenv("WEFT_SHARED");
	snprintf(path, sizeof(path), "%s/data", shared != NULL ? shared : "../shared");
	folder = path;
	if (access(path, R_OK) != 0 || system("command -v tshark >/dev/null") != 0) {
		printf("skipped: %s or tshark is not here\n", path);
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
