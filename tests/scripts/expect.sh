# Sourced by the tests of shell scripts: expectations that say what they wanted, and a temporary folder.
set -uo pipefail

work=$(mktemp -d "${TMPDIR:-/tmp}/roofcal test.XXXXXX")  # with a space, as users have them
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}
# expect_equal WHAT WANTED GOT
expect_equal() { [ "$2" = "$3" ] || fail "$1: wanted '$2', got '$3'"; }
# expect_contains WHAT PART TEXT
expect_contains() { case $3 in *"$2"*) ;; *) fail "$1: wanted '$2' in '$3'" ;; esac; }
finish() {
  [ "$failures" -eq 0 ] || exit 1
  echo "all expectations met"
}
