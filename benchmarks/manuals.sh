#!/bin/sh
# Fetch manuals (Debian does not install two versions of Boost's beside each other) and unpack them in build/manuals.
place="$(dirname "$0")/../build/manuals"
for package in libboost1.74-doc libboost1.81-doc linux-doc-6.1; do
    [ ! -d "$place/$package" ] || continue
    command -v apt-get >/dev/null 2>&1 || { echo "not here, left out: $package"; continue; }
    mkdir -p "$place"
    (
        cd "$place" && apt-get download "$package" && dpkg -x "$package"_*.deb "$package.new" &&
            mv "$package.new" "$package" && rm "$package"_*.deb
    ) >/dev/null 2>&1 || echo "could not fetch: $package"
done
exit 0
