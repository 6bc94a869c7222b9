// SPDX-License-Identifier: Apache-2.0
// Everything that is wrong with a scenario is said with its line, its column and the reason. Broken
// ones are files in tests/golden/broken; bytes that a file cannot hold, and --set, stand here.

// clang-format off
#include <stddef.h>
#include <cmocka.h>
// clang-format on
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/world/world.h>

#define FILE_BYTES_MAX 65536

struct broken {
	const char *file;
	uint32_t line, column;
	const char *reason; // part of the text
};

static const struct broken broken_files[] = {
	{"01-unknown-key.yaml", 4, 3, "did you mean fabric.planes?"},
	{"02-unknown-section.yaml", 2, 1, "did you mean fabric?"},
	{"03-wrong-section.yaml", 3, 3, "did you mean fabric.planes?"},
	{"04-count-with-unit.yaml", 3, 9, "a count has no unit"},
	{"05-count-exponent.yaml", 3, 9, "without an exponent"},
	{"06-count-octal.yaml", 3, 9, "without the leading 0"},
	{"07-count-hexadecimal.yaml", 3, 9, "decimal digits"},
	{"08-count-separator.yaml", 3, 9, "without separators"},
	{"09-count-quoted.yaml", 3, 9, "without quotes"},
	{"10-count-word.yaml", 3, 9, "`yes` is a word, but a count is expected"},
	{"11-count-point.yaml", 3, 9, "a count is whole"},
	{"12-count-negative.yaml", 3, 9, "negative"},
	{"13-count-null.yaml", 3, 8, "there is no value"},
	{"14-zero-planes.yaml", 4, 11, "too small; it may be 1 to 16"},
	{"15-many-planes.yaml", 4, 11, "too large; it may be 1 to 16"},
	{"16-rate-without-unit.yaml", 3, 14, "has no unit; a rate needs one of"},
	{"17-rate-spelling.yaml", 3, 14, "`Gbps` is not a unit here; write Gb/s"},
	{"18-rate-space.yaml", 3, 14, "no space"},
	{"19-time-as-size.yaml", 3, 14, "`B` is not a unit of a time"},
	{"20-time-below-ps.yaml", 3, 14, "not a whole number of picoseconds"},
	{"21-size-negative.yaml", 3, 10, "negative"},
	{"22-size-spelling.yaml", 3, 10, "kB (1000) or KiB (1024)"},
	{"23-size-too-large.yaml", 3, 10, "too large"},
	{"24-size-zero.yaml", 3, 10, "write auto, or 1B to 1GiB"},
	{"25-flag-word.yaml", 3, 8, "write true or false"},
	{"26-no-such-word.yaml", 3, 13, "it may be: clos, fat-tree, dumbbell, rail, torus"},
	{"27-share-percent.yaml", 3, 40, "too large; it may be"},
	{"28-double-key.yaml", 5, 3, "appears twice; it was first on line 3"},
	{"29-double-section.yaml", 7, 1, "appears twice; it was first on line 2"},
	{"30-anchor-loop.yaml", 3, 3, "alias leads back"},
	{"31-unknown-alias.yaml", 2, 9, "not YAML: found undefined alias"},
	{"32-merge-key.yaml", 7, 3, "merge keys are not read"},
	{"33-tag.yaml", 3, 9, "a tag has no meaning"},
	{"34-two-documents.yaml", 7, 1, "a second document begins here"},
	{"35-tabulator.yaml", 3, 1, "not YAML"},
	{"36-open-bracket.yaml", 2, 9, "not YAML"},
	{"37-open-quote.yaml", 2, 7, "not YAML"},
	{"38-comments-only.yaml", 1, 1, "the file is empty"},
	{"39-list-as-root.yaml", 2, 1, "not a list"},
	{"40-word-as-root.yaml", 2, 1, "not a single value"},
	{"41-list-as-section.yaml", 3, 3, "a mapping of keys is expected, not a list"},
	{"42-mapping-as-value.yaml", 3, 9, "a count is expected, not a mapping"},
	{"43-word-as-list.yaml", 7, 9, "a list is expected, not a single value"},
	{"44-nested-deep.yaml", 2, 38, "nested deeper than 32"},
	{"45-name-too-long.yaml", 2, 7, "64 bytes long; at most 63 fit"},
	{"46-missing-nics.yaml", 3, 3, "fabric.nics is missing"},
	{"47-missing-traffic.yaml", 2, 1,
	 "traffic.kind is missing; it may be: flows, permutation,"},
	{"48-missing-t1-count.yaml", 3, 3, "fabric.t1_count is missing; fabric.topology clos"},
	{"49-senders-without-incast.yaml", 9, 3, "no effect here; it needs traffic.kind incast"},
	{"50-t1-in-fat-tree.yaml", 9, 3, "it needs fabric.topology clos"},
	{"51-planes-in-leaf-spine.yaml", 7, 3, "a leaf-spine has one plane"},
	{"52-target-delay-with-fixed.yaml", 9, 3, "it needs cc.algorithm nscc"},
	{"53-ecn-low-without-ecn.yaml", 9, 3, "it needs queue.ecn true"},
	{"54-sample-of-flows.yaml", 8, 3, "it needs traffic.kind ring"},
	{"55-low-above-high.yaml", 8, 12, "is above queue.ecn_high"},
	{"56-queue-below-packet.yaml", 8, 10, "do not hold a full packet of 4258 B"},
	{"57-hosts-do-not-divide.yaml", 6, 18, "cannot be cut into hosts of 3"},
	{"58-evs-per-plane.yaml", 6, 11, "256 over 3 planes is not a power of two per plane"},
	{"59-mpr-power.yaml", 8, 8, "not a multiple of 128"},
	{"60-payload-and-header.yaml", 8, 12, "at most 65535 B"},
	{"61-timer-without-end.yaml", 9, 18, "pass the end of time"},
	{"62-flow-beyond.yaml", 10, 21, "8 does not exist; it may be 0 to 7"},
	{"63-flow-to-itself.yaml", 9, 21, "cannot lead to its sender"},
	{"64-flow-without-bytes.yaml", 9, 7, "traffic.flows[].bytes is missing"},
	{"65-flows-empty.yaml", 8, 10, "at least one flow"},
	{"66-fault-ends-early.yaml", 11, 12, "must end after it begins"},
	{"67-fault-place.yaml", 9, 14, "needs its plane, too"},
	{"68-fault-plane-beyond.yaml", 8, 43, "1 does not exist; it may be 0 to 0"},
	{"69-loss-without-share.yaml", 8, 5, "probability is missing"},
	{"70-share-of-link-down.yaml", 8, 45, "it needs faults[].kind loss"},
	{"71-incast-too-many.yaml", 9, 12, "need more than 8 NICs"},
	{"72-ring-too-many.yaml", 9, 10, "more than fabric.nics, 8"},
	{"73-ring-between-hosts.yaml", 10, 10, "do not fill hosts of 4 NICs"},
	{"74-input-origin.yaml", 8, 14, "it may be: fact, assumed, calibrated"},
	{"75-key-is-a-list.yaml", 2, 3, "a key is a word, not a list"},
	{"76-scaleup-alone.yaml", 8, 3, "it needs fabric.nics_per_host above 1"},
	{"77-t0-not-filled.yaml", 4, 16, "10 NICs do not fill whole switches of 4 NICs"},
	{"78-host-over-two-t0.yaml", 4, 16, "4 is not a multiple of fabric.nics_per_host, 8"},
	{"79-t0-without-t1.yaml", 5, 13, "2 T0 switches need T1 switches"},
	{"80-host-with-many-ports.yaml", 4, 18, "a host has at most 4096 ports"},
	{"81-pods-not-filled.yaml", 6, 13, "10 NICs do not fill whole pods of 4 NICs"},
	{"82-cores-uneven.yaml", 8, 10, "3 is not a multiple of fabric.pod_aggs, 2"},
	{"83-model-misspelt.yaml", 8, 3, "no key traffic.modle; did you mean traffic.model?"},
	{"84-credits-too-few.yaml", 6, 43, "take more credits than slices"},
	{"85-credits-of-barrier.yaml", 6, 50, "with traffic.form pipelined"},
	{"86-window-below-packet.yaml", 9, 11, "sends nothing"},
	{"87-wire-version.yaml", 8, 7, "it may be: 4, 6"},
	{"88-wire-version-beyond.yaml", 8, 7, "too large; it may be 4 to 6"},
	{"89-wire-port.yaml", 8, 9, "it may be: 4791, 4971"},
	{"90-wire-ev-of-ipv4.yaml", 10, 3, "it needs wire.ip 6"},
	{"91-wire-ev-word.yaml", 8, 7, "it may be: port-high, port-low"},
	{"92-ipv4-evs.yaml", 8, 18, "32768 is above 16384, the UDP source ports"},
	{"93-ipv4-evs-over-planes.yaml", 9, 18, "24576 is above 16384, the UDP source ports"},
	{"94-trim-lengths-word.yaml", 8, 17, "it may be: kept, rewritten"},
	{"95-udp-checksum-word.yaml", 8, 17, "write true or false"},
	{"96-capture-snap-short.yaml", 8, 9, "too small; it may be 64B to 65535B"},
	{"97-tap-place.yaml", 8, 14, "taps[].at: this place needs its plane, too"},
	{"98-tap-ends-early.yaml", 10, 12, "taps[].until: a tap must end after it begins"},
	{"99-trim-above-header.yaml", 9, 15, "above transport.header, 141 B"},
	{"100-reorder-without-delay.yaml", 8, 5,
	 "faults[].delay is missing; faults[].kind reorder needs it"},
	{"101-ring-inside-host.yaml", 6, 18, "2 NICs of one host are neighbours in the ring"},
	{"102-burst-without-length.yaml", 5, 5, "faults[].burst is missing"},
	{"103-stall-without-end.yaml", 5, 5, "a stall ends"},
	{"104-first-line-indented.yaml", 2, 2, "did not find expected <document start>"},
	{"105-colon-left-out.yaml", 3, 3, "mapping values are not allowed"},
	{"106-line-too-far-right.yaml", 4, 11, "mapping values are not allowed"},
};
#define BROKEN_FILES (sizeof(broken_files) / sizeof(broken_files[0]))

