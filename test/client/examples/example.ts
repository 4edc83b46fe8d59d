import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { type TestService, TOKEN } from '../../service/harness.js';

// Runs the programs of `src/client/examples` like a user does. Each program is a separate process, and the service runs in
// this process.

/** A running example. */
export interface Example {
  /** Returns everything that the example has printed, including errors. */
  readonly output: () => string;
  /** Resolves when the output matches the pattern. */
  printed(pattern: RegExp): Promise<void>;
  /** Resolves with the exit code of the example. */
  readonly ended: Promise<number | null>;
  /** Ends the example at once, in the middle of its work. */
  kill(): void;
}

/** Starts an example. The example is killed when the test ends. */
export function startExample(
  t: Test,
  service: TestService,
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Example {
  const file = fileURLToPath(new URL(`../../../src/client/examples/${name}.js`, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], {
    env: {
      ...process.env,
      TICKSEAL_URL: service.url,
      TICKSEAL_TOKEN: TOKEN,
      SIGNER: service.evmAddress,
      ...env,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  t.teardown(async () => {
    child.kill();
    await ended;
  });
  return {
    output: () => output,
    async printed(pattern) {
      await eventually(() => (pattern.test(output) ? true : undefined));
    },
    ended,
    kill: () => void child.kill('SIGKILL'),
  };
}

/** Runs an example to its end. @returns its exit code and everything that it printed */
export async function runExample(
  ...parameters: Parameters<typeof startExample>
): Promise<{ readonly status: number | null; readonly output: string }> {
  const example = startExample(...parameters);
  const status = await example.ended;
  return { status, output: example.output() };
}
