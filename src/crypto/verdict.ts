/** What verification found out about one signature. */
export type Verdict = 'valid' | 'hash mismatch' | 'invalid signature';
