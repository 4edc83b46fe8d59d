import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { Ed25519Key, verifyByNode } from '../../src/tlog/ed25519_key.js';
import type { LogPolicy } from '../../src/tlog/log_policy.js';
import { openCheckpoint } from '../../src/tlog/open_checkpoint.js';
import { formatVerifierKey } from '../../src/tlog/verifier_key.js';
import { ROOT } from '../pages.js';
import { WITNESSES } from '../tlog/witnessed_log.js';
import type { TestService } from './harness.js';

/** The logs of two operators. */
export const LOGS = ['a.example.com/tlog', 'b.example.com/tlog'].map((origin, i) => {
  const seed = Buffer.alloc(32, 0x40 + i);
  return { origin, seed, vkey: formatVerifierKey(new Ed25519Key(seed).logKey(origin)) };
});

/** A witness in a process of its own. */
export class WitnessProcess {
  readonly line: string;
  readonly #t: Test;
  readonly #file: string;
  readonly #number: number;
  #child: ChildProcess | undefined;

  /**
   * @param number 1 to 3
   * @param logs the logs that the witness cosigns
   */
  constructor(
    t: Test,
    dir: string,
    number: number,
    port: number,
    logs: readonly { readonly vkey: string }[] = LOGS,
  ) {
    this.#t = t;
    this.#number = number;
    const { name, key } = WITNESSES[number - 1]!;
    this.line = `witness W${number} ${formatVerifierKey(key.witnessKey(name))} http://127.0.0.1:${port}`;
    this.#file = join(dir, `witness-${number}.yaml`);
    writeFileSync(
      this.#file,
      `name: ${name}
key: { env: WITNESS_KEY }
folder: state-${number}
listen: { port: ${port} }
admin: { port: 0 }
logs: [${logs.map(({ vkey }) => `{ vkeys: ['${vkey}'] }`).join(', ')}]
limits: { requests_per_second: 100000 }
`,
    );
  }

  start(): void {
    const main = join(ROOT, 'dist/src/cli/main.js');
    const child = spawn(process.execPath, [main, 'witness', '--config', this.#file], {
      stdio: 'ignore',
      env: { ...process.env, WITNESS_KEY: `0${this.#number}`.repeat(32) },
    });
    this.#t.teardown(() => child.kill('SIGKILL'));
    this.#child = child;
  }

  async kill(): Promise<void> {
    this.#child!.kill('SIGKILL');
    await once(this.#child!, 'exit');
  }
}

/** Waits for a checkpoint beyond a size with exactly these witnesses. Returns its size. */
export function cosignedBy(
  service: Pick<TestService, 'url'>,
  policy: LogPolicy,
  names: readonly string[],
  after = 0n,
  path = '/tlog/checkpoint',
) {
  return eventually(async () => {
    const response = await fetch(`${service.url}${path}`);
    const note = await response.text();
    if (response.status !== 200) return undefined;
    const { checkpoint, cosigners } = await openCheckpoint(note, policy, verifyByNode);
    const found = [...cosigners.keys()].sort().join();
    return found === names.join() && checkpoint.size > after ? checkpoint.size : undefined;
  });
}
