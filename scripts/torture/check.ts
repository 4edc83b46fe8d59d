/** How much a run does: `smoke` is the least that goes every way once, and its timings mean nothing. */
export type Scale = 'full' | 'smoke';

/** One thing that the service must withstand. */
export interface Check {
  /** As `npm run torture -- NAME` takes it. */
  readonly name: string;
  /** What is done to the service, in a sentence. */
  readonly title: string;
  /** @throws Error when it cannot be measured at all. */
  readonly run: (scale: Scale) => Promise<readonly Finding[] | Skipped>;
}

/** A figure, and what it must be. */
export interface Finding {
  readonly figure: string;
  readonly value: number;
  readonly unit: string;
  /** Absent where nothing must be reached. */
  readonly mustBe?: Bound;
  /** It hangs on the speed of the machine, so that a smoke run does not judge it. */
  readonly isTiming?: boolean;
}

export interface Bound {
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** This machine has no way to do it. */
export interface Skipped {
  readonly skipped: string;
}

export function exactly(value: number): Bound {
  return { atLeast: value, atMost: value };
}

/** A figure that is not a number fails, whatever it must be. */
export function isReached({ value, mustBe, isTiming = false }: Finding, scale: Scale): boolean {
  if (mustBe === undefined || (isTiming && scale === 'smoke')) return true;
  const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = mustBe;
  return value >= atLeast && value <= atMost;
}
