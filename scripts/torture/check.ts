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
   * @throws Error when the check cannot measure
   */
  readonly run: (scale: Scale, sizes: Sizes) => Promise<readonly Finding[] | Skipped>;
}

/** The sizes that arguments change. */
export interface Sizes {
  /** The number of times that `cluster` causes each fault; `undefined` for the default. */
  readonly rounds: number | undefined;
  /** A name of a fault. A check with named faults runs only this fault. */
  readonly only: string | undefined;
}

/** A figure and its limit. */
export interface Finding {
  readonly figure: string;
  readonly value: number;
  readonly unit: string;
  /** The limit; absent for a figure without a limit. */
  readonly mustBe?: Bound;
  /** True for a figure that depends on the speed of the machine. A smoke run does not compare such a figure with its limit. */
  readonly isTiming: boolean;
}

export interface Bound {
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** The reason why this machine cannot run the check. */
export interface Skipped {
  readonly skipped: string;
}

export const SOME: Bound = { atLeast: 1 };
export const NONE: Bound = exactly(0);

export function exactly(value: number): Bound {
  return { atLeast: value, atMost: value };
}

export function count(figure: string, value: number, mustBe?: Bound): Finding {
  return measured(figure, value, '', mustBe);
}

/** Returns a figure that does not depend on the speed of the machine. */
export function measured(figure: string, value: number, unit: string, mustBe?: Bound): Finding {
  return { figure, value, unit, ...(mustBe && { mustBe }), isTiming: false };
}

/** Returns a figure that depends on the speed of the machine. */
export function timing(figure: string, value: number, unit: string, mustBe?: Bound): Finding {
  return { ...measured(figure, value, unit, mustBe), isTiming: true };
}

/** Compares a figure with its limit. NaN is outside of every limit. */
export function isReached({ value, mustBe, isTiming }: Finding, scale: Scale): boolean {
  if (mustBe === undefined || (isTiming && scale === 'smoke')) return true;
  const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = mustBe;
  return value >= atLeast && value <= atMost;
}
