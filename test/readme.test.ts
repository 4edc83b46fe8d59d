import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { test } from 'tap';
import { parse } from 'yaml';
import { z } from 'zod';
import { HANG_MS } from '../scripts/load/wait.js';
import { parseConfig } from '../src/config/load.js';
import { fileSchema } from '../src/config/schema.js';
import { createCounters } from '../src/metrics/counters.js';
import { createMetrics } from '../src/metrics/metrics.js';
import { createRoutes } from '../src/server/routes/index.js';

// The README is true at every line that a machine can check.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

test('the tour does what it says', async (t) => {
  const steps = [...section('Tour').matchAll(/```sh tour\n([\s\S]*?)```(?:\n```text\n([\s\S]*?)```)?/g)];
  t.ok(steps.length > 8, 'the tour has steps');
  const [port, adminPort] = await freePorts();
  const script = steps
    .map(([, commands], i) => `${commands}echo ${mark(i)}\n`)
    .join('')
    .replaceAll('$PWD/dist', `${ROOT}dist`)
    .replaceAll('8081', String(port))
    .replaceAll('9091', String(adminPort));
  const outputs = (await runShell(`${PREPARATION}\n${script}`)).split(/^step \d+ ends\n/m);
  for (const [i, [, commands = '', expected = '']] of steps.entries()) {
    t.match(outputs[i] ?? '', shapeOf(expected), commands.trim());
  }
});

test('the annotated configuration has every key, with its default', async (t) => {
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(section('Configuration')) ?? [];
  const config = parseConfig(yaml, 'README.md');
  t.same(config.ok ? [] : config.errors, []);

  const keys = keysOf(
    z.toJSONSchema(fileSchema, { io: 'input', unrepresentable: 'any' }) as Schema,
    parse(yaml),
  );
  const missing = keys.filter(({ shown }) => shown === undefined).map(({ path }) => path);
  t.same(
    missing,
    ['keys.evm.env', 'keys.stark.file'],
    'a key comes from one of two places, and each is shown once',
  );
  for (const { path, shown, fallback } of keys) {
    if (fallback !== undefined && !isEmpty(fallback)) t.same(shown, fallback, `default of ${path}`);
  }
});

test('the list of metrics is whole', async (t) => {
  const written = await createMetrics(createCounters(), {
    pool: { queued: 0, failures: 0 },
    pipeline: { updatesWaiting: 0 },
    stream: { groupCount: 0 },
    store: { health: () => ({ ok: true }), recordsWaiting: 0 },
    table: { live: new Uint8Array() },
    server: () => ({
      sockets: { size: 0, streams: 0 },
      threads: 0,
      waiting: { frameBytes: 0, eventBytes: 0 },
    }),
  })();
  const names = (source: string, pattern: RegExp) =>
    [...source.matchAll(pattern)].map(([, name]) => name).sort();
  t.same(names(section('Metrics'), /^\| `(tickseal_\w+)`/gm), names(written, /^# HELP (tickseal_\w+)/gm));
});

test('the REST paths are those of the service', async (t) => {
  const options = { serviceName: 'service', listed: [], deployments: [], pushedAssets: {} };
  // The routes are only listed, not asked, so what they would answer from may be missing.
  const paths = [...createRoutes(options as unknown as Parameters<typeof createRoutes>[0]).keys()];
  const rows = section('Wire formats').match(/^\| `\/.*$/gm) ?? [];
  const listed = rows.flatMap((row) => row.split(' | ')[0]!.match(/\/[\w./]+/g) ?? []);
  t.same(listed.sort(), paths.sort());
});

test('the commands are those of the program', async (t) => {
  const help = await runShell(`node ${ROOT}dist/src/cli/main.js --help`);
  const real = [...help.matchAll(/^ {2}([a-z][a-z-]+) /gm)].map(([, name]) => name);
  const listed = [...section('Commands').matchAll(/^\| `([a-z-]+)/gm)].map(([, name]) => name);
  t.same([...new Set(listed)].sort(), real.filter((name) => name !== 'help').sort());
});

/** Aliases work in scripts too, and the runner's loaders stay out of some twenty short processes. */
const PREPARATION = 'shopt -s expand_aliases; unset NODE_OPTIONS NODE_V8_COVERAGE';

function section(title: string): string {
  const [, body] = new RegExp(`\\n## ${title}\\n([\\s\\S]*?)(?=\\n## |$)`).exec(readme) ?? [];
  if (body === undefined) throw new Error(`the README has no section ${title}`);
  return body;
}

function mark(step: number): string {
  return `step ${step} ends`;
}

/** Runs the text as a bash script in an empty folder; what it left running is ended. */
async function runShell(script: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tickseal-readme-'));
  const shell = spawn('bash', ['-c', script], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const timer = setTimeout(() => process.kill(-shell.pid!, 'SIGKILL'), HANG_MS);
  try {
    return await text(shell.stdout);
  } finally {
    clearTimeout(timer);
    try {
      process.kill(-shell.pid!, 'SIGKILL');
    } catch {
      // The whole group is gone already.
    }
    rmSync(folder, { recursive: true });
  }
}

/** Two ports that were free a moment ago. */
async function freePorts(): Promise<number[]> {
  const servers = [createServer(), createServer()];
  const ports = servers.map(
    (server) =>
      new Promise<number>((resolve) => {
        server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
      }),
  );
  const found = await Promise.all(ports);
  for (const server of servers) server.close();
  return found;
}

/** What differs from run to run, or is cut short: hex, words before `…`, `…` itself, long numbers, trace IDs. */
const VARYING = /(0x\w*…?|[\w-]{10,}…|…|\b\d{12,}\b|"trace_id":"[^"]*")/;

/** A pattern for an output as the README shows it; a line of `…` stands for any lines. */
function shapeOf(output: string): RegExp {
  const lines = output.split('\n').map((line) => {
    if (line === '…') return '[\\s\\S]*';
    // Splitting by a group puts what it matches at the odd places.
    return line
      .split(VARYING)
      .map((part, i) => (i % 2 === 1 ? '.+' : part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')))
      .join('');
  });
  return new RegExp(`^${lines.join('\n')}$`);
}

/** As much of JSON Schema as the configuration's schema needs. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly default?: unknown;
}

interface Key {
  readonly path: string;
  readonly fallback: unknown;
  readonly shown: unknown;
}

/** Every key of the schema, with its default and with what the first such place of `value` has. */
function keysOf(schema: Schema, value: unknown, path = ''): Key[] {
  const inside = (value ?? {}) as Readonly<Record<string, unknown>>;
  const keys = Object.entries(schema.properties ?? {}).flatMap(([name, inner]): Key[] => [
    { path: path + name, fallback: inner.default, shown: inside[name] },
    ...keysOf(inner, inside[name], `${path}${name}.`),
  ]);
  const [[name, first] = ['*', undefined]] = Object.entries(inside);
  if (schema.items) keys.push(...keysOf(schema.items, first, `${path}${name}.`));
  if (typeof schema.additionalProperties === 'object')
    keys.push(...keysOf(schema.additionalProperties, first, `${path}${name}.`));
  return keys;
}

function isEmpty(fallback: unknown): boolean {
  return typeof fallback === 'object' && fallback !== null && Object.keys(fallback).length === 0;
}
