// SPDX-License-Identifier: Apache-2.0
// Who stands out in a run: culprits with their evidence, for report_input.diagnosis.
#pragma once

#include <weft/result/report.h>

extern const struct report_section diagnose_section;