struct broken_text {
	const char *text;
	size_t bytes;
	uint32_t line, column;
	const char *reason;
};

#define TEXT(literal) literal, sizeof(literal) - 1
static const struct broken_text broken_texts[] = {
	{TEXT(""), 1, 1, "the file is empty"},
	{TEXT("   \n\n"), 1, 1, "the file is empty"},
	{TEXT("name: a\0b\n"), 1, 8, "byte 0x00 is a control character"},
	{TEXT("name: \"\xc3\xa9\x1b\"\n"), 1, 9, "byte 0x1b is a control character"},
	{TEXT("seed: 1\nname: \xff\n"), 2, 7, "byte 0xff is not UTF-8"},
	{TEXT("name: \xc0\x80\n"), 1, 7, "byte 0xc0 is not UTF-8"},
	{TEXT("name: \xed\xa0\x80\n"), 1, 7, "byte 0xed is not UTF-8"},
	{TEXT("name: \xe2\x82"), 1, 7, "byte 0xe2 is not UTF-8"},
	{TEXT("\xff\xfen\0"), 1, 1, "byte 0xff is not UTF-8"},
	{TEXT("name: \"a\\0b\"\n"), 1, 7, "one line without control characters"},
	{TEXT("name: |\n  two\n  lines\n"), 1, 7, "one line without control characters"},
	{TEXT("name: ''\n"), 1, 7, "there is none"},
	{TEXT("name: ~\n"), 1, 7, "put the word in quotes"},
	{TEXT("fabric:\n  nics: \"8\\0\"\n"), 2, 9, "without quotes"},
	{TEXT("fabric:\n  link_rate: 100\xc2\xb5s\n"), 2, 14, "is not a unit of a rate"},
	{TEXT("fabric:\n  nic_delay: 1\xc2\xb5s\n"), 2, 14, "is not a unit here; write us"},
	{TEXT("fabric:\n"), 1, 8, "a mapping of keys is expected, not a single value"},
	{TEXT("a.b: 1\n"), 1, 1, "`a.b` is not a key"},
	{TEXT("fabric.nics: 8\n"), 1, 1,
	 "`fabric.nics` is not a key in a file: write fabric: {nics: ...}"},
	{TEXT("faults[]: 1\n"), 1, 1, "`faults[]` is not a key"},
	{TEXT("'': 1\n"), 1, 1, "`` is not a key"},
	{TEXT("faults: &f [*f]\nfabric: {nics: 8, nics_per_t0: 4, t1_count: 2}\n"
	      "traffic: {kind: permutation, bytes: 1MB}\n"),
	 1, 9, "an alias leads back"},
	{TEXT("faults: [all]\nfabric: {nics: 8, nics_per_t0: 4, t1_count: 2}\n"
	      "traffic: {kind: permutation, bytes: 1MB}\n"),
	 1, 10, "faults[]: a mapping of keys is expected, not a single value"},
	{TEXT("faults: [{kind: loss, probability: 1%}]\n"
	      "fabric: {nics: 8, nics_per_t0: 4, t1_count: 2}\n"
	      "traffic: {kind: permutation, bytes: 1MB}\n"),
	 1, 10, "faults[].at is missing"},
#define OF_ALL "{measure: goodput, formula: one_way, tolerance: 1%"
#define WATCH "watch: {bin: 1us, bins: 10}"
#define GOOD \
	"\nfabric: {nics: 8, nics_per_t0: 4, t1_count: 2}\ntraffic: {kind: permutation, bytes: " \
	"1MB}\n"
	{TEXT("taps: all" GOOD), 1, 7, "taps: a list is expected"},
	{TEXT("taps: &t [*t]" GOOD), 1, 7, "an alias leads back"},
	{TEXT("taps: [{direction: up}]" GOOD), 1, 8, "taps[].at is missing"},
	{TEXT("taps: [{at: none}]" GOOD), 1, 13, "it may be: all; a place is a map, as {nic: 3}"},
	{TEXT("taps: [{nic: 3}]" GOOD), 1, 9, "no key taps[].nic; did you mean taps[].at.nic?"},
	{TEXT("taps: [{at: {nic: 8, plane: 0}}]" GOOD), 1, 19,
	 "8 does not exist; it may be 0 to 7"},
	{TEXT("taps: [{at: {t0: 2, up: 0, plane: 0}}]" GOOD), 1, 18, "it may be 0 to 1"},
	{TEXT("taps: [{at: {t0: 0, up: 2, plane: 0}}]" GOOD), 1, 25, "it may be 0 to 1"},
	{TEXT("taps: [{at: {plane: 1}}]" GOOD), 1, 21, "it may be 0 to 0"},
	{TEXT("taps: [{at: {nic: 0, up: 0, plane: 0}}]" GOOD), 1, 19, "a place is all"},
	{TEXT("taps: [{at: {up: 0, plane: 0}}]" GOOD), 1, 18, "a place is all"},
	{TEXT("taps: [{at: {t1: 2, plane: 0}}]" GOOD), 1, 18, "it may be 0 to 1"},
	{TEXT("taps: [{at: {t1: 0, up: 1, plane: 0}}]" GOOD), 1, 25, "there is none"},
	{TEXT("expect: [{measure: goodput, formula: one_way}]" GOOD), 1, 10,
	 "tolerance is missing"},
	{TEXT("expect: [{measure: goodput, formula: best, tolerance: 1%}]" GOOD), 1, 38, "best"},
	{TEXT("expect: [{measure: goodput, formula: planes_left, tolerance: 1%}]" GOOD), 1, 10,
	 "expect[].planes is missing"},
	{TEXT("variants: [{set: seed=2}]" GOOD), 1, 12, "variants[].name is missing"},
	{TEXT("variants: [{name: a b}]" GOOD), 1, 19, "a name is one word"},
	{TEXT("variants: [{name: a, queue.pfc: true}]" GOOD), 1, 22,
	 "`queue.pfc` is not a key here: write set: queue.pfc=..."},
	{TEXT("variants: [{name: a, preset: mrc}]" GOOD), 1, 22,
	 "did you mean variants[].set, as in set: preset=mrc queue.pfc=false?"},
	{TEXT("variants: [{name: a, set: {preset: mrc}}]" GOOD), 1, 27,
	 "a text is expected, not a mapping: assignments with spaces between, as in set: "
	 "preset=mrc queue.pfc=false"},
	{TEXT("variants: [{name: a}, {name: a}]" GOOD), 1, 30, "a appears twice"},
	{TEXT("expect: [{measure: goodput, formula: one_way, run: a, tolerance: 1%}]" GOOD), 1, 52,
	 "expect[].run has no effect"},
	{TEXT("variants: [{name: a}]\nexpect: [{measure: goodput, formula: one_way, tolerance: "
	      "1%}]" GOOD),
	 2, 10, "expect[].run is missing"},
	{TEXT("variants: [{name: a}]\nexpect: [{measure: goodput, formula: one_way, run: b, "
	      "tolerance: 1%}]" GOOD),
	 2, 52, "there is no variant b"},
	{TEXT("variants: [{name: a}]\nexpect: [{measure: ratio, formula: equal, run: a, tolerance: "
	      "1%}]" GOOD),
	 2, 10, "expect[].to is missing"},
	{TEXT("variants: [{name: a}]\nexpect: [{measure: goodput, formula: one_way, run: a, to: a, "
	      "tolerance: 1%}]" GOOD),
	 2, 59, "expect[].to has no effect"},
	{TEXT("expect: [{measure: ratio, formula: loss_on_way, loss: 1%, tolerance: 1%}]" GOOD), 1,
	 36, "a ratio goes with"},
	{TEXT("expect: [{measure: retransmitted, formula: equal, tolerance: 1%}]" GOOD), 1, 44,
	 "a ratio goes with"},
	{TEXT("expect: [{measure: ratio, formula: busiest_plane, tolerance: 1%}]" GOOD), 1, 36,
	 "busiest_plane needs traffic.kind ring"},
	{TEXT("expect: [{measure: goodput, formula: one_way, loss: 1%, tolerance: 1%}]" GOOD), 1,
	 53, "expect[].loss has no effect"},
	{TEXT("expect: [{measure: goodput, formula: loss_on_way, loss: 1%, tolerance: 1%}]" GOOD),
	 1, 38, "loss_on_way and grey links of shares"},
	{TEXT("expect: [{measure: goodput, formula: ring_writes, tolerance: 1%}]" GOOD), 1, 38,
	 "needs traffic.kind ring"},
	{TEXT("expect: [{measure: goodput, formula: planes_left, planes: 2, tolerance: 1%}]" GOOD),
	 1, 59, "2 of 1 planes"},
	{TEXT("watch: {bins: 5}" GOOD), 1, 9, "watch.bins has no effect here; it needs watch.bin"},
	{TEXT("expect: [" OF_ALL ", from: 1us}]" GOOD), 1, 10, "expect[].until is missing"},
	{TEXT("expect: [" OF_ALL ", until: 2us}]" GOOD), 1, 69, "needs watch.bin"},
	{TEXT("expect: [" OF_ALL ", from: 2us, until: 2us}]\n" WATCH GOOD), 1, 80,
	 "must end after it begins"},
	{TEXT("expect: [" OF_ALL ", from: 1500ns, until: 2us}]\n" WATCH GOOD), 1, 68,
	 "not at the beginning of a bin"},
	{TEXT("expect: [" OF_ALL ", until: 2500ns}]\n" WATCH GOOD), 1, 69,
	 "not at the end of a bin"},
	{TEXT("expect: [" OF_ALL ", until: 11us}]\n" WATCH GOOD), 1, 69, "the 10 bins"},
	{TEXT("expect: [{measure: further, formula: two_switches, tolerance: 1%, until: "
	      "2us}]\n" WATCH GOOD),
	 1, 74, "needs expect[].measure goodput, goodput_kept or lost"},
	{TEXT("expect: [{measure: lost, formula: loss_on_way, loss: 1%, tolerance: 1%}]" GOOD), 1,
	 20, "lost and goodput_kept need watch.bin"},
	{TEXT("expect: [{measure: lost, formula: grey_learnt, loss: 1%, tolerance: 1%}]\n" WATCH
		      GOOD),
	 1, 10, "expect[].links is missing"},
	{TEXT("expect: [{measure: lost, formula: grey_learning, links: 1, loss: 1%, tolerance: "
	      "1%}]\n" WATCH GOOD),
	 1, 10, "expect[].until is missing; the formula"},
	{TEXT("expect: [{measure: goodput, formula: two_switches, tolerance: 1%}]" GOOD), 1, 38,
	 "two_switches, limit and holes of times"},
	{TEXT("expect: [{measure: bypass, formula: holes, quantile: 50%, tolerance: 0%}]" GOOD), 1,
	 20, "recovery need watch.bypasses"},
	{TEXT("expect: [{measure: bypass, formula: holes, tolerance: 0%}]\nwatch: {bypasses: "
	      "9}" GOOD),
	 1, 10, "expect[].quantile is missing"},
	{TEXT("expect: [" OF_ALL ", quantile: 50%}]" GOOD), 1, 72, "bypass, leaving or recovery"},
	{TEXT("expect: [{measure: recovery, formula: holes, quantile: 9%, tolerance: 0%}]\nwatch: "
	      "{bypasses: 9}" GOOD),
	 1, 20, "recovery needs watch.nics"},
	{TEXT("watch: {nics: true}" GOOD), 1, 9,
	 "watch.nics has no effect here; it needs watch.bin"},
	{TEXT("expect: [{measure: bypass, formula: limit, quantile: 50%, tolerance: 0%}]" GOOD), 1,
	 10, "expect[].limit is missing"},
	{TEXT("expect: [" OF_ALL ", limit: 1us}]" GOOD), 1, 69, "the formula does not use it"},
	{TEXT("expect: [{measure: goodput, formula: one_way, bound: up, tolerance: 1%}]" GOOD), 1,
	 54, "it may be: near, at_most, at_least"},
	{TEXT("faults: [{kind: flap, at: all, up: 1us}]" GOOD), 1, 10, "faults[].down is missing"},
	{TEXT("faults: [{kind: flap, at: all, down: 1us}]" GOOD), 1, 10, "faults[].up is missing"},
	{TEXT("faults: [{kind: corrupt, at: all}]" GOOD), 1, 10,
	 "faults[].probability is missing; faults[].kind corrupt needs it"},
	{TEXT("faults: [{kind: duplicate, at: all}]" GOOD), 1, 10,
	 "faults[].probability is missing; faults[].kind duplicate needs it"},
	{TEXT("faults: [{kind: reorder, at: all, probability: 1%}]" GOOD), 1, 10,
	 "faults[].delay is missing; faults[].kind reorder needs it"},
	{TEXT("faults: [{kind: reorder, at: all, delay: 1us}]" GOOD), 1, 10,
	 "faults[].probability is missing; faults[].kind reorder needs it"},
	{TEXT("faults: [{kind: duplicate, at: all, probability: 1%, delay: 1us}]" GOOD), 1, 61,
	 "it needs faults[].kind reorder"},
	{TEXT("faults: [{kind: reorder, at: all, probability: 1%, delay: 0us}]" GOOD), 1, 59,
	 "faults[].delay"},
	{TEXT("faults: [{kind: reorder, at: all, probability: 1%, delay: 2s}]" GOOD), 1, 59,
	 "faults[].delay"},
	{TEXT("faults: [{kind: corrupt, at: all, probability: 101%}]" GOOD), 1, 48,
	 "faults[].probability"},
	{TEXT("faults: [{kind: damage, at: all, probability: 1%}]" GOOD), 1, 17, "faults[].kind"},
	{TEXT("faults: [{kind: link_down, at: all, up: 1us}]" GOOD), 1, 41,
	 "needs faults[].kind flap"},
	{TEXT("faults: [{kind: flap, at: all, up: 1us, down: 0us}]" GOOD), 1, 47, "faults[].down"},
	{TEXT("taps: [{at: all, direction: in}]" GOOD), 1, 29, "it may be: both, up, down"},
	{TEXT("taps: [{at: all, from: 1us, until: 1us}]" GOOD), 1, 36, "must end after it begins"},
	{TEXT("taps: [{at: all, kind: loss}]" GOOD), 1, 18, "there is no key taps[].kind"},
	{TEXT("taps: [{at: all, at: all}]" GOOD), 1, 18, "appears twice"},
	{TEXT("wires: {ip: 6}" GOOD), 1, 1, "did you mean wire?"},
	{TEXT("capture: {keep: header}" GOOD), 1, 17, "it may be: whole, headers"},
};
#define BROKEN_TEXTS (sizeof(broken_texts) / sizeof(broken_texts[0]))

