import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** The guard's script. Each line of its input names all processes that run now. A killed process may still write for a moment. */
const SCRIPT =
  'while read -r line; do pids=$line; done; [ -z "$pids" ] || { kill -9 $pids; sleep 1; rm -rf -- "$1"; }';

/**
 * Ends processes that this process has started, and removes their folder, when this process ends without stopping them, also by
 * `kill -9`. A shell does that: its input ends with this process. The shell is not in the group of this process, so Ctrl-C does
 * not end it.
 */
export class ProcessGuard {
  readonly #shell: ChildProcessByStdio<Writable, null, null>;
  readonly #pids = new Set<number>();

  /** @param folder the folder into which the processes write */
  constructor(folder: string) {
    const args = ['-c', SCRIPT, 'guard', folder];
    this.#shell = spawn('/bin/sh', args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    // An end of the shell only removes the guard.
    this.#shell.on('error', () => {});
    this.#shell.stdin.on('error', () => {});
  }

  /** Guards a process that was just started, until it ends. */
  add(child: ChildProcess): ChildProcess {
    const { pid } = child;
    if (pid === undefined) return child;
    this.#pids.add(pid);
    this.#tell();
    child.once('exit', () => {
      this.#pids.delete(pid);
      this.#tell();
    });
    return child;
  }

  /** Ends the guard, and the processes that it still guards. */
  async close(): Promise<void> {
    const { stdin, pid, exitCode, signalCode } = this.#shell;
    stdin.end();
    if (pid !== undefined && exitCode === null && signalCode === null) await once(this.#shell, 'exit');
  }

  #tell(): void {
    if (this.#shell.stdin.writable) this.#shell.stdin.write(`${[...this.#pids].join(' ')}\n`);
  }
}
