import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../scripts/load/wait.js';
import { Ed25519Key, verifyByNode } from '../../src/tlog/ed25519_key.js';
import { parsePolicy } from '../../src/tlog/log_policy.js';
import { openCheckpoint } from '../../src/tlog/open_checkpoint.js';
import { formatVerifierKey } from '../../src/tlog/verifier_key.js';
import type { TestService } from './harness.js';

const ORIGIN = 'rotated.example.com/tlog';

/** The keys of a public log, one for each generation of the other keys. */
export const LOG_SEEDS = [1, 2, 3].map((n) => Buffer.alloc(32, 0x50 + n)) as [Buffer, Buffer, Buffer];
const LINES = LOG_SEEDS.map((seed) => `log ${formatVerifierKey(new Ed25519Key(seed).logKey(ORIGIN))}\n`);
const QUORUM = 'quorum none\n';

/** Returns the section `log` of a log whose policy lists all keys. @param dir the folder for the policy's file */
export function rotatedLog(dir: string): object {
  const file = join(dir, 'log.policy');
  writeFileSync(file, LINES.join('') + QUORUM);
  return { origin: ORIGIN, batch: '100ms', checkpoint: '200ms', policy: { file } };
}

/** Waits for a checkpoint that only this key of the log has signed. @returns its size, in batches */
export function untilLogSignedBy(service: Pick<TestService, 'url'>, seed: Buffer): Promise<bigint> {
  const policy = parsePolicy(LINES[LOG_SEEDS.indexOf(seed)]! + QUORUM);
  return eventually(
    async () => {
      const response = await fetch(`${service.url}/tlog/checkpoint`);
      const note = await response.text();
      if (response.status !== 200) return undefined;
      try {
        return (await openCheckpoint(note, policy, verifyByNode)).checkpoint.size;
      } catch {
        return undefined;
      }
    },
    { what: 'a checkpoint of the next key of the log', withinMs: 60_000 },
  );
}
