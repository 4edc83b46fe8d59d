import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';

/**
 * The guard's script. Each line of input contains the IDs of all running processes. At the end of the input, the script kills these
 * processes. It waits a second before it removes the folder, because a killed process may still be writing.
 */
const SCRIPT =
  'while read -r line; do pids=$line; done; [ -z "$pids" ] || { kill -9 $pids; sleep 1; rm -rf -- "$1"; }';

/**
 * Ends the processes that this process has started and removes their folder, if this process ends without doing so. This works even
 * after `kill -9`. The guard is a shell whose input closes when this process ends; the shell then does the work. The shell is not
 * in this process's group, so Ctrl-C does not end the shell.
 */
export class ProcessGuard {
  readonly #shell: ChildProcessByStdio<Writable, null, null>;
  readonly #pids = new Set<number>();

  /** @param folder the folder into which the processes write */
  constructor(folder: string) {
    const args = ['-c', SCRIPT, 'guard', folder];
    this.#shell = spawn('/bin/sh', args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    // If the shell fails, the demo continues without the guard.
    this.#shell.on('error', () => {});
    this.#shell.stdin.on('error', () => {});
  }

  /** Guards a new process until that process ends. */
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

  /** Ends the guard and the processes that it still guards. */
  async close(): Promise<void> {
    const { stdin, pid, exitCode, signalCode } = this.#shell;
    stdin.end();
    if (pid !== undefined && exitCode === null && signalCode === null) await once(this.#shell, 'exit');
  }

  #tell(): void {
    if (this.#shell.stdin.writable) this.#shell.stdin.write(`${[...this.#pids].join(' ')}\n`);
  }
}
