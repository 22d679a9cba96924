#!/usr/bin/env bash
# Tests of scripts/setup with stand-ins for the system's package managers: nothing is installed.
# Usage: setup_test.sh SOURCE_FOLDER
source_folder=$1
. "$source_folder/tests/scripts/expect.sh"

mkdir -p "$work/clone/scripts" "$work/bin" "$work/state"
cp "$source_folder/scripts/setup" "$source_folder/scripts/packages.txt" "$work/clone/scripts/"
setup="$work/clone/scripts/setup"

# A PATH with the few tools that setup uses and the stand-ins, so that neither the real apt-get nor a compiler is found.
for tool in bash sh readlink dirname cat grep tail mkdir rm env touch; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done
stand_in() { printf '#!/bin/bash\n%s\n' "$2" >"$work/bin/$1" && chmod +x "$work/bin/$1"; }
export STATE="$work/state"
stand_in uname 'echo Linux'
stand_in id 'echo 0'
stand_in dpkg-query '[ -e "$STATE/${!#}" ] && echo installed || exit 1'
stand_in apt-get 'echo "$DEBIAN_FRONTEND apt-get $*" >>"$STATE/calls"
if [ -n "${APT_FAILS:-}" ]; then case $* in *install*) echo "E: no network" && exit 100 ;; esac; fi
case $* in *install*) for p in "$@"; do case $p in lib*|g++|cmake|ninja*|nlohmann*|zlib*) touch "$STATE/$p" ;; esac; done ;; esac'
run() { PATH="$work/bin" ROOFCAL_OS_RELEASE="$work/os" "$setup" "$@" 2>&1 </dev/null; }

echo 'ID=debian' >"$work/os"
out=$(run build)
expect_equal "status on Debian" 0 $?
expect_contains "what it says" "installing the packages: g++ cmake ninja-build" "$out"
expect_equal "lines that it says" 1 "$(wc -l <<<"$out")"
calls=$(cat "$STATE/calls")
expect_contains "apt-get" "noninteractive" "$calls"
expect_contains "apt-get" "--no-install-recommends" "$calls"
expect_contains "apt-get" "libxgboost-dev" "$calls"
case $calls in *libgtest-dev*) fail "build alone installs the tests' packages" ;; esac
case $calls in *sudo*) fail "root uses sudo" ;; esac

rm "$STATE/calls"
expect_equal "a second run" "" "$(run build)"
[ -e "$STATE/calls" ] && fail "a second run calls apt-get"
rm "$STATE/libfmt-dev"
run build >/dev/null
expect_contains "only what is missing" "install --no-install-recommends libfmt-dev" "$(cat "$STATE/calls")"
case $(cat "$STATE/calls") in *libsqlite3-dev*) fail "installs again what is there" ;; esac

rm "$STATE/libfmt-dev"
out=$(APT_FAILS=1 run build)
expect_equal "status when apt-get fails" 1 $?
expect_contains "why it failed" "E: no network" "$out"

echo 'ID=ubuntu' >"$work/os"
expect_contains "Ubuntu is served too" "libfmt-dev" "$(run build)"
rm "$STATE/libfmt-dev"
echo 'ID=linuxmint
ID_LIKE="ubuntu debian"' >"$work/os"
expect_contains "and what is like it" "libfmt-dev" "$(run build)"

# Not root.
rm -f "$STATE/libfmt-dev" "$STATE/calls"
stand_in id 'echo 1000'
out=$(run build)
expect_equal "status without sudo" 1 $?
expect_contains "without sudo" "ask an administrator for: apt-get install libfmt-dev" "$out"
stand_in sudo 'echo "sudo $*" >>"$STATE/calls"
[ "$1" = -n ] || exit 1
[ -z "${SUDO_ASKS:-}" ] || exit 1
shift; "$@"'
out=$(SUDO_ASKS=1 run build)
expect_equal "status when sudo asks" 1 $?
expect_contains "when sudo asks" "run this first: sudo apt-get install libfmt-dev" "$out"
rm "$STATE/calls"
stand_in true ':'
out=$(run build)
expect_equal "status with sudo" 0 $?
expect_contains "sudo is announced" "with sudo" "$out"
expect_contains "sudo runs apt-get" "noninteractive apt-get" "$(cat "$STATE/calls")"
grep '^sudo' "$STATE/calls" | grep -vqE 'apt-get|sudo -n true' && fail "sudo is used for more than packages"

# Elsewhere: one line and exit 1.
stand_in rpm 'exit 1'
echo 'ID=fedora' >"$work/os"
out=$(run)
expect_equal "status on Fedora" 1 $?
expect_equal "lines on Fedora" 1 "$(wc -l <<<"$out")"
expect_contains "Fedora" "sudo dnf install gcc-c++ cmake ninja-build zlib-devel" "$out"
stand_in uname 'echo Darwin'
stand_in brew 'exit 1'
out=$(run)
expect_equal "status on macOS" 1 $?
expect_equal "lines on macOS" 1 "$(wc -l <<<"$out")"
expect_contains "macOS" "brew install gcc cmake ninja zlib sqlite" "$out"
stand_in brew 'exit 0'
expect_equal "macOS with everything" "" "$(run build)"
stand_in uname 'echo Linux'
echo 'ID=plan9' >"$work/os"
out=$(run build)
expect_equal "status elsewhere" 1 $?
expect_equal "lines elsewhere" 1 "$(wc -l <<<"$out")"

run nonsense >/dev/null
expect_equal "status of an unknown group" 2 $?
finish
