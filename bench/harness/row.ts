/** The amount of work of a run. `smoke` runs each code path once, and its figures have no meaning. */
export type Scale = 'full' | 'smoke';

/** The figures of one run of one variant, by name. */
export type Figures = Record<string, number>;

export interface Measurement {
  readonly figures: Readonly<Figures>;
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
  /** An explanation of what limits the figures. The page shows this text if the row misses a limit. */
  readonly limit?: string;
  /** The number of runs of each variant at full scale. Each run has a new process. */
  readonly rounds: number;
  /** The variants of the service and of the peers, by name. */
  readonly variants: Readonly<Record<string, (scale: Scale) => Promise<Measurement>>>;
  readonly lines: (scale: Scale) => readonly Line[];
}

/** The source of a figure: the median over the rounds of a variant. */
export interface Source {
  readonly variant: string;
  readonly figure: string;
}

/** A figure of the service in a row. */
export interface Line extends Source {
  readonly name: string;
  readonly unit: string;
  /** The limit for the figure. */
  readonly bound?: Bound;
  readonly peers?: readonly Peer[];
  /** Additional figures for display, without a limit. */
  readonly shown?: readonly Shown[];
}

export interface Peer extends Source {
  /** The name in the table. Default: the name of the variant. */
  readonly name?: string;
  /** The limit for our figure divided by the peer's figure. */
  readonly ratio?: Bound;
}

export interface Shown extends Source {
  readonly name: string;
  readonly unit: string;
}

export type Bound = { readonly atLeast: number } | { readonly atMost: number };
