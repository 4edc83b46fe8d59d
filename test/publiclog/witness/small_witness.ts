import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import {
  type CosignAnswer,
  LogWitness,
  type WitnessOptions,
} from '../../../src/publiclog/witness/witness.js';
import { WitnessFolder } from '../../../src/publiclog/witness/witness_folder.js';
import { formatAddCheckpoint } from '../../../src/tlog/add_checkpoint.js';
import type { SigningLog } from '../../tlog/signing_log.js';
import { LOG, LOG_ORIGIN, WITNESSES } from '../../tlog/witnessed_log.js';

/** Creates an empty folder, which the test removes at its end. */
export function emptyFolder(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-witness-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Opens the first witness, which watches the log of `SigningLog`, with the state that is stored in `dir`. */
export async function openWitness(dir: string, options: Partial<WitnessOptions> = {}): Promise<LogWitness> {
  const folder = options.folder ?? new WitnessFolder(dir);
  const { name, key } = WITNESSES[0]!;
  const logs = [{ origin: LOG_ORIGIN, keys: [LOG.logKey(LOG_ORIGIN)], requestsPerDay: 1_000 }];
  const nowMs = () => 1_800_000_000_000;
  return new LogWitness(
    { name, key, logs, folder, nowMs, steadyMs: () => 0, ...options },
    await new WitnessFolder(dir).read((options.key ?? key).witnessKey(options.name ?? name)),
  );
}

/** Asks a witness to cosign the tree of `size`, from the tree of `older`. */
export function addCheckpoint(
  witness: LogWitness,
  log: SigningLog,
  older: number,
  size: number,
): Promise<CosignAnswer> {
  const proof = older > 0 && older < size ? log.prove(BigInt(older), BigInt(size)) : [];
  return witness.addCheckpoint(
    Buffer.from(formatAddCheckpoint({ older: BigInt(older), proof, note: log.note(size) })),
  );
}
