/** The error for a stored record that differs from the written record. */
export class DamagedRecord extends Error {
  override readonly name = 'DamagedRecord';
}
