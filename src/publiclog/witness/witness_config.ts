import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { type Problem, readDocument } from '../../config/document.js';
import { type Environment, readSecret } from '../../config/private_keys.js';
import { schemaProblems, unlessKnown } from '../../config/schema_problems.js';
import { addressBlocks, count, host, keySource, line } from '../../config/schema_values.js';
import { cannotBeRead } from '../../config/unreadable_file.js';
import { Ed25519Key } from '../../tlog/ed25519_key.js';
import { isKeyName } from '../../tlog/signed_note.js';
import { TlogError } from '../../tlog/tlog_error.js';
import { KEY_TYPES, parseVerifierKey, type VerifierKey } from '../../tlog/verifier_key.js';
import type { WatchedLog } from './witness.js';

const LOGS_MAX = 10_000;
const KEYS_MAX = 16;
/** The default number of requests a day: one checkpoint per second, as in the public witness network. */
const REQUESTS_PER_DAY = 86_400;

const verifierKey = line.transform((text, context): VerifierKey => {
  try {
    const key = parseVerifierKey(text);
    if (key.type === KEY_TYPES.signature) return key;
    context.addIssue(`the key of ${key.name} is a witness's, expected a log's of type 1`);
  } catch (error) {
    context.addIssue(error instanceof TlogError ? error.message : 'expected a verifier key');
  }
  return z.NEVER;
});

const log = z.strictObject({
  vkeys: z.array(verifierKey).min(1).max(KEYS_MAX),
  origin: line.optional(),
  qpd: count(REQUESTS_PER_DAY),
});

const port = z.int().min(0).max(65_535);
const prefix = z
  .string()
  .regex(/^(?:\/[\w.~-]{1,64}){0,8}$/, 'expected a path such as /witness, without a slash at the end')
  .prefault('');

const witnessSchema = z.strictObject({
  name: line.refine(isKeyName, 'expected a name without spaces and +, such as witness.example.com'),
  key: keySource,
  folder: line,
  listen: z
    .strictObject({
      host: host.prefault('127.0.0.1'),
      port: port.prefault(7_380),
      submission_prefix: prefix,
      monitoring_prefix: prefix,
      trusted_proxies: addressBlocks,
    })
    .prefault({}),
  admin: z.strictObject({ host: host.prefault('127.0.0.1'), port: port.prefault(9_092) }).prefault({}),
  logs: z.array(log).min(1).max(LOGS_MAX),
  limits: z
    .strictObject({
      requests_per_second: count(20),
      connections: count(256, 10_000),
      connections_per_address: count(32, 10_000),
    })
    .prefault({}),
});

/** The configuration of a witness. */
export interface WitnessConfig {
  readonly name: string;
  readonly key: Ed25519Key;
  readonly folder: string;
  readonly listen: z.output<typeof witnessSchema>['listen'];
  readonly admin: z.output<typeof witnessSchema>['admin'];
  readonly logs: readonly WatchedLog[];
  readonly limits: z.output<typeof witnessSchema>['limits'];
}

export type WitnessConfigResult =
  | { readonly ok: true; readonly config: WitnessConfig }
  /** All errors of the file, one line each: `witness.yaml:12:5 logs[0].vkeys[0]: …`. */
  | { readonly ok: false; readonly errors: readonly string[] };

/** Reads the configuration file of a witness, and its key. Relative paths start at the folder of the file. */
export function loadWitnessConfig(file: string, env: Environment): WitnessConfigResult {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return { ok: false, errors: [`${file}: ${cannotBeRead(error)}`] };
  }
  const document = readDocument(text, file);
  const problems = [...document.problems];
  const refused = () => ({ ok: false, errors: document.describe(problems) }) as const;
  if (document.value === undefined) return refused();
  const parsed = witnessSchema.safeParse(document.value);
  const found = parsed.success
    ? repeatedLogs(parsed.data.logs)
    : schemaProblems(parsed.error.issues, document, witnessSchema);
  problems.push(...unlessKnown(found, problems, document));
  if (!parsed.success || problems.length > 0) return refused();
  const { name, key: source, folder, listen, admin, logs, limits } = parsed.data;
  const baseDir = dirname(resolve(file));
  const read = readSecret(
    ['key'],
    source.file === undefined ? { env: source.env! } : { file: source.file },
    baseDir,
    env,
  );
  const key = 'message' in read ? read : (parseSeed(read.text) ?? { path: read.path, message: NO_SEED });
  if (!(key instanceof Ed25519Key)) {
    problems.push(key);
    return refused();
  }
  const watched = logs.map((one) => ({
    origin: originOf(one),
    keys: one.vkeys,
    requestsPerDay: one.qpd,
  }));
  return {
    ok: true,
    config: { name, key, folder: resolve(baseDir, folder), listen, admin, logs: watched, limits },
  };
}

const NO_SEED = 'holds no Ed25519 key: expected 32 bytes of hex';

/** Reads a private key from hex digits with or without `0x`. */
function parseSeed(text: string): Ed25519Key | undefined {
  const [, digits] = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text.trim()) ?? [];
  return digits === undefined ? undefined : new Ed25519Key(Buffer.from(digits, 'hex'));
}

/** Returns the origin of a log: by default the name of its first key. */
function originOf({ origin, vkeys }: z.output<typeof log>): string {
  return origin ?? vkeys[0]!.name;
}

function repeatedLogs(logs: readonly z.output<typeof log>[]): Problem[] {
  const seen = new Set<string>();
  return logs.flatMap((one, i) => {
    const origin = originOf(one);
    const isRepeated = seen.has(origin);
    seen.add(origin);
    return isRepeated ? [{ path: ['logs', i], message: `the origin ${origin} is there already` }] : [];
  });
}
