#!/bin/sh
# Install Java, which the tests on Spark need, from Debian. Where that cannot be done those tests fail and say so.
command -v java >/dev/null 2>&1 && exit 0
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless; } \
        >/dev/null 2>&1 || echo "could not install openjdk-17-jre-headless, tests on Spark will fail"
else
    echo "not installed, tests on Spark will fail: openjdk-17-jre-headless"
fi
exit 0
