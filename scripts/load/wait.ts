/**
 * The deadline that detects hangs. The deadline does not measure speed: it is long enough for a machine with ten times more work
 * than cores.
 */
export const HANG_MS = 300_000;

export interface WaitOptions {
  /** The name of the expected event, for the error message. */
  readonly what?: string;
  readonly withinMs?: number;
}

const LOOK_INTERVAL_MS = 5;
/** The longest interval. It is short beside the states of a service that a test waits for, such as a thread that starts. */
const LOOK_INTERVAL_MS_MAX = 40;
/** The interval as a part of the time since the wait began. Long waits therefore need few looks, and short waits end soon. */
const LOOK_INTERVAL_PART = 0.1;

/**
 * Calls `look` repeatedly until the result is neither `undefined` nor `false`, and returns this result.
 * @throws Error when this takes longer than `withinMs`, which is {@link HANG_MS} by default
 */
export async function eventually<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  { what = 'what is waited for', withinMs = HANG_MS }: WaitOptions = {},
): Promise<T> {
  const startMs = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    const waitedMs = performance.now() - startMs;
    if (waitedMs > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await pause(Math.min(LOOK_INTERVAL_MS_MAX, Math.max(LOOK_INTERVAL_MS, waitedMs * LOOK_INTERVAL_PART)));
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
