/** What verification can find out about a signature; the place in the list is its number in worker messages. */
export const VERDICTS = ['valid', 'hash mismatch', 'invalid signature'] as const;

export type Verdict = (typeof VERDICTS)[number];
