// SPDX-License-Identifier: Apache-2.0
// How the short form looks where it is printed: colours and width of a terminal, none of it in a
// pipe. NO_COLOR is of no-color.org.

#include <weft/result/report.h>
#include <weft/run/host_info.h>

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct report_style style_of(int descriptor)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	struct report_style style = {0};
	struct winsize size;
	if (!isatty(descriptor))
		return style;
	style.is_coloured = (no_color == NULL || no_color[0] == '\0') && term != NULL &&
		strcmp(term, "dumb") != 0;
	if (ioctl(descriptor, TIOCGWINSZ, &size) == 0)
		style.columns = size.ws_col;
	return style;
}
