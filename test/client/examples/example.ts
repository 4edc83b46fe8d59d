import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { type TestService, TOKEN } from '../../service/harness.js';

// Runs the programs of `src/client/examples` like a user does. Each program is a separate process, and the service runs in
// this process.

/** A running program. */
export interface Running {
  /** Returns everything that the program has printed, including errors. */
  readonly output: () => string;
  /** Resolves when the output matches the pattern. @throws Error when the program ends without a match */
  printed(pattern: RegExp): Promise<boolean>;
  /** Resolves with the exit code of the program. */
  readonly ended: Promise<number | null>;
  /** Ends the program at once, in the middle of its work. Resolves when it has ended. */
  end(): Promise<unknown>;
}

/** Starts a program. The program is killed when the test ends. */
export function startProgram(
  t: Test,
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env: NodeJS.ProcessEnv },
): Running {
  // The processes of a shell pipeline are one process group, so one signal kills all of them.
  const child = spawn(program, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  let isEnded = false;
  const ended = new Promise<number | null>((resolve) =>
    child.on('close', (code) => {
      isEnded = true;
      resolve(code);
    }),
  );
  const end = () => {
    if (!isEnded) process.kill(-child.pid!, 'SIGKILL');
    return ended;
  };
  t.teardown(end);
  const printed = (pattern: RegExp) =>
    eventually(() => {
      if (pattern.test(output)) return true;
      if (isEnded) throw new Error(`it ended without ${pattern}: ${output}`);
      return undefined;
    });
  return { output: () => output, printed, ended, end };
}

/** Starts an example. */
export function startExample(
  t: Test,
  service: Pick<TestService, 'url' | 'evmAddress'>,
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Running {
  const file = fileURLToPath(new URL(`../../../src/client/examples/${name}.js`, import.meta.url));
  const own = { TICKSEAL_URL: service.url, TICKSEAL_TOKEN: TOKEN, SIGNER: service.evmAddress };
  return startProgram(t, process.execPath, [file, ...args], { env: { ...process.env, ...own, ...env } });
}

/** Runs an example to its end. @returns its exit code and everything that it printed */
export async function runExample(
  ...parameters: Parameters<typeof startExample>
): Promise<{ readonly status: number | null; readonly output: string }> {
  const example = startExample(...parameters);
  const status = await example.ended;
  return { status, output: example.output() };
}
