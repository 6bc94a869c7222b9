// SPDX-License-Identifier: Apache-2.0
// This machine and this moment, for files that have to say where and when they were written.
#pragma once

#include <weft/verdict/report_junit.h>

void here(struct junit_origin *ret);
