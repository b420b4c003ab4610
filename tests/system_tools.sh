#!/bin/sh
# Install the programs from Debian by which tests let system calls fail (strace) and change files in place (rsync).
# Without Debian, or without the right to install, those tests are skipped and say so. Campaigns name further programs.
missing=""
for program in strace rsync "$@"; do
    command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
done
[ -n "$missing" ] || exit 0
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } \
        >/dev/null 2>&1 || echo "could not install:$missing"
else
    echo "not installed, tests with them will be skipped:$missing"
fi
exit 0
