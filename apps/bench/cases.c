// SPDX-License-Identifier: Apache-2.0
// The standard cases. What htsim took for the same traffic was counted with callgrind, stock
// binary, on permutations, incasts and rings of these sizes.

#include "cases.h"

#include <stdio.h>
#include <string.h>

#include <weft/core/check.h>

// Links of 1 us and switches without latency, as htsim's runs had them.
#define DELAYS "  nic_delay: 1us\n  trunk_delay: 1us\n  switch_delay: 0ns\n"
#define FAT_TREE_128 \
	"  topology: fat-tree\n  nics: 128\n  tor_nics: 4\n  pod_tors: 4\n  pod_aggs: 4\n" \
	"  cores: 16\n" DELAYS
#define FAT_TREE_64 \
	"  topology: fat-tree\n  nics: 64\n  tor_nics: 4\n  pod_tors: 4\n  pod_aggs: 4\n  cores: " \
	"16\n" DELAYS
#define FAT_TREE_1024 \
	"  topology: fat-tree\n  nics: 1024\n  tor_nics: 8\n  pod_tors: 8\n  pod_aggs: 8\n" \
	"  cores: 64\n" DELAYS
#define LEAF_SPINE_1024 \
	"  topology: leaf-spine\n  nics: 1024\n  nics_per_t0: 32\n  t1_count: 32\n" DELAYS
#define LEAF_SPINE_8192 \
	"  topology: leaf-spine\n  nics: 8192\n  nics_per_t0: 64\n  t1_count: 64\n" DELAYS

// Packets of 4,150 B, a SACK for every 16 KiB, trimming to 64 B by a coin, marks from 20 to 80 % of
// queues of one bandwidth-delay product, 128 entropy values and htsim's usual way to choose among
// them. A window of 512 packets is more than NSCC's largest; longer ones give the same runs.
static const char rules[] =
	"queue:\n  ecn_last_hop: true\n  trim_bytes: 64B\n  trim_choice: coin\n"
	"transport:\n  payload: 4086B\n  header: 64B\n  control: 64B\n  path: mixed\n  evs: 128\n"
	"  mpr: 512\n  sack_rule: htsim\n  completion: sack\n  sack_bytes: 16384B\n"
	"  hole_age: off\n";

#define PERMUTATION(bytes) "  kind: permutation\n  bytes: " bytes "\n"
#define INCAST(senders) "  kind: incast\n  senders: " senders "\n  bytes: 2MB\n"
#define RING(ranks) \
	"  kind: ring\n  ranks: " ranks "\n  collective: all_reduce\n  bytes: 16MiB\n" \
	"  channels: 1\n  form: barrier\n"
#define ALL_TO_ALL(bytes) "  kind: all_to_all\n  bytes: " bytes "\n"
// Rings of 128 whose members are in racks one behind the other: one of each rack.
#define RINGS_ACROSS_RACKS \
	"  kind: ring\n  jobs: 64\n  placement: spread\n  bytes: 2MiB\n  channels: 1\n" \
	"  form: barrier\n"

#define RTO_100G "100.656us"
#define RTO_400G "90.198us"
#define RTO_400G_TWO_TIERS "65.298us"
#define RTO_800G_TWO_TIERS "64.053us"

