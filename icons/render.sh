#!/usr/bin/env bash
# Draws every PNG from its SVG. Needs rsvg-convert (apt: librsvg2-bin) and ImageMagick, which writes them as RGBA.
set -euo pipefail
cd "$(dirname "$0")"
draw() { rsvg-convert --width "$3" --height "$3" "$1.svg" | convert png:- -strip "PNG32:$2.png"; }
draw icon 32x32 32
draw icon 128x128 128
draw icon 128x128@2x 256
draw icon icon 512
for state in idle waiting paused trouble; do draw "tray-$state" "tray-$state" 32; done
