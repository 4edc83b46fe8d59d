import { type ChildProcess, spawn } from 'node:child_process';
import type { Schedule } from '../client/connect/liveness.js';
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
  #cancelLook: () => void = () => {};

  constructor(options: CommandFeedOptions) {
    this.#options = options;
  }

  open(): void {
    const { run, symbols, sink } = this.#options;
    const { connection } = sink.begin(symbols);
    const [file, ...args] = run as [string, ...string[]];
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
    this.#child = child;
    this.#look(child);
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop()!;
      for (const line of lines) this.#read(connection, line);
      if (rest.length <= LINE_CHARACTERS_MAX) return;
      rest = '';
      sink.warn(`a line has more than ${LINE_CHARACTERS_MAX} characters`);
      kill(child);
    });
    child.once('error', (error: NodeJS.ErrnoException) =>
      this.#end(child, connection, `it cannot run (${error.code})`),
    );
    child.once('close', (code, signal) => this.#end(child, connection, `it ended (${signal ?? code})`));
  }

  renew(reason: string): void {
    if (this.#child === undefined) return;
    this.#options.sink.warn(reason);
    kill(this.#child);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelRetry();
    this.#cancelLook();
    const child = this.#child;
    if (child === undefined) return;
    signal(child, 'SIGTERM');
    const cancelKill = this.#options.schedule(() => kill(child), END_MS_MAX);
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
  #look(child: ChildProcess): void {
    const { maxSilenceMs, sink, schedule } = this.#options;
    this.#hasReceived = false;
    this.#cancelLook = schedule(() => {
      if (this.#hasReceived) return this.#look(child);
      sink.warn(`no quote for ${maxSilenceMs / 1000} s`);
      kill(child);
    }, maxSilenceMs);
  }

  #end(child: ChildProcess, connection: number, reason: string): void {
    if (this.#isClosed || child !== this.#child) return;
    const { sink, schedule, random } = this.#options;
    this.#child = undefined;
    this.#cancelLook();
    sink.end(connection);
    sink.warn(`${reason}; starting it again`);
    this.#cancelRetry = schedule(() => this.open(), retryDelayMs(this.#failures++, random()));
  }
}

/** Kills a command. Closes its pipe too, because a process that left the group may still hold the pipe. */
function kill(child: ChildProcess): void {
  signal(child, 'SIGKILL');
  child.stdout?.destroy();
}

function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch {
    // The whole group has already ended.
  }
}
