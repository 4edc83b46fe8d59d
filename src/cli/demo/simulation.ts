import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface SimulationOptions {
  /** The folder with the demo's secrets. */
  readonly dataDir: string;
  /** `ws://` base addresses of the publisher sockets. The publishers of a signature type use them in turn. */
  readonly urls: readonly string[];
  /** The symbols of the EVM assets that other publishers publish. */
  readonly except?: readonly string[];
  /** Called when the process ends without a call of {@link RunningSimulation.stop}. */
  readonly onExit?: ((code: number | null) => void) | undefined;
}

export interface RunningSimulation {
  /** Ends the simulated publishers. Resolves when their process has ended. */
  stop(): Promise<void>;
}

/**
 * Starts the simulated publishers in a separate process. The service's process then only pays for their sockets. The new process
 * ends on request, or when this process ends.
 */
export function startSimulation({
  onExit,
  dataDir,
  urls,
  except = [],
}: SimulationOptions): RunningSimulation {
  const file = fileURLToPath(new URL('./simulated_publishers.js', import.meta.url));
  const child = fork(file, [dataDir, urls.join(), ...except], {
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  let isStopping = false;
  child.once('exit', (code) => {
    if (!isStopping) onExit?.(code);
  });
  return {
    stop() {
      isStopping = true;
      return endProcess(child);
    },
  };
}

/** The time after which the demo kills a process that does not end. */
const STOP_DELAY_MS_MAX = 10_000;

/** Ends a process. Resolves when the process has ended. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_DELAY_MS_MAX);
  await exited;
  clearTimeout(timer);
}

/** Returns true for a process that has ended, and for a process that could not be started. */
export function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null;
}
