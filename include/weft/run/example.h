// SPDX-License-Identifier: Apache-2.0
// One run of a book, whose fabric its page draws.
#pragma once

#include <weft/run/result_file.h>

struct example {
	struct result_file file;
	char *cables; // cables.csv, or NULL
};

// Reads that of the folder `from`/`folder`, the folder of a case. A case without a run that holds,
// or whose links were not counted, is no example: then `cables` is NULL.
void example_read(struct example *ret, const char *from, const char *folder);
void example_free(struct example *example);
