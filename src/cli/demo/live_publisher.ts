import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { reasonText, tell } from '../shown_line.js';
import { KeptProcess } from './kept_process.js';
import type { MarketSecrets } from './secrets.js';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));

export interface LivePublisherOptions {
  /** The file of sources. */
  readonly file: string;
  /** `ws://` base address of the publisher sockets. */
  readonly url: string;
  readonly secrets: MarketSecrets;
  readonly stderr: NodeJS.WritableStream;
}

/** Starts `tickseal publish --from`, and restarts it when it ends. The command signs real prices with a key of the demo. */
export async function startLivePublisher(options: LivePublisherOptions): Promise<KeptProcess> {
  const { stderr } = options;
  const publisher = new KeptProcess({
    name: 'the publisher of real prices',
    spawn: () => spawnPublisher(options),
    say: (line) => tell(stderr, reasonText(line)),
  });
  publisher.keep();
  await publisher.start();
  return publisher;
}

function spawnPublisher({ file, url, secrets, stderr }: LivePublisherOptions): ChildProcess {
  const child = spawn(process.execPath, [MAIN, 'publish', '--from', file, '--skip-missing', '--url', url], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // The command removes both variables from the environment of its sources process, because that process connects to foreign
    // servers.
    env: { ...process.env, TICKSEAL_KEY: secrets.key, TICKSEAL_TOKEN: secrets.token },
  });
  // The command writes its answers to a pipe. If this process is killed, the pipe closes and the command ends too.
  child.stdout.resume();
  child.stderr.pipe(stderr, { end: false });
  return child;
}
