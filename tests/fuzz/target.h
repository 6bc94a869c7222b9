// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share. A target defines fuzz_one() and its first inputs. tests/fuzz/fuzz.sh
// builds it with clang's libFuzzer (-DWITH_LIBFUZZER); every other build has the plain mutator
// below, so that the target always runs: WEFT_FUZZ_S seconds (2), from seed WEFT_FUZZ_SEED (1). The
// same seed makes the same inputs.
#pragma once

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/core/check.h>
#include <weft/core/refusal.h>
#include <weft/core/rng.h>

#define FUZZ_BYTES_MAX 65536
#define FUZZ_SEEDS_MAX 512

// Takes one input. It stops the program when something is wrong.
static void fuzz_one(const uint8_t *data, size_t bytes);

// Lines of an input, the last one too where nothing ends it: no refusal names one behind them.
static inline uint32_t fuzz_lines(const uint8_t *data, size_t bytes)
{
	uint32_t lines = 1;
	for (size_t i = 0; i < bytes; i++)
		lines += data[i] == '\n';
	return lines;
}

// What a reader of texts answers to a wrong one.
static inline void fuzz_refused(int rc, const struct refusal *refusal)
{
	check(rc == -EINVAL && refusal->text[0] != '\0');
	for (const char *at = refusal->text; *at != '\0'; at++)
		check(*at >= ' ' && *at < 127);
}

#ifdef WITH_LIBFUZZER

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	fuzz_one(data, bytes);
	return 0;
}

#else

// Folders below the source tree whose files are the first inputs, and texts; both end with NULL.
extern const char *const fuzz_folders[];
extern const char *const fuzz_texts[];

// With FUZZ_HAS_COMMANDS: shell commands whose output is a first input each; WEFT is in their
// environment. Ends with NULL.
extern const char *const fuzz_commands[];

struct fuzz_input {
	uint8_t at[FUZZ_BYTES_MAX];
	size_t bytes;
};

static struct fuzz_input fuzz_corpus[FUZZ_SEEDS_MAX];
static uint32_t fuzz_count;

static void fuzz_keep(const void *data, size_t bytes)
{
	if (fuzz_count == FUZZ_SEEDS_MAX || bytes > FUZZ_BYTES_MAX)
		return;
	memcpy(fuzz_corpus[fuzz_count].at, data, bytes);
	fuzz_corpus[fuzz_count++].bytes = bytes;
}

static void fuzz_keep_folder(const char *name)
{
	static uint8_t data[FUZZ_BYTES_MAX];
	char path[2048];
	snprintf(path, sizeof(path), "%s/%s", getenv("WEFT_SOURCE"), name);
	DIR *folder = opendir(path);
	if (folder == NULL)
		return;
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		snprintf(path, sizeof(path), "%s/%s/%s", getenv("WEFT_SOURCE"), name,
			 entry->d_name);
		FILE *file = strstr(entry->d_name, ".yaml") ? fopen(path, "rb") : NULL;
		if (file == NULL)
			continue;
		size_t bytes = fread(data, 1, sizeof(data), file);
		fclose(file);
		fuzz_keep(data, bytes);
	}
	closedir(folder);
}

#ifdef FUZZ_HAS_COMMANDS
static void fuzz_keep_output(const char *command)
{
	static uint8_t data[FUZZ_BYTES_MAX + 1];
	FILE *from = popen(command, "r");
	check(from != NULL);
	size_t bytes = fread(data, 1, sizeof(data), from);
	pclose(from); // it may end with another status: a partial run does
	check(bytes > 0 && bytes <= FUZZ_BYTES_MAX);
	fuzz_keep(data, bytes);
}
#endif

static uint32_t fuzz_below(struct rng *rng, size_t count)
{
	return count == 0 ? 0 : rng_below(rng, (uint32_t)count);
}

// Copies a piece of `from` into `input` at a random place.
static void fuzz_splice(struct fuzz_input *input, const struct fuzz_input *from, struct rng *rng)
{
	size_t at = fuzz_below(rng, input->bytes + 1), first = fuzz_below(rng, from->bytes + 1);
	size_t length = fuzz_below(rng, from->bytes - first + 1);
	if (length > 200)
		length = fuzz_below(rng, 200);
	if (input->bytes + length > FUZZ_BYTES_MAX)
		return;
	memmove(input->at + at + length, input->at + at, input->bytes - at);
	memmove(input->at + at, from->at + first, length); // `from` may be `input` itself
	input->bytes += length;
}

static void fuzz_cut(struct fuzz_input *input, struct rng *rng)
{
	size_t at = fuzz_below(rng, input->bytes), length = fuzz_below(rng, 40);
	if (length > input->bytes - at)
		length = input->bytes - at;
	memmove(input->at + at, input->at + at + length, input->bytes - at - length);
	input->bytes -= length;
}

static void fuzz_mutate(struct fuzz_input *input, struct rng *rng)
{
	static const char odd[] = "0123456789-+.:,{}[]&*!|>%@'\"#\t\n \0\xff\x80unlimitedKMGB";
	for (uint32_t left = 1 + rng_below(rng, 4); left > 0; left--) {
		uint32_t kind = rng_below(rng, 5);
		size_t place = kind < 2 && input->bytes > 0 ? fuzz_below(rng, input->bytes) : 0;
		switch (kind) {
		case 0:
			if (input->bytes > 0)
				input->at[place] = (uint8_t)odd[rng_below(rng, sizeof(odd) - 1)];
			break;
		case 1:
			if (input->bytes > 0)
				input->at[place] ^= (uint8_t)(1u << rng_below(rng, 8));
			break;
		case 2:
			fuzz_cut(input, rng);
			break;
		case 3:
			fuzz_splice(input, input, rng);
			break;
		default:
			fuzz_splice(input, &fuzz_corpus[fuzz_below(rng, fuzz_count)], rng);
		}
	}
}

static uint64_t fuzz_number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

int main(int argc, char **argv)
{
	static struct fuzz_input input;
	if (getenv("WEFT_SOURCE") == NULL)
		return 1;
	for (uint32_t i = 0; fuzz_folders[i] != NULL; i++)
		fuzz_keep_folder(fuzz_folders[i]);
	for (uint32_t i = 0; fuzz_texts[i] != NULL; i++)
		fuzz_keep(fuzz_texts[i], strlen(fuzz_texts[i]));
#ifdef FUZZ_HAS_COMMANDS
	for (uint32_t i = 0; fuzz_commands[i] != NULL; i++)
		fuzz_keep_output(fuzz_commands[i]);
#endif
	for (uint32_t i = 0; i < fuzz_count; i++)
		fuzz_one(fuzz_corpus[i].at, fuzz_corpus[i].bytes);
	uint64_t seed = fuzz_number("WEFT_FUZZ_SEED", 1), done = 0;
	struct rng rng = rng_of(seed, RNG_TEST, 0);
	time_t end = time(NULL) + (time_t)fuzz_number("WEFT_FUZZ_S", 2);
	printf("seed %llu, %u first inputs\n", (unsigned long long)seed, fuzz_count);
	fflush(stdout);
	for (; done % 64 != 0 || time(NULL) < end; done++) {
		const struct fuzz_input *from = &fuzz_corpus[rng_below(&rng, fuzz_count)];
		memcpy(input.at, from->at, from->bytes);
		input.bytes = from->bytes;
		fuzz_mutate(&input, &rng);
		fuzz_one(input.at, input.bytes);
	}
	printf("%llu executions\n", (unsigned long long)done);
	return done == 0;
}

#endif