struct broken_set {
	const char *sets[5];
	uint32_t line, column;
	const char *reason;
};

static const struct broken_set broken_sets[] = {
	{{"fabric.planes"}, 1, 1, "an assignment is key=value"},
	{{"=4"}, 1, 1, "an assignment is key=value"},
	{{"fabric.plains=4"}, 1, 1, "did you mean fabric.planes?"},
	{{"cc.target=9us"}, 1, 1, "did you mean cc.target_delay?"},
	{{"fabric.hosts=4"}, 1, 1, "did you mean fabric.nics, with fabric.nics_per_host?"},
	{{"fabric.gpus_per_host=8"},
	 1,
	 1,
	 "did you mean fabric.nics_per_host, one for each GPU, or for those that share a NIC?"},
	{{"fabric.gpus_per_nic=2"},
	 1,
	 1,
	 "did you mean fabric.nics_per_host, with one rank for the GPUs that share a NIC (4 for 8 "
	 "GPUs and 4 NICs)?"},
	{{"jobs[].traffic=4"}, 1, 1, "did you mean jobs[].kind, with its other keys beside it?"},
	{{"fabric.topology=rail", "fabric.nics=96", "fabric.nics_per_host=6",
	  "fabric.oversubscription=3:1"},
	 4,
	 25,
	 "16 NICs below a switch, 3 times what leads up, do not come out in whole links above it; "
	 "4:1 does"},
	{{"jobs[].gpus=4"}, 1, 1, "did you mean jobs[].ranks?"},
	{{"transport.mtu=4KiB"}, 1, 1, "did you mean transport.payload?"},
	{{"fabric.rate=4Gb/s"}, 1, 1, "did you mean fabric.link_rate?"},
	{{"fabric.oversubscription=3:2"}, 1, 25, "`:2` is not a unit of a ratio"},
	{{"fabric.oversubscription=2.5"}, 1, 25, "is not a whole number of times"},
	{{"fabric=4"}, 1, 1, "there is no key fabric"},
	{{"fabric.planes=4Gb"}, 1, 15, "a count has no unit"},
	{{"fabric.planes="}, 1, 15, "there is no value"},
	{{"fabric.planes= 4"}, 1, 15, "is not a count"},
	{{"seed=2", "fabric.planes=0"}, 2, 15, "too small"},
	{{"seed=2", "seed=3"}, 2, 1, "set twice; it was first in assignment 1"},
	{{"faults=none"}, 1, 1, "faults is a list; lists are set in the file only"},
	{{"taps=none"}, 1, 1, "lists are set in the file only"},
	{{"wire.ip=4", "transport.evs=32768"}, 2, 15, "above 16384, the UDP source ports"},
	{{"wire.ip=5"}, 1, 9, "it may be: 4, 6"},
	{{"wire.ip=4", "wire.ev=port-low"}, 2, 1, "no effect here; it needs wire.ip 6"},
	{{"wire.port=0"}, 1, 11, "too small"},
	{{"wire.port=4790"}, 1, 11, "it may be: 4791, 4971"},
	{{"capture.snap=0B"}, 1, 14, "write auto, or 64B to 65535B"},
	{{"capture.snap=65536B"}, 1, 14, "too large"},
	{{"queue.trim_bytes=163B"}, 1, 18, "above transport.header, 162 B"},
	{{"transport.header=141B"}, 1, 18, "142 B is above transport.header"},
	{{"faults[].kind=loss"},
	 1,
	 1,
	 "faults[].kind is in a list; lists are set in the file only"},
	{{"traffic.senders=4"}, 1, 1, "no effect here; it needs traffic.kind incast"},
	{{"transport.mpr_budget=4096"}, 1, 1, "with transport.dynamic_mpr true"},
	{{"transport.dynamic_mpr=true", "transport.mpr=64"}, 2, 15, "offered in units of 128"},
	{{"transport.dynamic_mpr=true", "transport.mpr_budget=100"}, 2, 22, "too small"},
	{{"transport.completion=nack"}, 1, 22, "it may be: ack, sack"},
	{{"transport.refused=loud"}, 1, 19, "it may be: silent, nak"},
	{{"transport.rtt=remote"}, 1, 15, "it may be: local, stamp"},
	{{"transport.rto_doublings=26"}, 1, 25, "too large"},
	{{"transport.rto_linear=8"}, 1, 22, "too large"},
	{{"fabric.nics_per_host=3"}, 1, 22, "cannot be cut into hosts of 3"},
	{{"transport.evs=100", "fabric.planes=4"}, 1, 15, "not a power of two per plane"},
	{{"fabric.planes=1", "transport.evs=65536"}, 2, 15, "more than 32768 on each of 1 planes"},
	{{"fabric.planes=2", "transport.path=reps", "transport.evs=65536"},
	 3,
	 15,
	 "more than the 32768 that"},
	{{"cc.algorithm=dcqcn"}, 1, 14, "does not run on transport.kind mrc, which has no CNPs"},
	{{"cc.gain=0.1"}, 1, 1, "no effect here; it needs cc.algorithm dcqcn"},
	{{"cc.algorithm=dcqcn", "transport.kind=rc", "cc.gamma=0.5"},
	 3,
	 1,
	 "no effect here; it needs cc.algorithm nscc"},
	{{"cc.algorithm=dcqcn", "transport.kind=rc", "cc.rate_min=200Gb/s"},
	 3,
	 13,
	 "above fabric.link_rate, 100000000000 b/s"},
	{{"transport.cnp_interval=10us"}, 1, 1, "no effect here; it needs transport.kind rc"},
	{{"queue.ecn=false", "queue.ecn_share=10%"}, 2, 1, "it needs queue.ecn true"},
	{{"sample=off", "sample.steps=4"}, 2, 1, "assignment 1 says sample=off"},
	{{"sample.steps=4", "sample=off"}, 1, 1, "assignment 2 says sample=off"},
	{{"name=a\tb"}, 1, 6, "one line without control characters"},
	{{"name=\xff"}, 1, 6, "is not UTF-8"},
};
#define BROKEN_SETS (sizeof(broken_sets) / sizeof(broken_sets[0]))

