import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The distribution of the CPU time of the service's main thread under one load. */
export interface LoadProfile {
  readonly load: string;
  readonly commit: string;
  /** The machine and its load average at the end of the profile; absent in an older profile. */
  readonly machine?: string;
  /** The functions with the largest self time. */
  readonly functions: readonly ProfiledFunction[];
}

export interface ProfiledFunction {
  readonly name: string;
  /** The file and line; empty for a function that is part of V8. */
  readonly place: string;
  /** The share of the busy time, from 0 to 1. */
  readonly part: number;
}

const FUNCTIONS_SHOWN = 14;
/** The names of idle time: those of V8, and the wait of piscina's threads for a task. */
const IDLE = new Set(['(idle)', '(root)', 'atomicsWaitLoop']);
/** V8's name for native code that has no function name, and the meaning of this name in the tables. */
const NATIVE = '(program)';
const NATIVE_MEANING = 'native code, most of it reading and writing sockets';
/** The length of the start-up, in which the service loads its modules and fills its tables. */
const START_MICROS = 1_500_000;

/** The used fields of a V8 CPU profile. */
interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/**
 * Adds up the self times in the `.cpuprofile` files of a folder, without the starts of the processes. Each process has one
 * file.
 */
export function sumUpProfiles(dir: string): ProfiledFunction[] {
  const micros = new Map<string, number>();
  let busyMicros = 0;
  for (const file of readdirSync(dir).filter((name) => name.endsWith('.cpuprofile'))) {
    const profile = JSON.parse(readFileSync(join(dir, file), 'utf8')) as CpuProfile;
    const keyById = new Map(profile.nodes.map(({ id, callFrame }) => [id, keyOf(callFrame)]));
    let elapsedMicros = 0;
    profile.samples.forEach((id, i) => {
      elapsedMicros += profile.timeDeltas[i]!;
      if (elapsedMicros < START_MICROS) return;
      const key = keyById.get(id)!;
      if (IDLE.has(key.split(SEPARATOR)[0]!)) return;
      micros.set(key, (micros.get(key) ?? 0) + profile.timeDeltas[i]!);
      busyMicros += profile.timeDeltas[i]!;
    });
  }
  return [...micros]
    .sort(([, a], [, b]) => b - a)
    .slice(0, FUNCTIONS_SHOWN)
    .map(([key, time]) => {
      const [name = '', place = ''] = key.split(SEPARATOR);
      return { name, place, part: time / busyMicros };
    });
}

/** Returns the anchor of a profile's heading, as GitHub makes it. */
export function anchorOf({ load, commit }: LoadProfile): string {
  return `${load}-${commit.replace('+', '')}`;
}

/** Returns the section of the results page about profiles, with the command that records the profiles. */
export function profileMarkdown(profiles: readonly LoadProfile[]): string[] {
  return [
    '## Profiles',
    '',
    'Of the hottest loads, self time by function on the main thread of the service, after its start (`npm run bench --',
    '--profile`). Signatures that the worker threads check and make are not in it: they run libsecp256k1 and little else.',
    'To look closer, start the service of any row with options for Node and open the files in the developer tools of a',
    'browser:',
    '',
    '    npm run build',
    '    BENCH_SERVICE_NODE_OPTIONS="--cpu-prof --cpu-prof-dir=/tmp/profiles" node dist/bench/round.js fan-out service full',
    '',
    ...profiles.flatMap(({ load, commit, machine, functions }) => [
      `### ${load} (${commit})`,
      '',
      ...(machine === undefined ? [] : [`${machine}.`, '']),
      '| Self time | Function | Place |',
      '|--:|---|---|',
      ...functions.map(
        ({ name, place, part }) => `| ${(part * 100).toFixed(1)} % | \`${name}\` | ${place} |`,
      ),
      '',
    ]),
  ];
}

const SEPARATOR = '\n';
const BUNDLE = '/dist/src/bundle/';
/** The comment with which esbuild begins each module in a bundle. */
const MODULE_HEAD = /^\/\/ ((?:src|node_modules)\/.*)$/;

/** Returns the module of a line of a bundle, because the names of bundles say nothing to readers; `undefined` if it is unknown. */
function moduleOf(file: string, lineNumber: number): string | undefined {
  let lines = bundles.get(file);
  if (lines === undefined) {
    lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    bundles.set(file, lines);
  }
  const head = lines.slice(0, lineNumber + 1).findLast((line) => MODULE_HEAD.test(line));
  return head && MODULE_HEAD.exec(head)?.[1];
}

/** The lines of each bundle that a profile names. */
const bundles = new Map<string, readonly string[]>();

function keyOf({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  const place = /(?:\/dist\/|\/node_modules\/|^node:)(.*)$/.exec(url)?.[1];
  const inBundle = url.includes(BUNDLE) ? moduleOf(fileURLToPath(url), lineNumber) : undefined;
  if (inBundle !== undefined) return `${functionName || '(anonymous)'}${SEPARATOR}${inBundle}`;
  if (functionName === NATIVE) return `${NATIVE}${SEPARATOR}${NATIVE_MEANING}`;
  return `${functionName || '(anonymous)'}${SEPARATOR}${place === undefined ? '' : `${place}:${lineNumber + 1}`}`;
}
