/**
 * Makes `run` a function that is called as often as there is news: calls during a run cause one run after it.
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
