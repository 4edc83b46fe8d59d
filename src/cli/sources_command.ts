import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { scheduleTimeout } from '../client/connect/platform.js';
import { systemClock } from '../clock/clock.js';
import { Recorder } from '../markets/recorder.js';
import { SourceRun } from '../markets/source_run.js';
import { NS_PER_MS } from '../model/time.js';
import { decisionTable, faultLines } from '../sources/decision_table.js';
import { parseSources, type SourcesResult } from '../sources/parse_sources.js';
import type { SourcesPlan } from '../sources/plan.js';
import { Replay } from '../sources/recording.js';
import { type CommandStreams, LineWriter } from './client_command.js';

interface SourcesFlags {
  readonly check: boolean;
  readonly record?: string;
  readonly replay?: string;
  readonly speed?: number;
}

/** The duration of `--check`. */
const CHECK_MS = 10_000;
const TABLE_INTERVAL_MS = 500;
/** The control characters that clear a terminal and begin at its top. */
const CLEAR_SCREEN = '\x1b[H\x1b[2J';
const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const EXIT_BAD_FILE = 2;

const DESCRIPTION = `read real markets and decide prices; prints every decision as a JSON line

The command holds no key: "tickseal publish --from FILE" starts it, signs its prices and sends them. On a terminal it shows a \
table of all markets instead of lines.`;

/** Adds `tickseal sources FILE`. Exit status 2: the file has errors; 1: with `--check` a market does not count, or a replay differs. */
export function registerSources(program: Command, streams: CommandStreams = process): void {
  program
    .command('sources')
    .description(DESCRIPTION)
    .argument('<file>', 'the file of sources')
    .option('--check', 'run for 10 seconds, then say for each market what is wrong', false)
    .option('--record <file>', 'keep all frames and decisions')
    .option('--replay <file>', 'make the decisions of a recording again')
    .option(
      '--speed <n>',
      'replay n times as fast as it was recorded (default: as fast as possible)',
      parseSpeed,
    )
    .action(async (file: string, flags: SourcesFlags) => {
      const result = readSources(file);
      if (!result.ok) {
        streams.stderr.write(`${result.errors.join('\n')}\n`);
        process.exitCode = EXIT_BAD_FILE;
      } else if (flags.replay !== undefined) {
        if (!(await replay(result.plan, flags.replay, flags.speed, streams))) process.exitCode = 1;
      } else if (!(await runSources(result.plan, flags, streams))) process.exitCode = 1;
    });
}

/** Reads and checks a file of sources. */
export function readSources(file: string): SourcesResult {
  try {
    return parseSources(readFileSync(file, 'utf8'), file);
  } catch (error) {
    return { ok: false, errors: [`${file}: cannot be read (${(error as NodeJS.ErrnoException).code})`] };
  }
}

async function runSources(
  plan: SourcesPlan,
  { check, record }: SourcesFlags,
  { stdout, stderr }: CommandStreams,
): Promise<boolean> {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const signal of STOP_SIGNALS) process.once(signal, onSignal);
  const out = new LineWriter(stdout, onSignal);
  const isTable = !check && (stdout as { readonly isTTY?: boolean }).isTTY === true;
  const recorder = record === undefined ? undefined : new Recorder(record);
  const run = new SourceRun({
    plan,
    clock: systemClock(),
    schedule: scheduleTimeout,
    random: Math.random,
    env: process.env,
    write: (line) => {
      if (!check && !isTable) out.write(line);
    },
    warn: (text) => void stderr.write(`sources: ${text}\n`),
    recorder,
  });
  try {
    const opened = run.open();
    if (!check) {
      while (isTable && (await passed(TABLE_INTERVAL_MS, stop.signal)))
        stdout.write(`${CLEAR_SCREEN}${decisionTable(run.decisions(), true)}\n`);
      await until(stop.signal);
      return true;
    }
    await Promise.race([opened, until(stop.signal)]);
    await passed(CHECK_MS, stop.signal);
    const decisions = run.decisions();
    out.write(decisionTable(decisions, false));
    const faults = faultLines(decisions);
    for (const fault of faults) out.write(`wrong: ${fault}`);
    return faults.length === 0;
  } finally {
    for (const signal of STOP_SIGNALS) process.off(signal, onSignal);
    run.close();
    recorder?.close();
  }
}

async function replay(
  plan: SourcesPlan,
  file: string,
  speed: number | undefined,
  { stdout, stderr }: CommandStreams,
): Promise<boolean> {
  const stop = new AbortController();
  const out = new LineWriter(stdout, () => stop.abort());
  const replayed = new Replay(plan, (line) => out.write(line));
  let lastNs: bigint | undefined;
  let unread = 0;
  for await (const line of createInterface({
    input: createReadStream(file),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    if (stop.signal.aborted) break;
    const atNs = replayed.take(line);
    if (atNs === undefined) unread++;
    else if (speed !== undefined && lastNs !== undefined && atNs > lastNs)
      await passed(Number((atNs - lastNs) / NS_PER_MS) / speed, stop.signal);
    lastNs = atNs ?? lastNs;
  }
  const { same, different, additional } = replayed;
  stderr.write(
    `sources: ${same} decisions are the same, ${different} differ, ${additional} are additional, ${unread} lines cannot be read\n`,
  );
  return different === 0 && additional === 0 && unread === 0;
}

/** Resolves after a time with `true`, or at the signal with `false`. */
async function passed(ms: number, signal: AbortSignal): Promise<boolean> {
  await setTimeout(ms, undefined, { signal }).catch(() => {});
  return !signal.aborted;
}

async function until(signal: AbortSignal): Promise<void> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

function parseSpeed(text: string): number {
  const speed = Number(text);
  if (!(speed > 0 && speed <= 1_000_000))
    throw new InvalidArgumentError('expected a number above 0, such as 10');
  return speed;
}
