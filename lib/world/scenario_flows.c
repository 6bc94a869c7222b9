// SPDX-License-Identifier: Apache-2.0
// The flows of a scenario: whether a pattern of them fits the fabric, and whether the QPs of a
// connection have each a share of them. Those of a matrix are checked when it is read.

#include "scenario_draft.h"

static int check_pattern(struct draft *draft)
{
	const struct traffic_config *traffic = &draft->scenario->traffic;
	uint32_t nics = draft->scenario->fabric.nics;
	if (traffic->kind == TRAFFIC_INCAST && traffic->senders >= nics)
		return draft_refuse(draft, draft_mark(draft, "traffic.senders"),
				    "traffic.senders: %u senders and a receiver need more than %u "
				    "NICs",
				    traffic->senders, nics);
	if (traffic->kind == TRAFFIC_OUTCAST && traffic->receivers >= nics)
		return draft_refuse(draft, draft_mark(draft, "traffic.receivers"),
				    "traffic.receivers: %u receivers and a sender need more than "
				    "%u NICs",
				    traffic->receivers, nics);
	if (traffic->kind == TRAFFIC_TORNADO && nics % 2 != 0)
		return draft_refuse(draft, draft_mark(draft, "traffic.kind"),
				    "traffic.kind: a tornado needs two halves, but %u NICs are odd",
				    nics);
	if (traffic->kind == TRAFFIC_BUTTERFLY && pattern_butterfly_rounds(nics) == 0)
		return draft_refuse(draft, draft_mark(draft, "traffic.kind"),
				    "traffic.kind: a butterfly needs 2, 4, 8, ... NICs, not %u",
				    nics);
	return 0;
}

int draft_check_shares(struct draft *draft, const char *path, uint64_t bytes)
{
	uint32_t qps = draft->scenario->qps_per_connection;
	if (flow_last_share_bytes(bytes, qps) > 0)
		return 0;
	return draft_refuse(
		draft, draft_mark(draft, path),
		"%s: %u QPs (transport.qps_per_connection) share %llu B by %llu B each, "
		"which leaves the last of them nothing; take fewer",
		path, qps, (unsigned long long)bytes,
		(unsigned long long)flow_share_bytes(bytes, qps));
}

int draft_check_flows(struct draft *draft)
{
	const struct traffic_config *traffic = &draft->scenario->traffic;
	if (!scenario_use_holds(USE_BYTES, draft->scenario))
		return 0;
	if (traffic->bytes > UINT32_MAX)
		return draft_refuse(draft, draft_mark(draft, "traffic.bytes"),
				    "traffic.bytes: a message has at most 4294967295 B");
	int rc = check_pattern(draft);
	return rc == 0 ? draft_check_shares(draft, "traffic.bytes", traffic->bytes) : rc;
}
