#!/bin/sh
# Fetch the Debian manuals that some tests and benchmarks read. Without Debian, or without the right to install,
# those tests are skipped and say so.
packages="cppreference-doc-en-html python3.11-doc"
missing=""
for package in $packages; do
    dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } \
        >/dev/null 2>&1 || echo "could not install:$missing"
else
    echo "not installed, tests on real pages will be skipped:$missing"
fi
exit 0
