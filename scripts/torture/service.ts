import { readFileSync, writeFileSync } from 'node:fs';
import { type LoadCatalogue, writeConfig } from '../../bench/load/catalogue.js';
import type { ServerProcess } from '../../bench/load/server_process.js';
import { pause } from '../../bench/load/streams.js';

/** The sections of a configuration file that checks change. */
export interface ConfigFile {
  tokens: Record<string, unknown>[];
  assets: Record<string, unknown>[];
  listen: Record<string, unknown>;
  limits: Record<string, unknown>;
  storage: { dir: string };
}

/** Writes the configuration of a load run, with the limits that the service has by default unless given. */
export function writeTortureConfig(
  catalogue: Partial<LoadCatalogue> & Pick<LoadCatalogue, 'assets'>,
  limits: Readonly<Record<string, unknown>> = {},
): { readonly file: string; readonly storageDir: string } {
  const config = writeConfig({ signatureType: 'evm', publishers: 1, ...catalogue });
  changeConfig(config.file, (now) => {
    // The client of load runs answers no pings.
    now.limits = { connections_per_token: 10_000, idle_timeout: '960s', ...limits };
  });
  return config;
}

export function changeConfig(file: string, change: (config: ConfigFile) => void): void {
  const config = JSON.parse(readFileSync(file, 'utf8')) as ConfigFile;
  change(config);
  writeFileSync(file, JSON.stringify(config));
}

/** What `/readyz` answers, and its body. */
export async function readiness({ adminPort }: ServerProcess): Promise<{ status: number; reason: string }> {
  const response = await fetch(`http://127.0.0.1:${adminPort}/readyz`);
  return { status: response.status, reason: await response.text() };
}

/** Looks every so often until it is so. @throws Error when it is not by then. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  deadlineMs = 20_000,
): Promise<void> {
  const endMs = performance.now() + deadlineMs;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await pause(LOOK_MS);
  }
}

const LOOK_MS = 20;
