// SPDX-License-Identifier: Apache-2.0
// Profiles that QPs of one endpoint may have in place of what its configuration says: a set of
// entropy values, and a congestion control with its parameters. Each has a number from 1 on, which
// a QP names when it is connected (qp_config); 0 is the configuration's. MRC's controller makes
// them, and its QPs name one of each when they enter INIT. docs/protocol.md, "Profiles".
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/cc/cc.h>
#include <weft/core/refusal.h>

struct endpoint;

#ifdef __cplusplus
extern "C" {
#endif

// Makes EV profile `number` (1 .. transport_config.ev_profiles_max) of `count` values, or makes it
// anew; value i is on plane i mod planes. Each plane needs the same power of two of them, at most
// as many as the endpoint's own EVs. A value may stand on several planes, as paths of their own,
// but once on each. -EINVAL with the reason; -EBUSY: a QP has it.
int endpoint_ev_profile(struct endpoint *endpoint, uint32_t number, const uint32_t *values,
			uint32_t count, struct refusal *refusal);

// Makes congestion control profile `number` (1 .. cc_profiles_max), or makes it anew. `config` is
// copied. Of an endpoint whose receivers give credits, or with RC, all QPs have the same. -EINVAL
// with the reason; -EBUSY: a QP has it.
int endpoint_cc_profile(struct endpoint *endpoint, uint32_t number, const struct cc_config *config,
			struct refusal *refusal);

// Whether these profiles are there, or 0.
bool endpoint_has_profiles(const struct endpoint *endpoint, uint32_t ev_profile,
			   uint32_t cc_profile);

#ifdef __cplusplus
}
#endif
