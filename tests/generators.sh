#!/bin/sh
# Fetch generators of static sites that tests run: Hugo and Jekyll from Debian, Eleventy from npm (into .venv). The test
# of one that cannot be fetched is skipped and says so.
cd "$(dirname "$0")/.." || exit 1
missing=""
for generator in hugo jekyll; do
    command -v "$generator" >/dev/null 2>&1 || missing="$missing $generator"
done
[ -f .venv/node_modules/.bin/eleventy ] || command -v npm >/dev/null 2>&1 || missing="$missing npm"
if [ -n "$missing" ]; then
    if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } \
            >/dev/null 2>&1 || echo "could not install:$missing"
    else
        echo "not installed, their tests will be skipped:$missing"
    fi
fi
[ -f .venv/node_modules/.bin/eleventy ] \
    || npm install --prefix .venv --no-save --no-audit --no-fund --silent axe-core@4 @11ty/eleventy@2 \
    || echo "could not fetch Eleventy, its test will be skipped"
exit 0
