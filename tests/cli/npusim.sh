#!/bin/sh
# SPDX-License-Identifier: MIT
# npusim: options, and that a replay can fail.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
npusim=$bin/npusim

exits 0 '--help' "$npusim" --help
says '^[Uu]sage: npusim' 'prints its usage'
exits 2 'no command: usage' "$npusim"
exits 2 'an unknown command: usage' "$npusim" dance
refuses 'a script that is not there' 'missing' "$npusim" run "$tmp/missing.nv"

# A test of our own: nothing runs, memory is copied out as it was filled.
mkdir "$tmp/fill"
printf 'fill 0x80000000 16 0x5a\ndump 0x80000000 16 out0.out.bin\n' >"$tmp/fill/run.nv"
printf 'ZZZZZZZZZZZZZZZZ' >"$tmp/fill/out0.expect.bin"
exits 0 'a replay that is as expected' "$npusim" replay --config nv_small "$tmp/fill"
says '^ok' 'passes'
says '^1 passed, 0 failed$' 'and is counted'
printf 'ZZZZZZZZZZZZZZZY' >"$tmp/fill/out0.expect.bin"
exits 1 'a replay with one byte different' "$npusim" replay --config nv_small "$tmp/fill"
says '^not ok' 'fails'
says '^0 passed, 1 failed$' 'and is counted'
printf 'w 0x1004\n' >"$tmp/fill/run.nv"
exits 1 'a script with a damaged line' "$npusim" replay --config nv_small "$tmp/fill"
exits 1 'a folder without a test' "$npusim" replay --config nv_small "$tmp"
finish