static const struct bench_case cases[] = {
	{"perm128-100g-2mb", "permutation of 2 MB, 128 NICs, three tiers", FAT_TREE_128, "100Gb/s",
	 RTO_100G, PERMUTATION("2MB"), 0},
	{"perm128-400g-2mb", "permutation of 2 MB, 128 NICs, three tiers", FAT_TREE_128, "400Gb/s",
	 RTO_400G, PERMUTATION("2MB"), 3037},
	{"perm128-100g-8mb", "permutation of 8 MB, 128 NICs, three tiers", FAT_TREE_128, "100Gb/s",
	 RTO_100G, PERMUTATION("8MB"), 0},
	{"perm128-400g-8mb", "permutation of 8 MB, 128 NICs, three tiers", FAT_TREE_128, "400Gb/s",
	 RTO_400G, PERMUTATION("8MB"), 0},
	{"incast8-400g", "8 NICs of 128 send 2 MB to one", FAT_TREE_128, "400Gb/s", RTO_400G,
	 INCAST("8"), 0},
	{"incast32-400g", "32 NICs of 128 send 2 MB to one", FAT_TREE_128, "400Gb/s", RTO_400G,
	 INCAST("32"), 2747},
	{"ring64-400g", "all-reduce of 16 MiB in a ring of 64", FAT_TREE_128, "400Gb/s", RTO_400G,
	 RING("64"), 3959},
	{"ring128-400g", "all-reduce of 16 MiB in a ring of 128", FAT_TREE_128, "400Gb/s", RTO_400G,
	 RING("128"), 0},
	{"alltoall64-400g", "128 KiB from each of 64 NICs to each other", FAT_TREE_64, "400Gb/s",
	 RTO_400G, ALL_TO_ALL("128KiB"), 0},
	{"alltoall128-400g", "64 KiB from each of 128 NICs to each other", FAT_TREE_128, "400Gb/s",
	 RTO_400G, ALL_TO_ALL("64KiB"), 0},
	{"perm1024-ls-400g", "permutation of 2 MB, 1,024 NICs, leaf-spine", LEAF_SPINE_1024,
	 "400Gb/s", RTO_400G_TWO_TIERS, PERMUTATION("2MB"), 0},
	{"perm1024-ft-400g", "permutation of 2 MB, 1,024 NICs, three tiers", FAT_TREE_1024,
	 "400Gb/s", RTO_400G, PERMUTATION("2MB"), 0},
	{"perm8192-400g", "permutation of 2 MB, 8,192 NICs, leaf-spine", LEAF_SPINE_8192, "400Gb/s",
	 RTO_400G_TWO_TIERS, PERMUTATION("2MB"), 0},
	{"perm8192-800g", "permutation of 2 MB, 8,192 NICs, leaf-spine", LEAF_SPINE_8192, "800Gb/s",
	 RTO_800G_TWO_TIERS, PERMUTATION("2MB"), 0},
	{"ring8192-400g", "64 rings of 128 across racks, reduce-scatter of 2 MiB", LEAF_SPINE_8192,
	 "400Gb/s", RTO_400G_TWO_TIERS, RINGS_ACROSS_RACKS, 0},
	{"ring8192-800g", "64 rings of 128 across racks, reduce-scatter of 2 MiB", LEAF_SPINE_8192,
	 "800Gb/s", RTO_800G_TWO_TIERS, RINGS_ACROSS_RACKS, 0},
};
#define CASES ((uint32_t)(sizeof(cases) / sizeof(*cases)))

uint32_t cases_count(void)
{
	return CASES;
}

const struct bench_case *cases_at(uint32_t index)
{
	check(index < CASES);
	return &cases[index];
}

static bool is_name(const char *word, size_t bytes)
{
	for (uint32_t i = 0; i < CASES; i++)
		if (strlen(cases[i].name) == bytes && memcmp(cases[i].name, word, bytes) == 0)
			return true;
	return false;
}

// Whether the word chooses the case.
static bool chooses(const char *word, size_t bytes, uint32_t index)
{
	const char *name = cases[index].name;
	if (bytes == 0 || strncmp(name, word, bytes) != 0)
		return false;
	return name[bytes] == '\0' || !is_name(word, bytes);
}

bool cases_is_chosen(uint32_t index, const char *words)
{
	if (words == NULL)
		return true;
	for (const char *word = words;; word++) {
		size_t bytes = strcspn(word, ",");
		if (chooses(word, bytes, index))
			return true;
		word += bytes;
		if (*word == '\0')
			return false;
	}
}

const char *cases_unknown(const char *words)
{
	for (const char *word = words; word != NULL; word++) {
		size_t bytes = strcspn(word, ",");
		uint32_t index = 0;
		while (index < CASES && !chooses(word, bytes, index))
			index++;
		if (index == CASES)
			return word;
		word += bytes;
		if (*word == '\0')
			break;
	}
	return NULL;
}

size_t cases_text(uint32_t index, char *ret, size_t bytes)
{
	const struct bench_case *one = cases_at(index);
	int length = snprintf(
		ret, bytes,
		"name: %s\ndescription: \"%s, %s\"\nseed: 13\nfabric:\n%s  link_rate: %s\n"
		"%s  rto: %s\ncc:\n  algorithm: nscc\n  htsim: true\ntraffic:\n%s",
		one->name, one->about, one->rate, one->fabric, one->rate, rules, one->rto,
		one->traffic);
	check(length > 0 && (size_t)length < bytes);
	return (size_t)length;
}
