// SPDX-License-Identifier: Apache-2.0
// What pages have in common, whatever they are about: their head, with the style within it, and the
// verdict that they begin with. Their policy forbids every request.
#pragma once

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

// From the first byte to the end of the head. `style` is page_style.
void html_page_begin(FILE *to, const char *title, const char *style);

// Opens the card with the verdict, whose `state` is good, bad or warn: a badge and a headline. What
// is written behind it stands in the card up to html_verdict_end().
void html_verdict_begin(FILE *to, const char *state, const char *badge, const char *headline);
void html_verdict_end(FILE *to);

#ifdef __cplusplus
}
#endif
