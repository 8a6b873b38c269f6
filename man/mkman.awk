# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# mkman.awk - make a manual page from its .in file.
#
# A page is mdoc(7).  Three words of its own:
#   @VERSION@          the library's version
#   .\" @example FILE  the program FILE (from the directory in -v dir=...),
#                      shown as a literal block; what stands between the lines
#                      "/* [page */" and "/* page] */" of it, if they are there
#   .\" @seealso A B   a sorted SEE ALSO section of those pages, e.g. fi_cq(3)
#
# awk -v version=V -v dir=DIR -f mkman.awk PAGE.in >PAGE

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

function key(name,    part)
{
	split(name, part, /[()]/)
	return part[2] " " part[1]
}

/^\.\\" @example / { example($3); next }
/^\.\\" @seealso / { sub(/^\.\\" @seealso /, ""); seealso($0); next }
{ gsub(/@VERSION@/, version); print }
