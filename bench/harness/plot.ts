import { CHARTS } from './bars.js';
import { figureOf, type Rounds } from './outcome.js';
import type { Plot } from './row.js';
import { logPlotSvg } from './svg.js';

/** Returns the chart file of a plot, relative to the folder of the results. */
export function plotFile({ name }: Plot): string {
  return `${CHARTS}/${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.svg`;
}

/** Draws the medians of a row's rounds. */
export function plotSvg({ name, xLabel, yLabel, curves }: Plot, rounds: Rounds): string {
  return logPlotSvg({
    title: name,
    xLabel,
    yLabel,
    curves: curves.map((curve) => ({
      name: curve.name,
      points: curve.points.map(({ x, source }) => ({ x, y: figureOf(rounds, source) })),
    })),
  });
}
