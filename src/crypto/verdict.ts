/** The possible results of a verification. Worker messages contain the index in this list. */
export const SIGNATURE_VERDICTS = ['valid', 'hash mismatch', 'invalid signature'] as const;

export type SignatureVerdict = (typeof SIGNATURE_VERDICTS)[number];
