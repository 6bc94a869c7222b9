// SPDX-License-Identifier: Apache-2.0
// The files of a result. All are written under temporary names in the target folder first and
// renamed only when every one of them is whole: a refused or broken run leaves the folder as it
// was.

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <weft/result/report.h>

#include "hdr.h"
#include "sections/sections.h"
#include "timeline/perfetto.h"
#include <weft/result/bypass.h>
#include <weft/result/write.h>

#define FILES_MAX (10 + HDR_COUNT)
#define PATH_BYTES 4096 // as long as the system takes

struct output {
	char name[HDR_NAME_BYTES];
	bool has_content; // false: a file of this name from an earlier run is removed
	enum output_kind {
		OUTPUT_JSON,
		OUTPUT_SERIES,
		OUTPUT_BYPASS,
		OUTPUT_FLOWS,
		OUTPUT_FLOW_EVS,
		OUTPUT_CABLES,
		OUTPUT_TRACE,
		OUTPUT_HDR
	} kind;
	uint32_t hdr_index;
};

static int path_of(char ret[PATH_BYTES], const char *dir, const char *name, bool is_temporary)
{
	int length = is_temporary
		? snprintf(ret, PATH_BYTES, "%s/.%s.%ld", dir, name, (long)getpid())
		: snprintf(ret, PATH_BYTES, "%s/%s", dir, name);
	return length < PATH_BYTES ? 0 : -ENAMETOOLONG;
}

int write_failed(struct refusal *refusal, const char *dir, int code)
{
	bool is_of_folder = code == -ENOENT || code == -ENOTDIR || code == -EACCES ||
		code == -EPERM || code == -EROFS;
	if (refusal == NULL)
		return code;
	*refusal = (struct refusal){0};
	refusal_name(refusal, dir);
	snprintf(refusal->text, sizeof(refusal->text), "cannot write the result: %s%s",
		 strerror(-code),
		 is_of_folder ? "; name a folder that exists and can be written" : "");
	return code;
}

static void outputs_of(struct output ret[FILES_MAX], const struct report_input *input)
{
	ret[0] = (struct output){.name = "result.json", .has_content = true, .kind = OUTPUT_JSON};
	ret[1] = (struct output){.name = "series.csv", .kind = OUTPUT_SERIES};
	ret[1].has_content = watch_has_series(input);
	ret[2] = (struct output){.name = "bypass.csv", .kind = OUTPUT_BYPASS};
	ret[2].has_content = bypass_is_watched(input->world);
	for (uint32_t i = 0; i < 3; i++) // of weft report: they were of another run
		ret[3 + i] = (struct output){.kind = OUTPUT_HDR};
	strcpy(ret[3].name, "report.html");
	strcpy(ret[4].name, "metrics.txt");
	strcpy(ret[5].name, "result.csv");
	ret[6] = (struct output){.name = "trace.json", .has_content = true, .kind = OUTPUT_TRACE};
	ret[7] = (struct output){.name = "flows.csv", .kind = OUTPUT_FLOWS};
	ret[7].has_content = flows_are_there(input->world);
	ret[8] = (struct output){.name = "flow_evs.csv", .kind = OUTPUT_FLOW_EVS};
	ret[8].has_content = flow_evs_are_counted(input->world);
	ret[9] = (struct output){.name = "cables.csv", .kind = OUTPUT_CABLES};
	ret[9].has_content = input->wall == NULL && cables_are_counted(input->world);
	for (uint32_t i = 0; i < HDR_COUNT; i++) {
		struct output *output = &ret[10 + i];
		*output = (struct output){.hdr_index = i, .kind = OUTPUT_HDR};
		hdr_name(i, output->name);
		output->has_content = hdr_has_values(input, i);
	}
}

void write_names(FILE *to, const struct report_input *input)
{
	struct output outputs[FILES_MAX];
	outputs_of(outputs, input);
	fprintf(to, "Files in %s: result.json, trace.json", input->out_dir);
	for (int is_hdr = 1; is_hdr >= 0; is_hdr--)
		for (uint32_t i = 0; i < FILES_MAX; i++) {
			enum output_kind kind = outputs[i].kind;
			if (outputs[i].has_content && (kind == OUTPUT_HDR) == is_hdr &&
			    kind != OUTPUT_JSON && kind != OUTPUT_TRACE)
				fprintf(to, "\n  %s", outputs[i].name);
		}
	fprintf(to, "\n");
}

static int content_write(const char *path, const struct report_input *input,
			 const struct output *output)
{
	FILE *file = fopen(path, "wx");
	if (file == NULL)
		return -errno;
	int code = 0;
	errno = 0;
	if (output->kind == OUTPUT_JSON)
		code = report_json(file, input);
	else if (output->kind == OUTPUT_TRACE)
		code = perfetto_write(file, input);
	else if (output->kind == OUTPUT_SERIES)
		watch_series_write(file, input);
	else if (output->kind == OUTPUT_BYPASS)
		bypass_write(file, input);
	else if (output->kind == OUTPUT_FLOWS)
		flows_write(file, input->world);
	else if (output->kind == OUTPUT_FLOW_EVS)
		flow_evs_write(file, input->world);
	else if (output->kind == OUTPUT_CABLES)
		cables_write(file, input->world);
	else
		hdr_write(file, input, output->hdr_index);
	if (code == 0 && (ferror(file) != 0 || fflush(file) != 0))
		code = errno != 0 ? -errno : -EIO;
	if (fclose(file) != 0 && code == 0)
		code = -errno;
	return code;
}

static void temporaries_remove(const struct report_input *input, const struct output *outputs)
{
	char path[PATH_BYTES];
	for (uint32_t i = 0; i < FILES_MAX; i++) {
		if (outputs[i].has_content &&
		    path_of(path, input->out_dir, outputs[i].name, true) == 0)
			unlink(path);
	}
}

// Puts a whole temporary in its place, or takes away what an earlier run left under that name.
static int publish(const struct report_input *input, const struct output *output, char *path)
{
	char temporary[PATH_BYTES];
	int code = path_of(path, input->out_dir, output->name, false);
	if (code < 0)
		return code;
	if (!output->has_content)
		return unlink(path) == 0 || errno == ENOENT ? 0 : -errno;
	code = path_of(temporary, input->out_dir, output->name, true);
	if (code < 0)
		return code;
	return rename(temporary, path) == 0 ? 0 : -errno;
}

int report_write(const struct report_input *input, struct refusal *refusal)
{
	struct output outputs[FILES_MAX];
	char path[PATH_BYTES] = "";
	int code = 0;
	outputs_of(outputs, input);
	for (uint32_t i = 0; i < FILES_MAX && code == 0; i++) {
		if (!outputs[i].has_content)
			continue;
		code = path_of(path, input->out_dir, outputs[i].name, true);
		if (code == 0) {
			unlink(path); // of a process that had our number and was killed
			code = content_write(path, input, &outputs[i]);
		}
	}
	for (uint32_t i = 0; i < FILES_MAX && code == 0; i++)
		code = publish(input, &outputs[i], path);
	if (code == 0)
		return 0;
	temporaries_remove(input, outputs);
	return write_failed(refusal, input->out_dir, code);
}
