#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The manual page inisd(8), on stdout: what the program given says of itself.
set -eu
cat <<'HEAD'
.TH INISD 8 "" "inis" "System Administration"
.SH NAME
inisd \- the inis server
.SH SYNOPSIS
.B inisd serve
[\fIOPTION\fR]...
.br
.B inisd doctor
[\fIOPTION\fR]...
.SH DESCRIPTION
.nf
HEAD
"$1" --help | sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^[.']/\\\\\\&&/"
cat <<'TAIL'
.fi
.SH SEE ALSO
.BR inis (1)
TAIL
