import { dirname, resolve } from 'node:path';
import type { Config } from '../config/config.js';
import type { Problem } from '../config/document.js';
import { type LoadedConfig, type LoadResult, loadConfig } from '../config/load.js';
import { loadKeys, type PrivateKeys, readSecret } from '../config/private_keys.js';
import { dataFolderProblem } from '../log/store/data_folder.js';
import { machineProblem, thisMachine, UWS_SHA256_VARIABLE } from '../server/uws/machine.js';
import { hostProblem } from '../server/uws/port_claim.js';
import { deletionWarnings } from '../service/deleted_data.js';
import { idProblems } from '../service/known_ids.js';
import { unannouncedKeyWarnings } from './planned_keys.js';

/** A configuration with its keys, or all errors of the configuration, one line each. */
export type Configured =
  | (LoadedConfig & {
      readonly keys: PrivateKeys;
      /** The text of the file that `cluster.credentials` names. */
      readonly natsCredentials: string | undefined;
    })
  | { readonly ok: false; readonly errors: readonly string[] };

/** Reads a configuration file and its keys for a reload. */
export function readConfigured(file: string): Configured {
  return withKeys(file, loadConfig(file));
}

/**
 * Reads a configuration file and its keys for a start. Unlike a reload, a start needs a usable data folder, and reads
 * its list of streaming IDs.
 */
export function readForStart(file: string): Configured {
  const loaded = loadConfig(file);
  if (loaded.ok) {
    const { dir } = loaded.config.storage;
    const problem = dataFolderProblem(dir);
    const message = `the data folder ${dir} cannot be used: ${problem}`;
    const problems =
      problem === undefined ? idProblems(loaded.config) : [{ path: ['storage', 'dir'], message }];
    if (problems.length > 0) return { ok: false, errors: loaded.describe(problems) };
  }
  return withKeys(file, loaded);
}

/** Returns the errors of a damaged data folder. A start of the service checks the records only when it opens the folder. */
export async function damageOf(file: string, { storage }: Config): Promise<readonly string[]> {
  const { findFolderDamage } = await import('../log/store/contents.js');
  const { checkPastOf } = await import('./past_of_folder.js');
  const message = await findFolderDamage(storage.dir, checkPastOf);
  const loaded = loadConfig(file);
  if (message === undefined || !loaded.ok) return [];
  return loaded.describe([{ path: ['storage', 'dir'], message }]);
}

/**
 * Returns the reason why the service cannot run on this machine, in one sentence. This check runs before the program loads a
 * native add-on.
 */
export function startProblem(): string | undefined {
  return machineProblem(thisMachine(), Boolean(process.env[UWS_SHA256_VARIABLE]));
}

/** Finds the configured hosts on which this machine cannot listen. Ignores the ports, because a running service may use them. */
export async function hostProblems({ listen, admin }: Config): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const [section, { host }] of Object.entries({ listen, admin })) {
    const message = await hostProblem(host);
    if (message !== undefined) problems.push({ path: [section, 'host'], message });
  }
  return problems;
}

function withKeys(file: string, loaded: LoadResult): Configured {
  if (!loaded.ok) return loaded;
  const { config, warnings } = loaded;
  const baseDir = dirname(resolve(file));
  const read = loadKeys(config, baseDir, process.env);
  const source = config.cluster?.credentials;
  const secret = source && readSecret(['cluster', 'credentials'], source, baseDir, process.env);
  const errors = [...(read.ok ? [] : read.errors), ...(secret && 'message' in secret ? [secret] : [])];
  if (!read.ok || errors.length > 0) return { ok: false, errors: loaded.describe(errors) };
  const natsCredentials = secret && 'text' in secret ? secret.text : undefined;
  const planned = loaded.describe([
    ...unannouncedKeyWarnings(config, read.keys, Math.floor(Date.now() / 1000)),
    ...deletionWarnings(config, Date.now()),
  ]);
  return {
    ok: true,
    config,
    keys: read.keys,
    natsCredentials,
    warnings: [...warnings, ...planned],
    describe: loaded.describe,
  };
}
