import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface PublishersOptions {
  /** The folder with the demo's secrets. */
  readonly dataDir: string;
  /** `ws://` base address of the publisher sockets. */
  readonly url: string;
  /** The symbols of the EVM assets that other publishers publish. */
  readonly except?: readonly string[];
}

export interface SimulationOptions extends PublishersOptions {
  /** Called when the process ends without a call of {@link RunningSimulation.stop}. */
  readonly onExit?: ((code: number | null) => void) | undefined;
}

export interface RunningSimulation {
  /** Ends the simulated publishers. Resolves when their process has ended. */
  stop(): Promise<void>;
}

/** The time after which the demo kills a process that does not end. */
const STOP_DELAY_MS_MAX = 3_000;

/** Starts the process of the simulated publishers. The new process ends on request, or when this process ends. */
export function forkPublishers({ dataDir, url, except = [] }: PublishersOptions): ChildProcess {
  const file = fileURLToPath(new URL('./simulated_publishers.js', import.meta.url));
  return fork(file, [dataDir, url, ...except], {
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

/** Starts the simulated publishers in a separate process. The service's process then only pays for their sockets. */
export function startSimulation({ onExit, ...options }: SimulationOptions): RunningSimulation {
  const child = forkPublishers(options);
  let isStopping = false;
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code) => {
      if (!isStopping) onExit?.(code);
      resolve();
    });
  });
  return {
    async stop() {
      isStopping = true;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_DELAY_MS_MAX);
      await exited;
      clearTimeout(timer);
    },
  };
}
