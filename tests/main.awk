# SPDX-License-Identifier: Apache-2.0
# Makes the program of a file of tests: the file and, where that has tests and no main(), one that runs them in their
# order. A test is a `static void NAME(void **...)` in the first column; `static int set_up(void **...)` and tear_down() go
# before and after each, set_up_all() and tear_down_all() before and after all. What cmocka.h needs in front of it is included
# here. ninja calls it in the root of the build; `out`, what it writes, is two folders below.
/^static int (set_up|tear_down)(_all)?\(void \*\*/ { split($3, word, "("); has[word[1]] = 1 }
/^static void [a-z0-9_]+\($/ { sub(/\($/, ""); name = $3; next } # its arguments are in the next line
/^static void [a-z0-9_]+\(void \*\*[a-z]*( \[\[maybe_unused\]\])?\)$/ { sub(/\(.*/, ""); add($3) }
name != "" && /^\tvoid \*\*[a-z]*( \[\[maybe_unused\]\])?\)$/ { add(name) }
{ name = "" }
/^int main\(/ { has_main = 1 }
function fixture(name) { return has[name] ? name : "NULL" }
function add(name) { names[count++] = name }
END {
	print "#include <setjmp.h>\n#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n" >out
	print "#include \"" (FILENAME ~ /^\// ? "" : "../../") FILENAME "\"" >out
	if (has_main || count == 0)
		exit
	print "\nint main(void)\n{\n\tconst struct CMUnitTest tests[] = {" >out
	for (i = 0; i < count; i++)
		printf "\t\tcmocka_unit_test_setup_teardown(%s, %s, %s),\n", names[i], fixture("set_up"), fixture("tear_down") >out
	printf "\t};\n\treturn cmocka_run_group_tests(tests, %s, %s);\n}\n", fixture("set_up_all"), fixture("tear_down_all") >out
}
