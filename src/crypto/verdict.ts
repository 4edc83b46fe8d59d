/** The possible results of a verification. Worker messages carry the place in this list. */
export const VERDICTS = ['valid', 'hash mismatch', 'invalid signature'] as const;

export type Verdict = (typeof VERDICTS)[number];
