/** The amount of work of a run. `smoke` runs each code path once, and its figures have no meaning. */
export type Scale = 'full' | 'smoke';

/** The figures of one run of one variant, by name. */
export interface Measurement {
  readonly figures: Readonly<Record<string, number>>;
  /** SHA-256 hashes of the produced bytes. Variants that have a hash with the same name must produce the same bytes. */
  readonly hashes?: Readonly<Record<string, string>>;
  /**
   * The reason why the bench could not measure the variant on this machine. The results then leave out the figures of the variant and
   * the lines about the variant.
   */
  readonly missing?: string;
}

/** A row of the bench: the measured work, the peers and the limits. */
export interface Row {
  /** The name for `npm run bench -- NAME`. */
  readonly name: string;
  readonly title: string;
  /** A description of the method, in sentences. */
  readonly method: string;
  /** An explanation of what limits the figures, and possible improvements. The page shows this text if the row misses a limit. */
  readonly limit?: string;
  /** The number of runs of each variant at full scale. Each run has a new process. */
  readonly rounds: number;
  /** The variants of the service and of the peers, by name. */
  readonly variants: Readonly<Record<string, (scale: Scale) => Promise<Measurement>>>;
  readonly lines: (scale: Scale) => readonly Line[];
}

/** A comparison in a row. */
export interface Line {
  readonly name: string;
  readonly unit: string;
  readonly ours: Source;
  /** The variant whose figure replaces the figure of the service, in a line that compares two other variants. */
  readonly of?: string;
  /** The limit for our figure. */
  readonly bound?: Bound;
  readonly peers: readonly Peer[];
  /** Additional figures for display, without a limit. */
  readonly shown?: readonly { readonly name: string; readonly unit: string; readonly source: Source }[];
}

export interface Peer {
  readonly name: string;
  readonly source: Source;
  /** The limit for our figure divided by the peer's figure. */
  readonly ratio?: Bound;
  /** The bare server of the same run, which decides whether a limit of the form `atLeast` can be reached. */
  readonly bare?: Bare;
}

/**
 * A server that does the least possible work. If its own figure misses a limit, nobody can reach that limit over the same library, and
 * a share of its figure becomes the limit.
 */
export interface Bare {
  readonly name: string;
  readonly source: Source;
  /** The smallest allowed ratio of our figure to the figure of this server. */
  readonly atLeast: number;
}

/** The source of a figure: the median over the rounds of a variant. */
export interface Source {
  readonly variant: string;
  readonly figure: string;
}

/** A limit. With `within`, two figures must agree: their ratio may differ from 1 by at most this number. */
export type Bound = { readonly atLeast: number } | { readonly atMost: number } | { readonly within: number };
