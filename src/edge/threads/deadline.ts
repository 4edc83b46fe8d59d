/** Resolves with the promise, or after so many milliseconds. */
export async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  let deadline: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    deadline = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(deadline);
}
