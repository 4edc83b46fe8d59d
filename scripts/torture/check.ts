/** The amount of work of a run. `smoke` runs each code path once, and its timings have no meaning. */
export type Scale = 'full' | 'smoke';

/** A fault that the service must withstand. */
export interface Check {
  /** The name for `npm run torture -- NAME`. */
  readonly name: string;
  /** The description of the fault. */
  readonly title: string;
  /**
   * Runs the check.
   * @throws Error when no measurement is possible
   */
  readonly run: (scale: Scale, sizes: Sizes) => Promise<readonly Finding[] | Skipped>;
}

/** The sizes that arguments change. */
export interface Sizes {
  /** The number of threads that serve the sockets, for checks that can run with any number of threads. */
  readonly threads: number;
  /** The number of signatures, or of crashes of threads, in a full run of a check that counts them; `undefined` for its default. */
  readonly count: number | undefined;
  /** The minutes of random faults, for checks that run as long as they are told; `undefined` for their default. */
  readonly minutes: number | undefined;
  /** A part of the names of the faults to which a check with named faults is limited. */
  readonly only: string | undefined;
}

/** A figure and its limit. */
export interface Finding {
  readonly figure: string;
  readonly value: number;
  readonly unit: string;
  /** The limit; absent for a figure that is only shown. */
  readonly mustBe?: Bound;
  /**
   * True for a figure that depends on the speed of the machine. A smoke run does not compare such a figure
   * with its limit.
   */
  readonly isTiming?: boolean;
}

export interface Bound {
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** The reason why this machine cannot run the check. */
export interface Skipped {
  readonly skipped: string;
}

export function exactly(value: number): Bound {
  return { atLeast: value, atMost: value };
}

/** Compares a figure with its limit. NaN is outside of every limit. */
export function isReached({ value, mustBe, isTiming = false }: Finding, scale: Scale): boolean {
  if (mustBe === undefined || (isTiming && scale === 'smoke')) return true;
  const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = mustBe;
  return value >= atLeast && value <= atMost;
}
