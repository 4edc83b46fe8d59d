import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { withAnnouncements } from './announced_chain.js';
import { type Config, toConfig } from './config.js';
import { type ConfigDocument, type Problem, readDocument } from './document.js';
import { changeableByOthers, dataFolderRights } from './file_rights.js';
import { notYetInForce } from './key_times.js';
import { namedFileProblems, namedFileWarnings, policyProblems, withAbsolutePaths } from './named_files.js';
import { type Environment, loadKeys } from './private_keys.js';
import type { ReadableFile } from './readable_file.js';
import { referenceProblems } from './references.js';
import { fileSchema } from './schema.js';
import { schemaProblems, unlessKnown } from './schema_problems.js';
import { cannotBeRead, withCure } from './unreadable_file.js';
import { configWarnings } from './warnings.js';

/** A valid configuration file. */
export interface LoadedConfig {
  readonly ok: true;
  readonly config: Config;
  /** The probable mistakes, one line each, in the form of errors. */
  readonly warnings: readonly string[];
  /** Returns one line for each problem that appears only when the configuration is used. */
  describe(problems: readonly Problem[]): string[];
}

export type LoadResult =
  | LoadedConfig
  /** All errors of the file, one line each, in the order of the file: `config.yaml:12:5 assets[0].id: …`. */
  | { readonly ok: false; readonly errors: string[] };

const NO_CONFIG = 'check the path, or make one with tickseal init';

/** Checks the text of a configuration file. Paths in the result stay as written. Errors begin with `fileName`. */
export function parseConfig(text: string, fileName: string): LoadResult {
  return checkDocument(readDocument(text, fileName), text);
}

/**
 * Reads and checks a configuration file and all files and variables that it names. The keys must load, and TLS must be able to start.
 * Relative paths start at the file's folder. All paths in the result are absolute.
 */
export function loadConfig(file: string, env: Environment = process.env): LoadResult {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return { ok: false, errors: [withCure(`${file}: ${cannotBeRead(error)}`, NO_CONFIG)] };
  }
  const rights = changeableByOthers(file);
  if (rights !== undefined) return { ok: false, errors: [`${file}: ${rights}`] };
  const document = readDocument(text, file);
  const result = checkDocument(document, text);
  if (!result.ok) return result;
  const baseDir = resolve(dirname(file));
  const announced = withAnnouncements(withAbsolutePaths(result.config, baseDir));
  const { config } = announced;
  const keys = loadKeys(config, baseDir, env);
  const problems = [
    ...(keys.ok ? [] : keys.errors),
    ...notYetInForce(config, Date.now()),
    ...announced.problems,
    ...namedFileProblems(config, env),
    ...policyProblems(config, keys.ok ? keys.keys : {}),
    ...dataFolderRights(config),
  ];
  if (problems.length > 0) return { ok: false, errors: document.describe(problems) };
  const ofFiles = document.describe(namedFileWarnings(config, Date.now()));
  return { ...result, config, warnings: [...result.warnings, ...ofFiles] };
}

function checkDocument(document: ConfigDocument, text: string): LoadResult {
  const problems = [...document.problems];
  if (document.value === undefined) return { ok: false, errors: document.describe(problems) };
  const parsed = fileSchema.safeParse(document.value, { jitless: true });
  if (!parsed.success)
    problems.push(
      ...unlessKnown(schemaProblems(parsed.error.issues, document, fileSchema), problems, document),
    );
  const readable = parsed.success ? parsed.data : readableParts(document.value);
  problems.push(...unlessKnown(referenceProblems(readable), problems, document));
  if (!parsed.success || problems.length > 0) return { ok: false, errors: document.describe(problems) };
  const warnings = document.describe(configWarnings(parsed.data));
  const fileSha256 = createHash('sha256').update(text).digest('hex');
  return { ok: true, config: toConfig(parsed.data, fileSha256), warnings, describe: document.describe };
}

/** Returns the valid parts of an invalid file, so that further checks can report all errors in one run. */
function readableParts(value: unknown): ReadableFile {
  const { shape } = fileSchema;
  const file = asRecord(value);
  return {
    service: readableKeys(shape.service.unwrap(), file['service']),
    listen: readableKeys(shape.listen.unwrap(), file['listen']),
    admin: readableKeys(shape.admin.unwrap(), file['admin']),
    keys: readableKeys(shape.keys.unwrap(), file['keys']),
    tokens: asArray(file['tokens']).map((item) => readableKeys(shape.tokens.unwrap().element, item)),
    assets: asArray(file['assets']).map((item) => readableKeys(shape.assets.unwrap().element, item)),
    aggregation: readableKeys(shape.aggregation.unwrap(), file['aggregation']),
    publishers: asArray(file['publishers']).map((item) =>
      readableKeys(shape.publishers.unwrap().element, item),
    ),
    deployments: asArray(file['deployments']).map((item) =>
      readableKeys(shape.deployments.unwrap().element, item),
    ),
    ingest: readableKeys(shape.ingest.unwrap(), file['ingest']),
    log: readableKeys(shape.log.unwrap(), file['log']),
    cluster:
      file['cluster'] === undefined ? undefined : readableKeys(shape.cluster.unwrap(), file['cluster']),
    pushed_assets: z.safeParse(shape.pushed_assets, file['pushed_assets']).data ?? {},
    calendars: Object.fromEntries(
      Object.entries(asRecord(file['calendars'])).map(([name, definition]) => [
        name,
        shape.calendars.unwrap().valueType.safeParse(definition).data,
      ]),
    ),
  };
}

function readableKeys<S extends z.ZodObject>(schema: S, value: unknown): Partial<z.output<S>> {
  const record = asRecord(value);
  return Object.fromEntries(
    Object.entries(schema.shape).map(([key, field]) => [key, z.safeParse(field, record[key]).data]),
  ) as Partial<z.output<S>>;
}

function asRecord(value: unknown): Record<string | number, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string | number, unknown>) : {};
}

function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
