/** Thrown for a malformed, inconsistent or unsigned note, checkpoint, proof, tile or policy. */
export class TlogError extends Error {
  override readonly name = 'TlogError';
}
