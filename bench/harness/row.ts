/** How much work a run does. `smoke` runs every code path once; its figures mean nothing. */
export type Scale = 'full' | 'smoke';

/** What one run of one variant measured, by name. */
export interface Measurement {
  readonly figures: Readonly<Record<string, number>>;
  /** SHA-256 of what was produced. Variants that name the same hash must have produced the same bytes. */
  readonly hashes?: Readonly<Record<string, string>>;
  /** Why the variant could not be measured on this machine. Its figures are left out, and so are the lines about it. */
  readonly missing?: string;
}

/** One row of the bench: what is measured, against what, and what must be reached. */
export interface Row {
  /** As `npm run bench -- NAME` takes it. */
  readonly name: string;
  readonly title: string;
  /** How it is measured, in sentences. */
  readonly method: string;
  /** What limits the figures, and what would improve them. Shown where the row misses a bound. */
  readonly limit?: string;
  /** How often each variant is run at full scale, each time in a fresh process. */
  readonly rounds: number;
  /** What is run, ours and the peers, by name. */
  readonly variants: Readonly<Record<string, (scale: Scale) => Promise<Measurement>>>;
  readonly lines: (scale: Scale) => readonly Line[];
  readonly plots?: (scale: Scale) => readonly Plot[];
}

/** One comparison of a row. */
export interface Line {
  readonly name: string;
  readonly unit: string;
  readonly ours: Source;
  /** Whose figure stands in our place, in a line that compares two others. */
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

/** Where a figure comes from: the median over the rounds of a variant. */
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
