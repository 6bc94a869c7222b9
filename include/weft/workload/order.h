// SPDX-License-Identifier: Apache-2.0
// The order of ranks: which rank sits on which GPU, and so which groups of a job leave their
// scale-up domain and become traffic of the fabric.
#pragma once

#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/workload/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

enum dimension {
	DIMENSION_TP,
	DIMENSION_CP,
	DIMENSION_EP,
	DIMENSION_DP,
	DIMENSION_PP,
	DIMENSION_COUNT
};

const char *dimension_name(enum dimension dimension);

// Dimensions, the innermost first: in "tp-cp-ep-pp-dp" ranks that follow each other are tensor
// ranks of one group.
struct order {
	uint32_t count;
	uint8_t at[DIMENSION_COUNT]; // enum dimension
};

// Reads an order and holds it against a plan. -EINVAL with the column and the reason: a word that
// is no dimension, one given twice, a dimension that the plan cuts but the order lacks; or, where
// pipeline stages are not outermost, stages of the dense part and of experts that would not be the
// same ranks.
int order_parse(struct order *ret, const char *text, const struct plan *plan,
		struct refusal *refusal);

// Where GPUs are: rank r is GPU r, with a NIC of its own.
struct gpu_layout {
	uint32_t gpus_per_domain; // of a rack that NVLink joins, or of a server
	uint32_t gpus_per_tray;	  // the place in a tray is the rail
};

struct gpu_location {
	uint32_t domain, tray, nic, rail; // tray within its domain; nic over all
};
struct gpu_location gpu_location_of(const struct gpu_layout *gpu_layout, uint32_t rank);

// Groups of a job.
enum group_kind {
	GROUP_TP,
	GROUP_CP,
	GROUP_EP,
	GROUP_PP,
	GROUP_DP,     // replicas and context ranks, who share the dense parameters
	GROUP_EDP,    // who share the same experts
	GROUP_SHARD,  // of GROUP_DP: those that follow each other and share what is cut
	GROUP_ACROSS, // of GROUP_DP: those that hold the same shard
	GROUP_ETP,    // who cut an expert
	GROUP_KIND_COUNT
};

const char *group_kind_name(enum group_kind kind);

// How the groups of a kind lie; all of them, so that the worst is seen.
struct spread {
	uint32_t ranks, groups;
	uint32_t domains_max;	 // that one group touches
	uint32_t per_domain_min; // ranks of a group in a domain that it touches
	uint32_t per_domain_max;
	uint64_t hops, hops_out; // from a rank to the next of its group, and round; those that
				 // leave the domain
	uint64_t hops_rail;	 // of these, those between different rails
};

// Looks at every rank of the plan. A group of one rank has no hops.
void order_spread(struct spread *ret, const struct order *order, const struct plan *plan,
		  enum group_kind kind, const struct gpu_layout *gpu_layout);

// Rank `at` of group `group` of this kind; groups and ranks are counted in rank order.
uint32_t order_rank(const struct order *order, const struct plan *plan, enum group_kind kind,
		    uint32_t group, uint32_t at);

// The pipeline stage of a rank.
uint32_t order_stage(const struct order *order, const struct plan *plan, uint32_t rank);

// The replica of the dense part that a rank is of.
uint32_t order_replica(const struct order *order, const struct plan *plan, uint32_t rank);

// The kind of group that messages of this kind travel in.
enum group_kind message_group(const struct plan *plan, enum message_kind kind);

// Bytes that the busiest NIC sends over the fabric in a step for messages of this kind; 0 when
// their groups stay inside their domains. Rings: what leaves a domain is spread over the NICs of
// the group's ranks there. Tokens to experts are assumed to be spread evenly.
uint64_t order_nic_bytes(const struct spread *spread, enum message_kind kind, uint64_t total_bytes,
			 bool is_all_reduce);

#ifdef __cplusplus
}
#endif
