// SPDX-License-Identifier: Apache-2.0
// What a ring accepts, asked before a job is built, so that a wrong job is refused with its reason
// and not found while it runs.
#pragma once

#include <weft/workload/workload.h>

// -EINVAL with a reason when no ring can be made of `config`.
int ring_config_check(const struct ring_config *config, struct refusal *refusal);

// -EINVAL with a reason when a collective of `bytes` does not fit a ring of `config`.
int ring_bytes_check(const struct ring_config *config, uint64_t bytes, struct refusal *refusal);
