/** The error for a note, checkpoint, proof, tile or policy that is malformed, does not fit, or lacks a signature. */
export class TlogError extends Error {
  override readonly name = 'TlogError';
}