static const char good_text[] = "fabric:\n  nics: 8\n  nics_per_t0: 4\n  t1_count: 2\n"
				"traffic: {kind: permutation, bytes: 1MB}\n";

static struct scenario scenario;

static size_t file_read(const char *path, char *ret, size_t size)
{
	FILE *file = fopen(path, "rb");
	if (file == NULL)
		fail_msg("%s: %s", path, strerror(errno));
	size_t bytes = fread(ret, 1, size, file);
	fclose(file);
	assert_true(bytes < size);
	return bytes;
}

static void assert_refused(int rc, const struct refusal *refusal, const char *file,
			   const struct broken *want)
{
	if (rc != -EINVAL || refusal->line != want->line || refusal->column != want->column ||
	    strcmp(refusal->file, file) != 0 || strstr(refusal->text, want->reason) == NULL)
		fail_msg("%s: rc %d, %s:%u:%u: %s; expected %u:%u: ...%s...", want->file, rc,
			 refusal->file, refusal->line, refusal->column, refusal->text, want->line,
			 want->column, want->reason);
}

static void every_broken_file_is_refused_at_its_place(void **)
{
	static char text[FILE_BYTES_MAX];
	for (size_t i = 0; i < BROKEN_FILES; i++) {
		char path[512];
		struct refusal refusal = {0};
		snprintf(path, sizeof(path), "%s/tests/golden/broken/%s", getenv("WEFT_SOURCE"),
			 broken_files[i].file);
		size_t bytes = file_read(path, text, sizeof(text));
		int rc = scenario_parse(&scenario, "broken.yaml", text, bytes, NULL, 0, &refusal);
		assert_refused(rc, &refusal, "broken.yaml", &broken_files[i]);
	}
}

