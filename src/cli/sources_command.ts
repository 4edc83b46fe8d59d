import { createReadStream, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { cannotBeRead } from '../config/unreadable_file.js';
import { withoutMark } from '../model/byte_order_mark.js';
import { NS_PER_MS } from '../model/time.js';
import { parseSources, type SourcesResult } from '../sources/parse_sources.js';
import type { SourcesPlan } from '../sources/plan.js';
import { Replay } from '../sources/recording.js';
import type { CommandStreams } from './client_command.js';
import { LineWriter, ownText, shown, writeLine } from './shown_line.js';
import { type SourcesFlags, withSourcesOptions } from './sources_options.js';
import { EXIT_BAD_FILE, SourcesSession, type SourcesTiming } from './sources_session.js';

const DESCRIPTION = `read real markets and decide prices; prints every decision as a JSON line

The command holds no key: "tickseal publish --from FILE" starts it, signs its prices and sends them. On a terminal it shows a \
table of all markets instead of lines.`;

/**
 * Adds `tickseal sources FILE`. The exit status is 2 if the file has errors, including names that are missing from an exchange's
 * list of pairs. The status is 1 if `--check` finds a market that does not count, or if a replay differs.
 */
export function registerSources(
  program: Command,
  streams: CommandStreams = process,
  timing?: SourcesTiming,
): void {
  const command = program
    .command('sources')
    .description(DESCRIPTION)
    .argument('<file>', 'the file of sources')
    .option('--check', 'run for 10 seconds, then say for each market what is wrong', false)
    .addOption(
      new Option('--replay <file>', 'make the decisions of a recording again').conflicts([
        'check',
        'record',
        'metrics',
      ]),
    )
    .addOption(new Option('--end-with-input', 'end with standard input').default(false).hideHelp())
    .option(
      '--speed <n>',
      'replay n times as fast as it was recorded (default: as fast as possible)',
      parseSpeed,
    );
  withSourcesOptions(command).action(async (file: string, flags: SourcesFlags) => {
    const result = readSources(file);
    if (flags.speed !== undefined && flags.replay === undefined) {
      writeLine(streams.stderr, shown`sources: --speed needs --replay`);
      process.exitCode = 1;
    } else if (!result.ok) {
      writeLine(streams.stderr, ownText(result.errors.join('\n')));
      process.exitCode = EXIT_BAD_FILE;
    } else if (flags.replay !== undefined) {
      if (!(await replayRecording(result.plan, flags.replay, flags.speed, streams))) process.exitCode = 1;
    } else {
      const session = openSession(file, result, flags, streams, timing);
      const status = (await session?.run()) ?? 1;
      if (status !== 0) process.exitCode = status;
    }
  });
}

/** Begins a run. Reports a recording that cannot be opened, and returns `undefined`. */
function openSession(...options: ConstructorParameters<typeof SourcesSession>): SourcesSession | undefined {
  const [, , { record }, { stderr }] = options;
  try {
    return new SourcesSession(...options);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    writeLine(stderr, shown`sources: --record: ${record ?? ''} cannot be written (${code ?? message})`);
    return undefined;
  }
}

/** Reads and checks a file of sources. */
export function readSources(file: string): SourcesResult {
  try {
    return parseSources(readFileSync(file, 'utf8'), file);
  } catch (error) {
    return { ok: false, errors: [`${file}: ${cannotBeRead(error)}`] };
  }
}

async function replayRecording(
  plan: SourcesPlan,
  file: string,
  speed: number | undefined,
  { stdout, stderr }: CommandStreams,
): Promise<boolean> {
  const stop = new AbortController();
  const out = new LineWriter(stdout, () => stop.abort());
  const replayed = new Replay(plan, (line) => out.json(line));
  let lastNs: bigint | undefined;
  let unread = 0;
  try {
    for await (const line of wholeLines(file)) {
      if (stop.signal.aborted) break;
      const atNs = replayed.take(line);
      if (atNs === undefined) unread++;
      else if (speed !== undefined && lastNs !== undefined && atNs > lastNs)
        await setTimeout(Number((atNs - lastNs) / NS_PER_MS) / speed, undefined, {
          signal: stop.signal,
        }).catch(() => {});
      lastNs = atNs ?? lastNs;
    }
  } catch (error) {
    writeLine(stderr, shown`sources: --replay: ${file} ${ownText(cannotBeRead(error))}`);
    return false;
  }
  const { same, different, additional } = replayed;
  writeLine(
    stderr,
    shown`sources: ${same} decisions are the same, ${different} differ, ${additional} are additional, ${unread} lines cannot be read`,
  );
  return different === 0 && additional === 0 && unread === 0;
}

/**
 * Reads the lines of a file. Skips a last line without a line end, because a killed process may have written only a part of the
 * line.
 * @throws the system's error when the file cannot be read
 */
async function* wholeLines(file: string): AsyncIterable<string> {
  let begun: string | undefined;
  for await (const text of createReadStream(file, 'utf8')) {
    const lines = (begun === undefined ? withoutMark(text) : begun + text).split('\n');
    begun = lines.pop()!;
    yield* lines;
  }
}

function parseSpeed(text: string): number {
  const speed = Number(text);
  if (!(speed > 0 && speed <= 1_000_000))
    throw new InvalidArgumentError('expected a number above 0, such as 10');
  return speed;
}
