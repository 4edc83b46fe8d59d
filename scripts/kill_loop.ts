import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killRounds } from '../test/store/kill_rounds.js';

/** The long form of test/store/kill.test.ts: prints what each kill -9 left. Argument: rounds. */
const rounds = Number(process.argv[2] ?? 60);
const dir = mkdtempSync(join(tmpdir(), 'tickseal-kill-'));
try {
  const report = await killRounds(dir, rounds, (round, acknowledged, recovered) =>
    process.stdout.write(`round ${round + 1}: acknowledged ${acknowledged}, recovered ${recovered}\n`),
  );
  process.stdout.write(
    `${report.rounds} kills, nothing acknowledged was lost, nothing torn; ${report.roundsAhead} times more was found than was acknowledged\n`,
  );
} finally {
  rmSync(dir, { recursive: true, force: true });
}