static void every_file_of_the_folder_is_in_the_table(void **)
{
	char path[512];
	size_t count = 0;
	snprintf(path, sizeof(path), "%s/tests/golden/broken", getenv("WEFT_SOURCE"));
	DIR *folder = opendir(path);
	assert_non_null(folder);
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
		count += strstr(entry->d_name, ".yaml") != NULL;
	closedir(folder);
	assert_int_equal(count, BROKEN_FILES);
}

static void every_broken_text_is_refused_at_its_place(void **)
{
	for (size_t i = 0; i < BROKEN_TEXTS; i++) {
		const struct broken_text *from = &broken_texts[i];
		const struct broken want = {from->text, from->line, from->column, from->reason};
		struct refusal refusal = {0};
		char *copy = malloc(from->bytes + 1); // exact: a reader beyond the end is seen
		assert_non_null(copy);
		memcpy(copy, from->text, from->bytes);
		int rc = scenario_parse(&scenario, "text", copy, from->bytes, NULL, 0, &refusal);
		free(copy);
		assert_refused(rc, &refusal, "text", &want);
	}
}

static void every_broken_assignment_is_refused_at_its_column(void **)
{
	for (size_t i = 0; i < BROKEN_SETS; i++) {
		const struct broken_set *from = &broken_sets[i];
		const struct broken want = {from->sets[0], from->line, from->column, from->reason};
		struct refusal refusal = {0};
		uint32_t count = 0;
		while (from->sets[count] != NULL)
			count++;
		int rc = scenario_parse(&scenario, "text", good_text, sizeof(good_text) - 1,
					from->sets, count, &refusal);
		assert_refused(rc, &refusal, "--set", &want);
	}
}

