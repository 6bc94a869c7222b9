// SPDX-License-Identifier: Apache-2.0
// A build without zlib.

#include <errno.h>

#include <weft/trace/trace.h>

int trace_unpack(char **ret_text, size_t *ret_bytes, const char *text, size_t bytes,
		 struct refusal *refusal)
{
	return refuse(refusal, -ENOTSUP,
		      "this build cannot unpack gzip: zlib (zlib1g-dev) was not there");
}
