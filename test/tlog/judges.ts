import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../pages.js';

/** The verdict of another program. */
export interface OtherVerdict {
  readonly Accepted: boolean;
  /** The reason of a refusal. */
  readonly Reason?: string;
  readonly Root?: string | null;
  readonly Inclusion?: readonly string[] | null;
  readonly Consistency?: readonly string[] | null;
}

/** Another implementation. */
export interface Judge {
  readonly name: string;
  /** The reason why the implementation is missing on this machine, or `false`. */
  readonly skip: string | false;
  readonly command: readonly string[];
  /** True if the implementation accepts malformed notes, such as a note whose last newline is missing. */
  readonly isLax: boolean;
}

const BUILD_MS_MAX = 240_000;
const ANSWER_MS_MAX = 60_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Compiles the Go program. With `CI=true`, a machine with Go must also have the modules. */
export function goJudge(): Judge {
  const built = mkdtempSync(join(tmpdir(), 'tickseal-judge-'));
  process.on('exit', () => rmSync(built, { recursive: true, force: true }));
  const program = join(built, 'judge');
  const { status, error, stderr } = spawnSync('go', ['build', '-o', program, '.'], {
    cwd: join(ROOT, 'test/tlog/go'),
    timeout: BUILD_MS_MAX,
    encoding: 'utf8',
  });
  const isMissing = (error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
  if (status !== 0 && !isMissing && process.env['CI'] === 'true')
    throw new Error(`the Go program was not built: ${stderr || error?.message}`);
  return {
    name: 'Go',
    skip: status !== 0 && 'Go or its modules are not here',
    command: [program],
    isLax: false,
  };
}

/** The Python with another implementation of logs: `TICKSEAL_TLOG_PYTHON`, which `scripts/python_packages.sh tlog` prints, or python3. */
export const PYTHON = process.env['TICKSEAL_TLOG_PYTHON'] ?? 'python3';

export function pythonJudge(): Judge {
  const python = PYTHON;
  const { status } = spawnSync(python, ['-c', 'import aics_tlog'], { stdio: 'ignore' });
  const command = [python, join(ROOT, 'test/tlog/python/judge.py')];
  return { name: 'Python', skip: status !== 0 && 'Python or aics-tlog is not here', command, isLax: true };
}

/** Returns the verdicts of another implementation. */
export function ask(
  { command: [program, ...args] }: Judge,
  cases: readonly object[],
): Promise<OtherVerdict[]> {
  return new Promise((resolve, reject) => {
    const limits = { maxBuffer: OUTPUT_BYTES_MAX, timeout: ANSWER_MS_MAX };
    const child = execFile(program!, args, limits, (error, stdout, stderr) => {
      if (error !== null) reject(new Error(stderr || error.message));
      else resolve(JSON.parse(stdout) as OtherVerdict[]);
    });
    child.stdin!.end(JSON.stringify(cases));
  });
}
