// SPDX-License-Identifier: Apache-2.0
// weft <command>: finds weft-<command> and becomes it. Nothing else: each command parses its own
// arguments and has its own help.

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/core/near_word.h>
#include <weft/result/report_escape.h>

#include "command.h"
#include "help.h"
#include "weft_version.h"
#include <weft/run/outcome.h>

// Where commands are looked for, relative to the folder of this program.
static const char *const places[] = {"", "../libexec/weft/"};

// The folder of this program with a slash at its end; empty when the system does not tell.
static void own_folder(char ret[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", ret, PATH_MAX - 1);
	ret[length > 0 ? length : 0] = '\0';
	char *slash = strrchr(ret, '/');
	if (slash != NULL)
		slash[1] = '\0';
	else
		ret[0] = '\0';
}

// Becomes <folder><place>weft-<command>. Returns only when that failed: `reason` when there is no
// such file and `reason` has something to tell already, else why this one could not be started.
static int try_place(const char *folder, const char *place, char **arguments, int reason)
{
	char file[2 * PATH_MAX];
	int length = snprintf(file, sizeof(file), "%s%sweft-%s", folder, place, arguments[0]);
	if (length >= (int)sizeof(file))
		return reason;
	execv(file, arguments);
	int why = errno;
	bool is_there = access(file, F_OK) == 0; // a closed folder of PATH is no reason
	return is_there && reason == ENOENT ? why : reason;
}

// Becomes weft-<arguments[0]>. Returns only when that failed, with the first reason that is not
// "there is none".
static int become(char **arguments)
{
	char folder[PATH_MAX];
	int reason = ENOENT;
	own_folder(folder);
	for (size_t i = 0; folder[0] != '\0' && i < sizeof(places) / sizeof(places[0]); i++)
		reason = try_place(folder, places[i], arguments, reason);
	const char *path = getenv("PATH");
	while (path != NULL && *path != '\0') {
		size_t length = strcspn(path, ":");
		if (length > 0 && length < sizeof(folder)) {
			memcpy(folder, path, length);
			folder[length] = '\0';
			reason = try_place(folder, "/", arguments, reason);
		}
		path += length + (path[length] == ':');
	}
	return reason;
}

static void list_commands(FILE *to)
{
	size_t width = 0;
	for (const struct command *command = commands; command->name != NULL; command++)
		width = strlen(command->name) > width ? strlen(command->name) : width;
	fputs("commands:\n", to);
	for (const struct command *command = commands; command->name != NULL; command++)
		fprintf(to, "    %-*s  %s\n", (int)width, command->name, command->summary);
}

// Whether it can be part of a file's name: nothing that leads to another folder.
static bool is_name(const char *word)
{
	return word[0] != '\0' && word[0] != '-' && word[0] != '.' && strchr(word, '/') == NULL &&
		strlen(word) < NAME_MAX - strlen("weft-");
}

// Whether this name is of a command of weft, built or not.
static bool is_command(const char *name)
{
	const struct command *command = commands;
	while (command->name != NULL && strcmp(command->name, name) != 0)
		command++;
	return command->name != NULL;
}

// Runs the command arguments[0] with what follows it.
static int run_command(char **arguments)
{
	const char *command = arguments[0];
	int reason = is_name(command) ? become(arguments) : ENOENT;
	if (reason != ENOENT) {
		fprintf(stderr, "weft: weft-%s: %s\n", command, strerror(reason));
		return EXIT_ENVIRONMENT;
	}
	if (is_command(command)) {
		fprintf(stderr,
			"weft: there is no program weft-%s: it is not installed here, or was not "
			"built\n",
			command);
		return EXIT_ENVIRONMENT;
	}
	char *shown = escape_text(command);
	struct near_word meant = near_word_of(command);
	for (const struct command *at = commands; at->name != NULL; at++)
		near_word_see(&meant, at->name);
	bool is_found = meant.found[0] != '\0';
	fprintf(stderr, "weft: '%s' is not a command%s%s%s\n", shown,
		is_found ? "; did you mean weft " : "", meant.found, is_found ? "?" : "");
	free(shown);
	if (!is_found)
		list_commands(stderr);
	return EXIT_BAD_INPUT;
}

// Ends with 0 only when the text was written whole.
static int print(const char *text)
{
	if (fputs(text, stdout) < 0 || fflush(stdout) != 0) {
		fprintf(stderr, "weft: cannot write: %s\n", strerror(errno));
		return EXIT_ENVIRONMENT;
	}
	return EXIT_SUCCESS;
}

// The script of a shell.
static int print_completion(int count, char **shells)
{
	bool is_zsh = count == 1 && strcmp(shells[0], "zsh") == 0;
	if (count != 1 || (!is_zsh && strcmp(shells[0], "bash") != 0)) {
		fputs("weft: completion is for bash or zsh: weft completion bash\n", stderr);
		return EXIT_BAD_INPUT;
	}
	return print(is_zsh ? completion_zsh : completion_bash);
}

int main(int count, char **arguments)
{
	if (count < 2) {
		fputs("usage: weft <command> [arguments]\n", stderr);
		list_commands(stderr);
		return EXIT_BAD_INPUT;
	}
	const char *first = arguments[1];
	if (strcmp(first, "--version") == 0)
		return print(WEFT_VERSION_TEXT "\n");
	bool is_help = strcmp(first, "help") == 0;
	if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || (is_help && count == 2))
		return print(help_text);
	if (is_help) {
		char *ask[] = {arguments[2], "--help", NULL};
		return run_command(ask);
	}
	if (strcmp(first, "completion") == 0)
		return print_completion(count - 2, arguments + 2);
	return run_command(arguments + 1);
}
