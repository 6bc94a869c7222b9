# SPDX-License-Identifier: Apache-2.0
# Makes the program of a file of tests: the file and, where it has no main() of its own, one that runs its tests in their
# order. A test is a `static void NAME(void **...)` in the first column. ninja calls it in the root of the build; out, what it
# writes, is two folders below.
/^static void [a-z0-9_]+\($/ { sub(/\($/, ""); name = $3; next } # its arguments are in the next line
/^static void [a-z0-9_]+\(void \*\*[a-z]*( \[\[maybe_unused\]\])?\)$/ { sub(/\(.*/, ""); tests = tests "\t\tcmocka_unit_test(" $3 "),\n" }
name != "" && /^\tvoid \*\*[a-z]*( \[\[maybe_unused\]\])?\)$/ { tests = tests "\t\tcmocka_unit_test(" name "),\n" }
{ name = "" }
/^int main\(/ { has_main = 1 }
END {
	print "#include \"" (FILENAME ~ /^\// ? "" : "../../") FILENAME "\"" >out
	if (!has_main)
		printf "\nint main(void)\n{\n\tconst struct CMUnitTest tests[] = {\n%s\t};\n\treturn cmocka_run_group_tests(tests, NULL, NULL);\n}\n", tests >out
}
