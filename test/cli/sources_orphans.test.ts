import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
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

async function freePort(t: Test): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  t.ok(port);
  return port;
}

const options = { skip: process.platform === 'linux' ? false : 'reads /proc' };

test(
  'a killed publisher without any price leaves no process, and the next start works',
  options,
  async (t) => {
    const server = await startContractServer();
    t.teardown(() => server.close());
    const { file, pidFile } = silentFile('killed');
    const port = await freePort(t);
    const start = () => {
      const child = spawn(
        process.execPath,
        [
          MAIN,
          'publish',
          '--from',
          file,
          '--key',
          KEY_FILE,
          '--url',
          server.url,
          '--metrics',
          `127.0.0.1:${port}`,
        ],
        { env: { ...process.env, TICKSEAL_TOKEN: TOKEN }, stdio: ['ignore', 'ignore', 'pipe'] },
      );
      let errors = '';
      child.stderr.on('data', (chunk) => (errors += String(chunk)));
      return { child, errors: () => errors };
    };
    const answers = async () =>
      await fetch(`http://127.0.0.1:${port}/metrics`).then(
        ({ ok }) => ok,
        () => false,
      );
    const untilAnswers = async () => {
      let isUp = false;
      await until(() => {
        void answers().then((up) => (isUp ||= up));
        return isUp;
      }, 'the metrics');
    };
    for (const round of [1, 2]) {
      rmSync(pidFile, { force: true });
      const { child, errors } = start();
      await untilAnswers();
      await until(() => {
        try {
          return readFileSync(pidFile, 'utf8') !== '';
        } catch {
          return false;
        }
      }, 'the command');
      const command = Number(readFileSync(pidFile, 'utf8'));
      const others = processesWith(file).filter((pid) => pid !== child.pid);
      t.equal(others.length, 1, 'the process of the sources');
      t.ok(isAlive(command));
      child.kill('SIGKILL');
      await until(() => !isAlive(others[0]!), 'the end of the sources');
      await until(() => !isAlive(command), 'the end of the command');
      t.notMatch(errors(), 'EADDRINUSE', `round ${round}`);
    }
  },
);

test('the command of killed sources ends', options, async (t) => {
  const { file, pidFile } = silentFile('sources');
  const child = spawn(process.execPath, [MAIN, 'sources', file], { stdio: ['ignore', 'ignore', 'inherit'] });
  let command = 0;
  await until(() => {
    try {
      command = Number(readFileSync(pidFile, 'utf8'));
    } catch {
      return false;
    }
    return command > 0;
  }, 'the command');
  t.ok(isAlive(command));
  child.kill('SIGKILL');
  await until(() => !isAlive(command), 'the end of the command');
});
