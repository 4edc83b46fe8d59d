import { createHash } from 'node:crypto';
import type { TimeNs } from '../../model/time.js';
import type { StoredMarks } from './marks.js';

/** Keeps the sizes of signed trees as marks of the data folder, one for each origin. */
export function signedSizes(marks: Pick<StoredMarks, 'read' | 'write'>) {
  // An origin may be longer than a key.
  const kindOf = (origin: string) => `log ${createHash('sha256').update(origin).digest('hex')}`;
  return {
    read: (origin: string): bigint | undefined => marks.read(kindOf(origin), 0),
    write: (origin: string, size: bigint) =>
      new Promise<void>((resolve) => marks.write(kindOf(origin), 0, size as TimeNs, () => resolve())),
  };
}
