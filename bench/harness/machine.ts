import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

/** What the figures were measured on. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly os: string;
  readonly node: string;
  /** Of the minute before the bench: what other processes were doing. */
  readonly loadBefore: number;
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    os: osName(),
    node: process.version,
    loadBefore: Number(loadavg()[0]!.toFixed(1)),
  };
}

/** The commit that is measured, with `+` when the work tree differs from it; `unknown` outside a repository. */
export function describeCommit(): string {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { stdio: ['ignore', 'pipe', 'ignore'] });
    const commit = git('rev-parse', '--short=10', 'HEAD').toString().trim();
    // What the bench itself writes does not make the measured code another.
    const changed = git('status', '--porcelain', '--', 'src', 'bench/*.ts', 'package-lock.json').length > 0;
    return changed ? `${commit}+` : commit;
  } catch {
    return 'unknown';
  }
}

function osName(): string {
  try {
    return /^PRETTY_NAME="?([^"\n]+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? process.platform;
  } catch {
    return process.platform;
  }
}
