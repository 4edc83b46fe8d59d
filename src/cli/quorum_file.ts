import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { readServiceUrl } from '../client/connect/service_url.js';
import { createClient } from '../client/node_index.js';
import {
  OPERATORS_MAX,
  OPERATORS_MIN,
  type QuorumOperator,
  type QuorumOptions,
  SPREAD_PERCENT_MAX,
  THRESHOLD_MIN,
} from '../client/quorum/quorum_options.js';
import { keyFault } from '../client/verify/key_form.js';
import { type Problem, readDocument } from '../config/document.js';
import type { KeySource } from '../config/key_source.js';
import { type Environment, readSecret } from '../config/private_keys.js';
import { schemaProblems, unlessKnown } from '../config/schema_problems.js';
import { durationNs, keySource, line } from '../config/schema_values.js';
import { cannotBeRead } from '../config/unreadable_file.js';
import { NS_PER_MS } from '../model/time.js';

export type QuorumFile =
  | { readonly ok: true; readonly quorum: QuorumOptions }
  /** All errors of the file, one line each: `quorum.yaml:3:5 operators[0].urls: …`. */
  | { readonly ok: false; readonly errors: readonly string[] };

const URLS_MAX = 8;
const SIGNERS_MAX = 64;

const operator = z.strictObject({
  name: line.max(64),
  urls: z
    .array(
      z
        .string()
        .refine(
          (text) => readServiceUrl(text, 'http') !== undefined,
          'expected an address such as https://prices.example.com',
        ),
    )
    .min(1)
    .max(URLS_MAX),
  signers: z
    .array(
      z.string().check((context) => {
        const fault = keyFault(context.value);
        if (fault !== undefined)
          context.issues.push({ code: 'custom', message: `expected a key: ${fault}`, input: context.value });
      }),
    )
    .min(1)
    .max(SIGNERS_MAX),
  token: keySource.optional(),
});

const schema = z.strictObject({
  threshold: z.int().min(THRESHOLD_MIN).max(OPERATORS_MAX).optional(),
  max_spread_percent: z.number().min(0).max(SPREAD_PERCENT_MAX).optional(),
  max_age: durationNs({ minNs: NS_PER_MS, maxNs: 86_400_000n * NS_PER_MS, stepNs: NS_PER_MS }).optional(),
  operators: z.array(operator).min(OPERATORS_MIN).max(OPERATORS_MAX),
});

/** Reads and checks a file of operators. The file names the files and variables that contain the tokens. */
export function readQuorumFile(file: string, env: Environment): QuorumFile {
  try {
    return parseQuorumFile(readFileSync(file, 'utf8'), file, env);
  } catch (error) {
    return { ok: false, errors: [`${file}: ${cannotBeRead(error)}`] };
  }
}

function parseQuorumFile(text: string, file: string, env: Environment): QuorumFile {
  const document = readDocument(text, file);
  const fail = (problems: readonly Problem[]) =>
    ({ ok: false, errors: document.describe(problems) }) as const;
  if (document.value === undefined) return fail(document.problems);
  const parsed = schema.safeParse(document.value);
  const found = parsed.success ? [] : schemaProblems(parsed.error.issues, document, schema);
  const problems = [...document.problems, ...unlessKnown(found, document.problems, document)];
  if (!parsed.success || problems.length > 0) return fail(problems);
  const { threshold, max_spread_percent, max_age, operators } = parsed.data;
  const withTokens: QuorumOperator[] = [];
  for (const [i, { token, ...fields }] of operators.entries()) {
    const path = ['operators', i, 'token'];
    const read = token === undefined ? undefined : readSecret(path, sourceOf(token), dirname(file), env);
    if (read !== undefined && 'message' in read) problems.push(read);
    else withTokens.push({ ...fields, token: read?.text.trim() });
  }
  if (problems.length > 0) return fail(problems);
  const quorum: QuorumOptions = {
    operators: withTokens,
    threshold,
    maxSpreadPercent: max_spread_percent,
    maxAgeMs: max_age === undefined ? undefined : Number(max_age / NS_PER_MS),
  };
  try {
    // The client rejects operators that share a key or address.
    createClient({ quorum });
  } catch (error) {
    return fail([problemOf(error as Error)]);
  }
  return { ok: true, quorum };
}

function sourceOf({ file, env }: z.infer<typeof keySource>): KeySource {
  return file === undefined ? { env: env! } : { file };
}

/** Returns the place in the file to which the client's message refers, and the rest of the message. */
function problemOf({ message }: Error): Problem {
  const [, key = '', index, name, rest = ''] =
    /^quorum\.(\w+)(?:\[(\d+)\](?:\.(\w+))?)?:? (.*)$/s.exec(message) ?? [];
  const path = [key, ...(index === undefined ? [] : [Number(index)]), ...(name === undefined ? [] : [name])];
  return { path, message: rest.replaceAll('quorum.', '') };
}
