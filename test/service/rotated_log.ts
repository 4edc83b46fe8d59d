import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../scripts/load/wait.js';
import { Ed25519Key, verifyByNode } from '../../src/tlog/ed25519_key.js';
import { parsePolicy } from '../../src/tlog/log_policy.js';
import { openCheckpoint } from '../../src/tlog/open_checkpoint.js';
import { formatVerifierKey } from '../../src/tlog/verifier_key.js';
import type { TestService } from './harness.js';
import { type Generation, generation } from './rotation.js';

const ORIGIN = 'rotated.example.com/tlog';

/** The keys of one generation, with the key of the public log. */
interface LoggedGeneration extends Generation {
  readonly log: Buffer;
}

/** The keys of three generations, in their order. */
export const LOGGED_GENERATIONS = [1, 2, 3].map((n) => ({
  ...generation(n),
  log: Buffer.alloc(32, 0x50 + n),
})) as [LoggedGeneration, LoggedGeneration, LoggedGeneration];
const LINES = LOGGED_GENERATIONS.map(
  ({ log: seed }) => `log ${formatVerifierKey(new Ed25519Key(seed).logKey(ORIGIN))}\n`,
);
const QUORUM = 'quorum none\n';

/** Returns the section `log` of a log whose policy lists all keys. @param dir the folder for the policy's file */
export function rotatedLog(dir: string): object {
  const file = join(dir, 'log.policy');
  writeFileSync(file, LINES.join('') + QUORUM);
  return { origin: ORIGIN, batch: '100ms', checkpoint: '200ms', policy: { file } };
}

/** Waits for a checkpoint that the key of this generation has signed. @returns its size, in batches */
export function untilLogSignedBy(service: Pick<TestService, 'url'>, keys: LoggedGeneration): Promise<bigint> {
  const policy = parsePolicy(LINES[LOGGED_GENERATIONS.indexOf(keys)]! + QUORUM);
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
