#!/bin/sh
# Fetch two versions of Boost's manual, which Debian does not install beside each other, and unpack them in build/boost.
place="$(dirname "$0")/../build/boost"
for package in libboost1.74-doc libboost1.81-doc; do
    [ ! -d "$place/$package" ] || continue
    command -v apt-get >/dev/null 2>&1 || { echo "not here, left out: $package"; continue; }
    mkdir -p "$place"
    (
        cd "$place" && apt-get download "$package" && dpkg -x "$package"_*.deb "$package.new" &&
            mv "$package.new" "$package" && rm "$package"_*.deb
    ) >/dev/null 2>&1 || echo "could not fetch: $package"
done
exit 0
