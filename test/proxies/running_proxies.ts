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

/** Starts nginx until the end of the test. @param http the content of its section `http` */
export async function startNginx(t: Test, url: string, http: string): Promise<void> {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  await startProxy(
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
    ['nginx', '-p', 'DIR', '-c', 'DIR/config', '-e', 'DIR/errors'],
  );
}

/** Starts a proxy until the end of the test. In its configuration and command, `DIR` is replaced by a folder. */
export async function startProxy(
  t: Test,
  url: string,
  config: string,
  command: readonly string[],
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-proxy-'));
  writeFileSync(join(dir, 'config'), config.replaceAll('DIR', dir));
  const [program = '', ...args] = command.map((word) => word.replaceAll('DIR', dir));
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'close');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(dir, { recursive: true });
  });
  await eventually(async () => (await fetch(url).catch(() => undefined)) !== undefined, { what: program });
}
