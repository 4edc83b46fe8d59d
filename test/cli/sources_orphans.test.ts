import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { startContractServer, TOKEN } from '../client/contract_server.js';
import { ROOT } from '../pages.js';
import { childrenOf, isGone } from '../service/child.js';
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
  const others = childrenOf(child.pid!)!;
  t.equal(others.length, 1, 'the process of the sources');
  t.notOk(isGone(command));
  child.kill('SIGKILL');
  await until(() => isGone(others[0]!), 'the end of the sources');
  await until(() => isGone(command), 'the end of the command');
});
