/** One value of a metric. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** A metric with all of its values, as the text that Prometheus reads. */
export function metricText(
  name: string,
  type: 'gauge' | 'counter',
  help: string,
  samples: Iterable<Sample>,
): string {
  let text = head(name, type, help);
  for (const { labels, value } of samples) text += line(name, labels, value);
  return text;
}

/** A histogram as plain data. */
export interface Histogram {
  /** Measurements in each bucket, and those past the last bound. */
  readonly buckets: number[];
  sumSeconds: number;
}

export function newHistogram(bounds: readonly number[]): Histogram {
  return { buckets: new Array(bounds.length + 1).fill(0), sumSeconds: 0 };
}

/** @param bounds the upper bounds of the buckets, in seconds, ascending */
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

/** Histograms of one metric as text. prom-client has none that are added up from those of several threads. */
export function histogramText(
  name: string,
  help: string,
  bounds: readonly number[],
  series: Iterable<{ readonly labels?: Sample['labels']; readonly histogram: Histogram }>,
): string {
  let text = head(name, 'histogram', help);
  for (const { labels, histogram } of series) {
    let count = 0;
    histogram.buckets.forEach((inBucket, i) => {
      count += inBucket;
      text += line(`${name}_bucket`, { ...labels, le: bounds[i] ?? '+Inf' }, count);
    });
    text += line(`${name}_sum`, labels, histogram.sumSeconds);
    text += line(`${name}_count`, labels, count);
  }
  return text;
}

function head(name: string, type: string, help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function line(name: string, labels: Sample['labels'], value: number): string {
  const pairs = Object.entries(labels ?? {}).map(([label, text]) => `${label}="${escaped(String(text))}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}\n`;
}

function escaped(text: string): string {
  return text.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`));
}