static void a_text_that_is_too_long_is_refused(void **)
{
	size_t bytes = (1u << 20) + 1;
	char *text = malloc(bytes);
	struct refusal refusal = {0};
	const struct broken want = {"too long", 1, 1, "a scenario has at most 1048576"};
	assert_non_null(text);
	memset(text, '#', bytes);
	int rc = scenario_parse(&scenario, "text", text, bytes, NULL, 0, &refusal);
	free(text);
	assert_refused(rc, &refusal, "text", &want);
}

static void only_so_many_taps_are_read(void **)
{
	static char text[FILE_BYTES_MAX];
	struct refusal refusal = {0};
	for (uint32_t taps = SCENARIO_TAPS_MAX; taps <= SCENARIO_TAPS_MAX + 1; taps++) {
		size_t used = (size_t)snprintf(text, sizeof(text), "%staps:\n", good_text);
		for (uint32_t i = 0; i < taps; i++)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "  - {at: all}\n");
		int rc = scenario_parse(&scenario, "text", text, used, NULL, 0, &refusal);
		if (taps == SCENARIO_TAPS_MAX)
			assert_int_equal(rc, 0);
		else
			assert_refused(rc, &refusal, "text",
				       &(struct broken){"taps", 71, 5, "more than 64"});
	}
}

static void many_anchors_are_refused(void **)
{
	static char text[FILE_BYTES_MAX];
	struct refusal refusal = {0};
	size_t used = (size_t)snprintf(text, sizeof(text), "inputs:\n");
	for (uint32_t i = 0; i < 300; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "  - &a%u x\n", i);
	int rc = scenario_parse(&scenario, "text", text, used, NULL, 0, &refusal);
	assert_refused(rc, &refusal, "text",
		       &(struct broken){"anchors", 258, 5, "more than 256 anchors"});
}
