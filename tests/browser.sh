#!/bin/sh
# Fetch what the tests in a browser need: chromium from Debian, axe-core from npm (into .venv). Where that cannot be
# done those tests fail and say so.
cd "$(dirname "$0")/.." || exit 1
axe=.venv/node_modules/axe-core/axe.min.js
missing=""
command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || missing="chromium fonts-dejavu-core"
[ -f "$axe" ] || command -v npm >/dev/null 2>&1 || missing="$missing npm"
if [ -n "$missing" ]; then
    if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } \
            >/dev/null 2>&1 || echo "could not install: $missing"
    else
        echo "not installed, tests in a browser will fail: $missing"
    fi
fi
[ -f "$axe" ] || npm install --prefix .venv --no-save --no-audit --no-fund --silent axe-core@4 \
    || echo "could not fetch axe-core, tests in a browser will fail"
exit 0
