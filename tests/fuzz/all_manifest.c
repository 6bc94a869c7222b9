// SPDX-License-Identifier: Apache-2.0
// Fuzz: any bytes as manifest.json. What is accepted names files of one folder, in order, each
// once; what is refused has a reason and a file.

#include <errno.h>

#include <weft/result/report_manifest.h>

#include "target.h"

#ifndef WITH_LIBFUZZER
#define SUM "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
const char *const fuzz_folders[] = {NULL};
const char *const fuzz_texts[] = {
	"{\"kind\": \"manifest\", \"schema\": 1, \"weft\": \"w\", \"files\": [{\"name\": "
	"\"a.hdr\", "
	"\"bytes\": 3, \"sha256\": \"" SUM "\"}, {\"name\": \"b\", \"bytes\": 0, \"sha256\": \"" SUM
	"\"}], \"inputs\": [{\"path\": \"/x/y.yaml\", \"bytes\": 9, \"sha256\": \"" SUM "\"}]}",
	"{\"kind\": \"manifest\", \"schema\": 1, \"weft\": \"w\", \"files\": [], \"inputs\": []}",
	NULL};
#endif

static void check_rows(const struct manifest *manifest)
{
	struct refusal refusal = {0};
	for (uint32_t i = 0; i < manifest->files.count; i++) {
		const struct manifest_row *row = &manifest->files.rows[i];
		check(row->name[0] != '\0' && row->name[0] != '.');
		check(strchr(row->name, '/') == NULL && strcmp(row->name, MANIFEST_NAME) != 0);
		check(strlen(row->digest) + 1 == MANIFEST_DIGEST_BYTES);
		check(i == 0 || strcmp(manifest->files.rows[i - 1].name, row->name) < 0);
		int rc = manifest_match(manifest, "d", row->name, "abc", 3, &refusal);
		check(rc == 0 ? row->bytes == 3 : rc == -EINVAL && refusal.text[0] != '\0');
	}
	check(manifest_match(manifest, "d", "no/such", "", 0, &refusal) == -EINVAL);
}

static void fuzz_one(const uint8_t *data, size_t bytes)
{
	struct manifest manifest;
	struct refusal refusal = {0};
	char *text = malloc(bytes + (bytes == 0)); // of this size: a reader beyond the end is seen
	check(text != NULL);
	memcpy(text, data, bytes);
	int rc = manifest_parse(&manifest, "d/manifest.json", text, bytes, &refusal);
	free(text);
	if (rc == 0)
		check_rows(&manifest);
	else
		check(rc == -EINVAL && refusal.text[0] != '\0' &&
		      strcmp(refusal.file, "d/manifest.json") == 0);
	manifest_free(&manifest);
}
