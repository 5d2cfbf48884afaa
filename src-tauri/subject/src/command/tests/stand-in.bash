#!/bin/bash
# Stands in for a program: notes the words that it gets. In one write, so that a pipe does not mix them.
printf '%s\0' "${0##*/}" "$@" $'\1' >> "${0%/*}/../log"
