#!/bin/sh
# Counts what is in a report. Usage: report.sh FILE DAY
printf '%s: %s lines in %s\n' "$2" "$(wc -l < "$1")" "$1"
