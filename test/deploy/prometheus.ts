import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { claimPort } from '../../src/server/uws/port_claim.js';

/**
 * Runs `promtool`.
 * @returns its output and status; `undefined` without promtool
 */
export function promtool(
  args: readonly string[],
  input = '',
): { readonly output: string; readonly status: number | null } | undefined {
  const { error, stdout, stderr, status } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return error === undefined ? { output: stdout + stderr, status } : undefined;
}

/** Returns whether a program is in the path. */
export function isInstalled(program: string): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export interface Prometheus {
  /** Returns the `result` of a query. */
  query<T>(expr: string): Promise<T>;
  /** Returns the `data` of a path of the API. */
  get<T>(path: string): Promise<T>;
}

/** Starts Prometheus with this configuration. @returns the instance, after two scrapes of each target of the job tickseal */
export async function startPrometheus(t: Test, dir: string, config: object): Promise<Prometheus> {
  const file = join(dir, 'prometheus.yml');
  writeFileSync(file, JSON.stringify(config));
  const address = `127.0.0.1:${await claimPort({ host: '127.0.0.1', port: 0 })}`;
  const args = [`--config.file=${file}`, `--storage.tsdb.path=${dir}/data`];
  const child = spawn('prometheus', [...args, `--web.listen-address=${address}`], { stdio: 'ignore' });
  const ended = once(child, 'close');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  async function get<T>(path: string): Promise<T> {
    const answer = await fetch(`http://${address}/api/v1/${path}`);
    const { data, error } = (await answer.json()) as { data?: T; error?: string };
    if (data === undefined) throw new Error(`${path}: ${error}`);
    return data;
  }
  const query = async <T>(expr: string): Promise<T> =>
    (await get<{ result: T }>(`query?query=${encodeURIComponent(expr)}`)).result;
  const young = 'count_over_time(up{job="tickseal"}[1m]) < 2 or absent(up{job="tickseal"})';
  await eventually(async () => {
    const waiting = await query<readonly unknown[]>(young).catch(() => undefined);
    return waiting?.length === 0 || undefined;
  });
  return { query, get };
}
