/** Resolves when the promise is settled, or after `ms` milliseconds. */
export async function settledWithin(ms: number, promise: Promise<unknown>): Promise<void> {
  let deadline: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    deadline = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(deadline);
}
