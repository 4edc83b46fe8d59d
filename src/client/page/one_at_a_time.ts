/**
 * Returns a function that calls `run`. Calls during a run cause a single further run after it.
 * @param run does not reject
 */
export function oneAtATime(run: () => Promise<void>): () => Promise<void> {
  let isRunning = false;
  let isDue = false;
  return async () => {
    isDue = true;
    if (isRunning) return;
    isRunning = true;
    while (isDue) {
      isDue = false;
      await run();
    }
    isRunning = false;
  };
}

export function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}
