/** How much a run does. `smoke` runs every code path once; its timings mean nothing. */
export type Scale = 'full' | 'smoke';

/** One thing that the service must withstand. */
export interface Check {
  /** As `npm run torture -- NAME` takes it. */
  readonly name: string;
  /** What the check does to the service. */
  readonly title: string;
  /**
   * @param threads that serve the sockets, for checks that can run with any number
   * @throws Error when nothing can be measured
   */
  readonly run: (scale: Scale, threads: number) => Promise<readonly Finding[] | Skipped>;
}

/** A figure and its bound. */
export interface Finding {
  readonly figure: string;
  readonly value: number;
  readonly unit: string;
  /** Absent for a figure that is only shown. */
  readonly mustBe?: Bound;
  /** Depends on the speed of the machine: a smoke run does not judge it. */
  readonly isTiming?: boolean;
}

export interface Bound {
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** Why this machine cannot run the check. */
export interface Skipped {
  readonly skipped: string;
}

export function exactly(value: number): Bound {
  return { atLeast: value, atMost: value };
}

/** NaN fails every bound. */
export function isReached({ value, mustBe, isTiming = false }: Finding, scale: Scale): boolean {
  if (mustBe === undefined || (isTiming && scale === 'smoke')) return true;
  const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = mustBe;
  return value >= atLeast && value <= atMost;
}
