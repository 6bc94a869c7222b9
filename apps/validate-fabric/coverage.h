// SPDX-License-Identifier: Apache-2.0
// How much of a book has a verdict, and what --require asks of that.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct acceptance;

// Cases of the book that have a verdict, pass or fail.
uint32_t coverage_count(const struct acceptance *acceptance);

// Checks the words of --require against the book. -EINVAL.
int coverage_check(struct acceptance *acceptance);

// Whether the word, one of --require, is met by cases that have a verdict.
bool coverage_holds(const struct acceptance *acceptance, const char *word);
bool coverage_holds_all(const struct acceptance *acceptance);
