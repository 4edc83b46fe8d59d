import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Check, exactly, type Finding, type Scale } from './check.js';
import { until } from './service.js';

/** The check with a new installation in which no package may run a script. */
export const install: Check = {
  name: 'install',
  title: 'a fresh clone, npm ci --ignore-scripts, npm start',
  run: measure,
};

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const run = promisify(execFile);

async function measure(scale: Scale) {
  const folder = mkdtempSync(join(tmpdir(), 'tickseal-install-'));
  try {
    const missing = await clone(folder);
    if (missing !== undefined) return { skipped: missing };
    // A smoke run uses the packages of this checkout, so the run needs no registry.
    if (scale === 'smoke') symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    return [...(scale === 'smoke' ? [] : await installPackages(folder)), ...(await start(folder))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns the error text if the machine has no git, or if the folder is not a repository */
async function clone(folder: string): Promise<string | undefined> {
  try {
    await run('git', ['clone', '--quiet', '--depth', '1', `file://${ROOT}`, folder]);
    return undefined;
  } catch (error) {
    return (error as Error).message.trim().replaceAll('\n', ' ');
  }
}

async function installPackages(folder: string): Promise<Finding[]> {
  const installMs = await timed(async () => {
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  });
  const built = existsSync(join(folder, 'dist')) ? 1 : 0;
  return [
    { figure: 'npm ci --ignore-scripts', value: installMs / 1000, unit: 's' },
    { figure: '  folders that a script has built', value: built, unit: '', mustBe: exactly(0) },
  ];
}

async function start(folder: string): Promise<Finding[]> {
  const args = ['start', '--', '--port', '0', '--admin-port', '0', '--data', join(folder, 'data')];
  // The process has its own process group, because npm starts a shell, which starts the service.
  const npm = spawn('npm', args, { cwd: folder, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(npm, 'close');
  let output = '';
  for (const stream of [npm.stdout, npm.stderr])
    stream.on('data', (text) => {
      output += text;
    });
  const printed = (name: string) => new RegExp(`^ +${name} +(\\S+)`, 'm').exec(output)?.[1];
  try {
    const readyMs = await timed(() =>
      until('npm start prints its addresses', () => {
        if (npm.exitCode !== null) throw new Error(`npm start ended: ${output}`);
        return printed('settings') !== undefined;
      }),
    );
    const ready = await fetch(printed('admin')!);
    const headers = { Authorization: `Basic ${printed('token')}` };
    const latest = await fetch(`${printed('REST')}/v1/prices/latest?assets=BTCUSD`, { headers });
    return [
      { figure: 'npm start, until it builds and serves prices', value: readyMs / 1000, unit: 's' },
      { figure: '  /readyz', value: ready.status, unit: '', mustBe: exactly(200) },
      { figure: '  a price', value: latest.status, unit: '', mustBe: exactly(200) },
    ];
  } finally {
    if (npm.exitCode === null) process.kill(-npm.pid!, 'SIGTERM');
    await ended;
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}
