#!/bin/sh
# Run a command that may be silent for long, and print a dot every two seconds meanwhile.
(while sleep 2; do printf .; done) &
dots=$!
trap 'kill $dots 2>/dev/null' EXIT INT TERM
"$@"
status=$?
kill $dots 2>/dev/null
trap - EXIT
echo
exit $status
