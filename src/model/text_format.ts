/** A metric: the fields of its header in the Prometheus text format, and the function that reads its values from a source. */
export interface MetricRow<Source> {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels?: readonly string[];
  /** The upper limits of a histogram's buckets. */
  readonly bounds?: readonly number[];
  /**
   * @returns the value. A metric with labels returns the label values and the value of each series. An absent metric returns `undefined`.
   */
  readonly read: (source: Source) => number | Histogram | Iterable<Series> | undefined;
}

/** The value of a series. The text omits a series without a value. */
type Value = number | Histogram | undefined;
export type Series = readonly [...labels: (string | number)[], value: Value];

/** A histogram as plain data. */
export interface Histogram {
  /** The number of measurements in each bucket. The last number counts the measurements above all limits. */
  readonly buckets: number[];
  sumSeconds: number;
}

export function newHistogram(bounds: readonly number[]): Histogram {
  return { buckets: new Array(bounds.length + 1).fill(0), sumSeconds: 0 };
}

/** @param bounds the upper limits of the buckets, in seconds, ascending */
export function countDuration(histogram: Histogram, bounds: readonly number[], seconds: number): void {
  let bucket = 0;
  while (bucket < bounds.length && seconds > bounds[bucket]!) bucket++;
  histogram.buckets[bucket]! += 1;
  histogram.sumSeconds += seconds;
}

export function addHistogram(sum: Histogram, { buckets, sumSeconds }: Histogram): void {
  buckets.forEach((count, i) => {
    sum.buckets[i]! += count;
  });
  sum.sumSeconds += sumSeconds;
}

/** Writes the metrics with all their values. */
export function metricsText<Source>(table: readonly MetricRow<Source>[], source: Source): string {
  return table.map((metric) => metricText(metric, source)).join('');
}

function metricText<Source>(metric: MetricRow<Source>, source: Source): string {
  const { name, type, help, labels = [], bounds = [], read } = metric;
  const reading = read(source);
  if (reading === undefined) return '';
  const isOne = typeof reading === 'number' || 'buckets' in reading;
  let text = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
  for (const series of isOne ? [[reading]] : reading) {
    const value = series.at(-1) as Value;
    // An absent label is the same as an empty value.
    const pairs = labels.flatMap((label, i) =>
      series[i] === '' ? [] : [`${label}="${escapedLabel(String(series[i]))}"`],
    );
    if (typeof value === 'number') text += sampleLine(name, pairs, value);
    else if (value !== undefined) text += histogramText(name, pairs, bounds, value);
  }
  return text;
}

function histogramText(
  name: string,
  pairs: readonly string[],
  bounds: readonly number[],
  { buckets, sumSeconds }: Histogram,
): string {
  let text = '';
  let count = 0;
  buckets.forEach((inBucket, i) => {
    count += inBucket;
    text += sampleLine(`${name}_bucket`, [...pairs, `le="${bounds[i] ?? '+Inf'}"`], count);
  });
  return text + sampleLine(`${name}_sum`, pairs, sumSeconds) + sampleLine(`${name}_count`, pairs, count);
}

function sampleLine(name: string, pairs: readonly string[], value: number): string {
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}\n`;
}

function escapedLabel(text: string): string {
  return text.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`));
}
