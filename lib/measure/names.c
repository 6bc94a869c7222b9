// SPDX-License-Identifier: Apache-2.0
// The words of drop reasons and pair classes, as every output prints them. They are part of the
// schema in docs/result.md: a word that has been published is not changed.

#include <weft/measure/measure.h>

#include <assert.h>

const char *drop_reason_name(enum drop_reason reason)
{
	static const char *const names[] = {"queue_full",    "control_full", "no_route",
					    "link_down",     "random_loss",  "unknown_qp",
					    "bad_frame",     "burst_loss",   "host_full",
					    "headroom_full", "pause_watch"};
	static_assert(sizeof(names) / sizeof(*names) == DROP_REASON_COUNT, "a name for each");
	return reason < DROP_REASON_COUNT ? names[reason] : "unknown";
}

const char *pair_class_name(enum pair_class pair)
{
	static const char *const names[] = {"same_rack", "same_t0", "across_t1"};
	static_assert(sizeof(names) / sizeof(*names) == PAIR_CLASS_COUNT, "a name for each");
	return pair < PAIR_CLASS_COUNT ? names[pair] : "unknown";
}
