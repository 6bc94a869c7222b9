// SPDX-License-Identifier: Apache-2.0
// Bytes of a file that gzip may have packed, as capture_reader reads them: unpacked where the first
// bytes are gzip's (RFC 1952, several members too), as they are where not. By ISA-L's inflate.
#pragma once

#include <weft/capture/capture_reader.h>

struct capture_gunzip;

#ifdef __cplusplus
extern "C" {
#endif

// What one takes, aligned to 64 bytes.
size_t capture_gunzip_bytes(void);

// Begins a file in `memory`, the caller's, whose bytes come from `read`.
struct capture_gunzip *capture_gunzip_begin(void *memory, capture_read_fn *read, void *context);

// A capture_read_fn whose context is a struct capture_gunzip. Besides what `read` gives as errors:
// -ENODATA where the packed file ends within a member, -EBADMSG where it is damaged; all that was
// good has been given out before.
int64_t capture_gunzip_read(void *context, void *to, size_t bytes);

#ifdef __cplusplus
}
#endif
