# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# mkman.awk - make a manual page from its .in file.
#
# A page is mdoc(7).  A few words of its own:
#   @VERSION@          the library's version
#   .\" @names A B     the .Nm lines of a NAME section
#   .\" @proto A B     the prototypes of functions, from the tables of the
#                      interface (-v abi=...): a page cannot say another one
#   .\" @example FILE  the program FILE (from the directory in -v dir=...),
#                      shown as a literal block; what stands between the lines
#                      "/* [page */" and "/* page] */" of it, if they are there
#   .\" @seealso A B   a sorted SEE ALSO section of those pages, e.g. fi_cq(3)
#
# Lines of text that are too long for mandoc's lint are folded.
#
# awk -v version=V -v dir=DIR -v abi=DIR -f mkman.awk PAGE.in >PAGE

function escape(s)
{
	gsub(/\\/, "\\e", s)
	gsub(/-/, "\\-", s)
	gsub(/'/, "\\(aq", s)
	gsub(/`/, "\\(ga", s)
	gsub(/\^/, "\\(ha", s)
	gsub(/~/, "\\(ti", s)
	if (s ~ /^[.']/ || s ~ /^\\\(aq/)
		s = "\\&" s
	return s
}

function example(file,    line, marked, on, n, text)
{
	file = dir "/" file
	marked = 0
	n = 0
	while ((getline line < file) > 0) {
		if (line ~ /\/\* \[page \*\//) {
			marked = 1
			n = 0
			on = 1
			continue
		}
		if (line ~ /\/\* page\] \*\//) {
			on = 0
			continue
		}
		if (!marked || on)
			text[++n] = line
	}
	close(file)
	if (n == 0) {
		print "mkman.awk: " FILENAME ": no example in " file > "/dev/stderr"
		exit 1
	}
	print ".Bd -literal"
	for (on = 1; on <= n; on++)
		print escape(text[on])
	print ".Ed"
}

function seealso(list,    names, n, i, j, t, part)
{
	n = split(list, names, " ")
	# By section, then by name, as mandoc wants it.
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && key(names[j - 1]) > key(names[j]); j--) {
			t = names[j]
			names[j] = names[j - 1]
			names[j - 1] = t
		}
	print ".Sh SEE ALSO"
	for (i = 1; i <= n; i++) {
		split(names[i], part, /[()]/)
		print ".Xr " part[1] " " part[2] (i < n ? " ," : "")
	}
}

function names(list,    name, n, i)
{
	n = split(list, name, " ")
	for (i = 1; i <= n; i++)
		print ".Nm " name[i] (i < n ? " ," : "")
}

function read_protos(file,    line, part)
{
	while ((getline line < file) > 0) {
		split(line, part, "\t")
		proto[part[1]] = part[2]
	}
	close(file)
}

# "int f(void *a, int (*cb)(int, int), ...)": type, name, arguments.
function prototype(name,    text, at, args, i, c, depth, arg)
{
	if (!(name in proto)) {
		print "mkman.awk: " FILENAME ": no prototype of " name > "/dev/stderr"
		exit 1
	}
	text = proto[name]
	at = index(text, name "(")
	print ".Ft " trim(substr(text, 1, at - 1))
	printf ".Fn %s", name
	args = substr(text, at + length(name) + 1)
	args = substr(args, 1, length(args) - 1)
	depth = 0
	arg = ""
	for (i = 1; i <= length(args); i++) {
		c = substr(args, i, 1)
		if (c == "(")
			depth++
		if (c == ")")
			depth--
		if (c == "," && !depth) {
			printf " \"%s\"", trim(arg)
			arg = ""
		} else {
			arg = arg c
		}
	}
	printf " \"%s\"\n", trim(arg)
}

function protos(list,    name, n, i)
{
	if (!("fi_getinfo" in proto)) {
		read_protos(abi "/prototypes.tsv")
		read_protos(abi "/inlines.tsv")
	}
	n = split(list, name, " ")
	for (i = 1; i <= n; i++)
		prototype(name[i])
}

function trim(s)
{
	sub(/^ +/, "", s)
	sub(/ +$/, "", s)
	return s
}

# A line of text as several, none longer than mandoc's lint wants them.
function fold(s,    at)
{
	while (length(s) > 80) {
		for (at = 80; at > 1; at--)
			if (substr(s, at, 1) == " " && substr(s, at + 1, 1) !~ /[ .\047]/)
				break
		if (at <= 1)
			break
		print substr(s, 1, at - 1)
		s = substr(s, at + 1)
	}
	print s
}

function key(name,    part)
{
	split(name, part, /[()]/)
	return part[2] " " part[1]
}

/^\.\\" @example / { example($3); next }
/^\.\\" @names / { sub(/^\.\\" @names /, ""); names($0); next }
/^\.\\" @proto / { sub(/^\.\\" @proto /, ""); protos($0); next }
/^\.\\" @seealso / { sub(/^\.\\" @seealso /, ""); seealso($0); next }
/^\.Bd -(literal|unfilled)/ { literal = 1 }
/^\.Ed/ { literal = 0 }
literal || /^[.\047]/ { gsub(/@VERSION@/, version); print; next }
{ gsub(/@VERSION@/, version); fold($0) }
