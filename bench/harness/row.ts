/** The amount of work of a run. `smoke` runs each code path once; its figures have no meaning. */
export type Scale = 'full' | 'smoke';

/** The figures of one run of one variant, by name. */
export interface Measurement {
  readonly figures: Readonly<Record<string, number>>;
  /** SHA-256 hashes of the produced bytes. Variants with a hash of the same name must have produced the same bytes. */
  readonly hashes?: Readonly<Record<string, string>>;
  /** The reason why the variant could not be measured on this machine. Its figures and the lines about it are left out. */
  readonly missing?: string;
}

/** A row of the bench: the measured work, the peers, and the bounds. */
export interface Row {
  /** The name for `npm run bench -- NAME`. */
  readonly name: string;
  readonly title: string;
  /** The method of measuring, in sentences. */
  readonly method: string;
  /** The limit of the figures, and possible improvements. Shown if the row misses a bound. */
  readonly limit?: string;
  /** The number of runs of each variant at full scale, each in a fresh process. */
  readonly rounds: number;
  /** The variants, ours and the peers, by name. */
  readonly variants: Readonly<Record<string, (scale: Scale) => Promise<Measurement>>>;
  readonly lines: (scale: Scale) => readonly Line[];
  readonly plots?: (scale: Scale) => readonly Plot[];
}

/** A comparison of a row. */
export interface Line {
  readonly name: string;
  readonly unit: string;
  readonly ours: Source;
  /** The variant whose figure takes our place, in a line that compares two others. */
  readonly of?: string;
  /** The bound of our own figure. */
  readonly bound?: Bound;
  readonly peers: readonly Peer[];
  /** Figures that are shown and not judged. */
  readonly shown?: readonly { readonly name: string; readonly unit: string; readonly source: Source }[];
}

export interface Peer {
  readonly name: string;
  readonly source: Source;
  /** The bound of our figure divided by the peer's. */
  readonly ratio?: Bound;
}

/** The source of a figure: the median over the rounds of a variant. */
export interface Source {
  readonly variant: string;
  readonly figure: string;
}

/** `within` is of two figures that must agree: their ratio differs from 1 by at most this. */
export type Bound = { readonly atLeast: number } | { readonly atMost: number } | { readonly within: number };

/** A curve of figures of one variant, drawn on two logarithmic axes. */
export interface Plot {
  readonly name: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly curves: readonly {
    readonly name: string;
    readonly points: readonly { readonly x: number; readonly source: Source }[];
  }[];
}
