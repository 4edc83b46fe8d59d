import { readFileSync, writeFileSync } from 'node:fs';
import { type LoadConfig, writeConfig } from '../load/config.js';
import { fetchOnce } from '../load/fetch_body.js';
import type { ServerProcess } from '../load/server_process.js';
import { eventually } from '../load/wait.js';

/** The parts of a configuration file that checks change. */
export interface ConfigFile {
  tokens: Record<string, unknown>[];
  assets: Record<string, unknown>[];
  listen: Record<string, unknown>;
  keys: Record<string, unknown>;
  limits: Record<string, unknown>;
  storage: { dir: string };
}

/**
 * Writes the configuration of a load run. Unlike in load runs, the service limits the connections of this machine, and has its default
 * limits unless `limits` changes them.
 */
export function writeTortureConfig(
  load: Partial<LoadConfig> & Pick<LoadConfig, 'assets'>,
  limits: Readonly<Record<string, unknown>> = {},
): { readonly file: string; readonly storageDir: string } {
  const config = writeConfig({ signatureType: 'evm', publishers: 1, ...load });
  changeConfig(config.file, (now) => {
    now.listen.trusted_proxies = [];
    // The limits are high, because the clients of load runs do not answer pings.
    now.limits = {
      connections_per_address: 10_000,
      connections_per_token: 10_000,
      publish_connections_per_token: 10_000,
      idle_timeout: '960s',
      ...limits,
    };
  });
  return config;
}

export function changeConfig(file: string, change: (config: ConfigFile) => void): void {
  const config = JSON.parse(readFileSync(file, 'utf8')) as ConfigFile;
  change(config);
  writeFileSync(file, JSON.stringify(config));
}

/** Returns the status and the body of `/readyz`. */
export async function readiness({ adminPort }: ServerProcess): Promise<{ status: number; reason: string }> {
  const response = await fetchOnce(`http://127.0.0.1:${adminPort}/readyz`);
  return { status: response.status, reason: await response.text() };
}

/**
 * Waits for a condition.
 * @throws Error with `what` in its message, when the condition does not become true in time
 */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  withinMs?: number,
): Promise<void> {
  await eventually(isSo, withinMs === undefined ? { what } : { what, withinMs });
}
