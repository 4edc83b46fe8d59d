import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Schedule } from '../../client/connect/liveness.js';
import { type FrameSink, type MarketFeed, retryDelayMs } from './market_feed.js';

export interface CommandFeedOptions {
  readonly run: readonly string[];
  readonly symbols: readonly string[];
  /** The silence of all symbols after which the command is restarted. */
  readonly maxSilenceMs: number;
  readonly sink: FrameSink;
  readonly schedule: Schedule;
  readonly random: () => number;
}

/** The largest length of a line of the command. A longer line ends the command. */
const LINE_CHARACTERS_MAX = 65_536;
/** The time after which a command that ignores the request to end is killed. */
const END_MS_MAX = 1_000;

/**
 * The shell program that runs a command. Its standard input is a pipe to this process, on which nothing is ever sent. When this process is
 * gone, even by a kill, the pipe ends, and the shell kills its process group. A command that only waits would otherwise run on for ever.
 */
const RUNNER = `exec 3<&0 </dev/null
{ read -r line <&3; kill -KILL 0; } >/dev/null 2>&1 &
watcher=$!
"$@" 3<&- &
exec 3<&-
wait $!
status=$?
kill $watcher
exit $status`;
/** The exit statuses with which a shell says why it cannot run a command. */
const SHELL_FAULTS: Readonly<Record<number, string>> = {
  126: 'it cannot run (it is not a program)',
  127: 'it cannot run (it is not found)',
};
/** The exit status of a shell whose command a signal has ended, less the number of the signal. */
const SIGNAL_STATUS = 128;

/**
 * Runs a command that writes quotes as JSON lines, and restarts the command when it ends. A signal goes to the command's whole process
 * group, because a program that a shell has started would otherwise continue and keep the pipe open.
 */
export class CommandFeed implements MarketFeed {
  readonly #options: CommandFeedOptions;
  #child: ChildProcess | undefined;
  #isClosed = false;
  #failures = 0;
  #hasReceived = false;
  #cancelRetry: () => void = () => {};
  #cancelCheck: () => void = () => {};

  constructor(options: CommandFeedOptions) {
    this.#options = options;
  }

  open(): void {
    const { run, symbols, sink } = this.#options;
    const { connection } = sink.begin(symbols);
    const child = spawn('/bin/sh', ['-c', RUNNER, 'sh', ...run], {
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    });
    child.stdin.on('error', () => {});
    this.#child = child;
    this.#endIfSilent(child);
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop()!;
      for (const line of lines) this.#read(connection, line);
      if (rest.length <= LINE_CHARACTERS_MAX) return;
      rest = '';
      sink.warn(`a line has more than ${LINE_CHARACTERS_MAX} characters`);
      killGroup(child);
    });
    child.once('error', (error: NodeJS.ErrnoException) =>
      this.#end(child, connection, `it cannot run (${error.code})`),
    );
    child.once('close', (code, signal) => this.#end(child, connection, endText(code, signal)));
  }

  renew(reason: string): void {
    if (this.#child === undefined) return;
    this.#options.sink.warn(reason);
    killGroup(this.#child);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelRetry();
    this.#cancelCheck();
    const child = this.#child;
    if (child === undefined) return;
    signal(child, 'SIGTERM');
    const cancelKill = this.#options.schedule(() => killGroup(child), END_MS_MAX);
    child.once('close', cancelKill);
  }

  #read(connection: number, line: string): void {
    const { sink } = this.#options;
    if (line.trim() === '' || this.#isClosed) return;
    for (const event of sink.read(connection, line)) {
      if (event.kind === 'malformed') sink.warn(event.reason);
      else if (event.kind === 'refused') sink.warn(`${event.pair}: ${event.reason}`);
      else if (event.kind === 'quote') {
        this.#failures = 0;
        this.#hasReceived = true;
      }
    }
  }

  /** Ends a command that has sent no quote since the last check. */
  #endIfSilent(child: ChildProcess): void {
    const { maxSilenceMs, sink, schedule } = this.#options;
    this.#hasReceived = false;
    this.#cancelCheck = schedule(() => {
      if (this.#hasReceived) return this.#endIfSilent(child);
      sink.warn(`no quote for ${maxSilenceMs / 1000} s`);
      killGroup(child);
    }, maxSilenceMs);
  }

  #end(child: ChildProcess, connection: number, reason: string): void {
    if (this.#isClosed || child !== this.#child) return;
    const { sink, schedule, random } = this.#options;
    this.#child = undefined;
    this.#cancelCheck();
    sink.end(connection);
    sink.warn(`${reason}; starting it again`);
    this.#cancelRetry = schedule(() => this.open(), retryDelayMs(this.#failures++, random()));
  }
}

/** Kills a command. Closes its pipe too, because a process that left the group may still hold the pipe. */
function killGroup(child: ChildProcess): void {
  signal(child, 'SIGKILL');
  child.stdout?.destroy();
}

function endText(code: number | null, signal: NodeJS.Signals | null): string {
  const number = (code ?? 0) - SIGNAL_STATUS;
  const name = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return SHELL_FAULTS[code ?? 0] ?? `it ended (${signal ?? name ?? code})`;
}

function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch {
    // The whole group has already ended.
  }
}
