// SPDX-License-Identifier: Apache-2.0
// What a page is made of, as text; embed.py brings it in at build.
#pragma once

extern const char *const page_style;
extern const char *const page_script;
extern const char *const page_charts; // Apache ECharts, or NULL
