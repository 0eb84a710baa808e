#!/usr/bin/env bash
# check-glibc.sh FILE VERSION: fails if FILE needs a symbol of a glibc that is newer than VERSION, and names the symbol.
set -euo pipefail
file=$1 most=$2
needed=$(objdump -T "$file" | sed -n 's/.*(\{0,1\}GLIBC_\([0-9.]*\))\{0,1\} *\(.*\)$/\1 \2/p' | sort -uV)
newest=$(cut -d' ' -f1 <<<"$needed" | tail -1)
if [ "$(printf '%s\n' "$newest" "$most" | sort -V | tail -1)" != "$most" ]; then
    echo "check-glibc: error: $file needs glibc $newest, and may need $most at most:" >&2
    grep -F "$newest " <<<"$needed" >&2
    exit 1
fi
echo "check-glibc: $file needs glibc $newest" >&2
