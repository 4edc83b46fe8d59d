import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { reasonText, writeLine } from '../shown_line.js';
import type { MarketSecrets } from './secrets.js';
import { endProcess } from './simulation.js';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));

export interface LivePublisherOptions {
  /** The file of sources. */
  readonly file: string;
  /** `ws://` base address of the publisher sockets. */
  readonly url: string;
  readonly secrets: MarketSecrets;
  readonly stderr: NodeJS.WritableStream;
}

/** The delay before a publisher that ended is started again. */
const RESTART_MS = 5_000;

/** Starts `tickseal publish --from`, and restarts it when it ends. The command signs real prices with a key of the demo. */
export function startLivePublisher(options: LivePublisherOptions): { stop(): Promise<void> } {
  let child: ChildProcess;
  let timer: NodeJS.Timeout | undefined;
  let isStopping = false;
  const start = () => {
    child = spawnPublisher(options);
    child.once('close', (code, signal) => {
      if (isStopping) return;
      const text = `the publisher of real prices has ended (${signal ?? code}); it starts again in ${RESTART_MS / 1000} s`;
      writeLine(options.stderr, reasonText(text));
      timer = setTimeout(start, RESTART_MS);
    });
  };
  start();
  return {
    stop() {
      isStopping = true;
      clearTimeout(timer);
      return endProcess(child);
    },
  };
}

function spawnPublisher({ file, url, secrets, stderr }: LivePublisherOptions): ChildProcess {
  const child = spawn(process.execPath, [MAIN, 'publish', '--from', file, '--skip-missing', '--url', url], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // The command removes both variables from the environment of its sources process, because that process connects to foreign
    // servers.
    env: { ...process.env, TICKSEAL_KEY: secrets.key, TICKSEAL_TOKEN: secrets.token },
  });
  child.on('error', () => {});
  // The command writes its answers to a pipe. If this process is killed, the pipe closes and the command ends too.
  child.stdout.resume();
  child.stderr.pipe(stderr, { end: false });
  return child;
}
