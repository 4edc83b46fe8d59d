import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { claimPort } from '../../src/server/uws/port_claim.js';
import { isInstalled } from '../deploy/prometheus.js';

/** Returns the reason to skip a test that needs Debian's package of a proxy. In CI such a test is not skipped. */
export function skipWithout(proxy: 'nginx' | 'haproxy'): string | false {
  return !isInstalled(proxy) && process.env['CI'] !== 'true' && `no ${proxy}: Debian's package ${proxy}`;
}

/** Returns a free port. */
export function freePort(): Promise<number> {
  return claimPort({ host: '127.0.0.1', port: 0 });
}

/**
 * Starts nginx until the end of the test.
 * @param url an address that nginx answers
 * @param http the content of its section `http`; `DIR` is replaced by a folder for its files
 */
export async function startNginx(t: Test, url: string, http: string): Promise<void> {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  await start(
    t,
    url,
    `daemon off;
    master_process off;
    pid DIR/pid;
    error_log DIR/errors;
    events {}
    http {
      access_log off;
      ${temporary.map((name) => `${name}_temp_path DIR/${name};`).join('\n')}
      ${http}
    }`,
    (dir, file) => ['nginx', '-p', dir, '-c', file, '-e', `${dir}/errors`],
  );
}

/** Starts HAProxy until the end of the test. The parameters are those of {@link startNginx}. */
export async function startHaproxy(t: Test, url: string, config: string): Promise<void> {
  await start(t, url, config, (_dir, file) => ['haproxy', '-db', '-f', file]);
}

async function start(
  t: Test,
  url: string,
  config: string,
  command: (dir: string, file: string) => readonly [program: string, ...args: string[]],
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-proxy-'));
  const file = join(dir, 'config');
  writeFileSync(file, config.replaceAll('DIR', dir));
  const [program, ...args] = command(dir, file);
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'close');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(dir, { recursive: true });
  });
  await eventually(async () => (await fetch(url).catch(() => undefined)) !== undefined, { what: program });
}
