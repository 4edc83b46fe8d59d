import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { startContractServer, TOKEN } from '../client/contract_server.js';
import { ROOT } from '../pages.js';
import { until } from '../sources/markets/manual_time.js';

const MAIN = join(ROOT, 'dist/src/cli/main.js');
const FOLDER = mkdtempSync(join(tmpdir(), 'tickseal-orphans-'));
process.once('exit', () => rmSync(FOLDER, { recursive: true }));
const KEY_FILE = join(FOLDER, 'evm.hex');
writeFileSync(KEY_FILE, '8b558d5fc31eb64bb51d44b4b28658180e96764d5d5ac68e6d124f86f576d9de', { mode: 0o600 });

/** Writes a file with a source that never has a price. Its command writes its process ID to a file, and sleeps. */
function silentFile(name: string): { readonly file: string; readonly pidFile: string } {
  const pidFile = join(FOLDER, `${name}.pid`);
  const file = join(FOLDER, `${name}.yaml`);
  const program = `require('node:fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1e6)`;
  writeFileSync(
    file,
    `sources: { desk: { kind: command, run: ${JSON.stringify([process.execPath, '-e', program])} } }
assets: { A: { from: [desk A], min_sources: 1, max_age: 60s } }
publish: { every: 50ms }
`,
  );
  return { file, pidFile };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A killed process that nobody waits for is still in the list.
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Returns the processes whose command line has a text. */
function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}

const options = { skip: process.platform === 'linux' ? false : 'reads /proc' };

test('a killed publisher without any price leaves no process', options, async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  const { file, pidFile } = silentFile('killed');
  const child = spawn(
    process.execPath,
    [MAIN, 'publish', '--from', file, '--key', KEY_FILE, '--url', server.url],
    { env: { ...process.env, TICKSEAL_TOKEN: TOKEN }, stdio: 'ignore' },
  );
  await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '', 'the command');
  const command = Number(readFileSync(pidFile, 'utf8'));
  const others = processesWith(file).filter((pid) => pid !== child.pid);
  t.equal(others.length, 1, 'the process of the sources');
  t.ok(isAlive(command));
  child.kill('SIGKILL');
  await until(() => !isAlive(others[0]!), 'the end of the sources');
  await until(() => !isAlive(command), 'the end of the command');
});
