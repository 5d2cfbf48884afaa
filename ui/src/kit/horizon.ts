// The chart of the history, loaded when the history is first shown.
import uPlot from "uplot";

import type { Bucket, Series } from "../text/figures";

export interface Horizon {
  resize(width: number): void;
  destroy(): void;
}

const HEIGHT = 150;

/** The colour of a token as it stands now: a canvas knows no custom properties. */
function ink(place: HTMLElement, token: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${token})`;
  place.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

/** Stacked bars on one scale, upwards what was let through, downwards what was not. */
export function drawHorizon(place: HTMLElement, buckets: readonly Bucket[], label: (at_ms: number) => string, over: (index: number | undefined) => void): Horizon {
  const up = (...kinds: Series[]): number[] => buckets.map(({ calls }) => kinds.reduce((sum, kind) => sum + calls[kind], 0));
  const down = (...kinds: Series[]): number[] => up(...kinds).map((calls) => -calls);
  const font = `${parseFloat(getComputedStyle(document.documentElement).fontSize) * 0.6875}px ${getComputedStyle(place).fontFamily}`;
  const [quiet, line, axis, surface] = [ink(place, "--ink-quiet"), ink(place, "--line"), ink(place, "--ink-muted"), ink(place, "--surface")];
  const bars = uPlot.paths.bars?.({ size: [0.62, 28], align: 0 });
  const bar = (fill: string, stroke = surface): uPlot.Series => ({ fill, stroke, width: 1, points: { show: false }, ...(bars !== undefined && { paths: bars }) });
  const highest = Math.max(1, ...up("rule", "grant", "once"));
  const lowest = Math.max(highest / 6, ...up("denied", "expired"));
  const plot = new uPlot(
    {
      width: Math.max(1, place.clientWidth), height: HEIGHT, padding: [8, 0, 0, 0], legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      scales: { x: { time: true, range: (_, low, high) => { const half = (high - low) / Math.max(1, buckets.length - 1) / 2 || 1_800; return [low - half, high + half]; } }, y: { range: [-lowest * 1.05, highest * 1.05] } },
      axes: [
        { stroke: quiet, font, size: 24, grid: { show: false }, ticks: { show: false }, space: 90, values: (_, splits) => splits.map((at) => label(at * 1_000)) },
        { stroke: quiet, font, size: 40, grid: { stroke: line, width: 1 }, ticks: { show: false }, space: 30, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000, 1_000_000], values: (_, splits) => splits.map((calls) => Math.abs(calls).toLocaleString("en")) },
      ],
      // The taller stand behind the shorter: what is seen of each is its own share.
      series: [{}, bar(ink(place, "--allow")), bar(ink(place, "--allow-soft")), bar(ink(place, "--by-rule")), bar(surface, ink(place, "--expired")), bar(ink(place, "--deny"))],
      hooks: {
        setCursor: [(self) => over(self.cursor.idx ?? undefined)],
        draw: [(self) => {
          const y = Math.round(self.valToPos(0, "y", true));
          self.ctx.fillStyle = axis;
          self.ctx.fillRect(self.bbox.left, y, self.bbox.width, Math.max(1, Math.round(devicePixelRatio)));
        }],
      },
    },
    [buckets.map(({ at_ms }) => at_ms / 1_000), up("rule", "grant", "once"), up("rule", "grant"), up("rule"), down("denied", "expired"), down("denied")],
    place,
  );
  return { resize: (width) => plot.setSize({ width: Math.max(1, width), height: HEIGHT }), destroy: () => plot.destroy() };
}
