/**
 * The deadline against hangs, not for speed: an event that has not happened by then never will. It holds on a machine with ten
 * times more work than cores.
 */
export const HANG_MS = 300_000;

export interface WaitOptions {
  /** The name for the message of the error. */
  readonly what?: string;
  readonly withinMs?: number;
}

const LOOK_INTERVAL_MS = 5;

/**
 * Calls `look` again and again until it returns something other than `undefined` and `false`, and returns that.
 * @throws Error when that takes longer than `withinMs`, which is {@link HANG_MS} by default
 */
export async function eventually<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  { what = 'what is waited for', withinMs = HANG_MS }: WaitOptions = {},
): Promise<T> {
  const endMs = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > endMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await pause(LOOK_INTERVAL_MS);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
