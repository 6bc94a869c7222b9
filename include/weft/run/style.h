// SPDX-License-Identifier: Apache-2.0
// Colours and width of where text is printed.
#pragma once

#include <weft/result/report.h>

struct report_style style_of(int descriptor);
