import { extname } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDurationNs } from '../config/quantity.js';
import { fitsDecimal, type PriceType } from '../log/records/parquet_rows.js';
import { ROW_FORMATS, type RowFormat } from '../log/records/row_writer.js';
import { NS_PER_MS } from '../model/time.js';
import { type CommandStreams, EXIT_NOT_VERIFIED, notVerified } from './client_command.js';
import { exportWriter } from './exported_rows.js';
import { parseInstant } from './instant_option.js';
import { OutputFile } from './output_file.js';
import { openPast, type PastCommandOptions, pastFault, withPastOptions } from './past_client.js';
import { Progress } from './progress_line.js';
import { ownText, type Shown, shown, writeLine } from './shown_line.js';

interface ExportOptions extends PastCommandOptions {
  readonly from: bigint;
  readonly to?: bigint;
  readonly every?: number;
  readonly detail: 'signature' | 'whole';
  readonly format?: RowFormat;
  readonly output: string;
}

/** The number of bytes that are written at once. */
const PART_BYTES = 1024 * 1024;
const LONG_PRICE = 'a price has more than 38 digits, so its column must be text: write to a regular file';
/** The verified parts of an export, by its form. */
const VERIFIED: Readonly<Record<ExportOptions['detail'], string>> = {
  signature: "the service's signatures",
  whole: "the service's signatures, and the publishers' prices where the service still has them",
};
const FORMAT_OF: Readonly<Record<string, RowFormat>> = {
  '': 'ndjson',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.csv': 'csv',
  '.parquet': 'parquet',
};

/** The error for a wrong option. The exit status is 2. */
class WrongOption extends InvalidArgumentError {
  override exitCode = 2;
}

/**
 * Adds `tickseal export`. The exit status is 1 if a check failed or the range could not be read; the command then writes no file.
 * The status is 3 if no check failed but the user named no signer, and 2 for a wrong format, ending or detail.
 */
export function registerExport(program: Command, streams: CommandStreams = process): void {
  withPastOptions(
    program
      .command('export')
      .description(
        'write the aggregates of assets that were signed in a time range to a file, each verified; by asset as named, then by time',
      ),
    streams,
  )
    .argument('<symbols...>', 'symbols of assets')
    .requiredOption(
      '--from <time>',
      'the first time, such as 2026-11-20T12:00:00Z, 2026-11-20, -7d, or UNIX seconds or nanoseconds',
      parseInstant,
    )
    .option('--to <time>', 'the time before which all were signed (default: now)', parseInstant)
    .option('--every <duration>', 'only the last aggregate of each interval, such as 1s or 1h', parseEveryMs)
    .addOption(
      new Option('--detail <detail>', "whole has the publishers' prices too, and checks them")
        .argParser(oneOf(['signature', 'whole']))
        .default('whole'),
    )
    .addOption(
      new Option(
        '--format <format>',
        'ndjson, csv or parquet (default: by the ending of the file; ndjson without one)',
      ).argParser(oneOf(Object.keys(ROW_FORMATS))),
    )
    .requiredOption('-o, --output <file>', 'the file, which is replaced when all is written')
    .action(async (named: string[], options: ExportOptions, command: Command) => {
      const symbols = [...new Set(named)];
      const format = options.format ?? FORMAT_OF[extname(options.output).toLowerCase()];
      if (format === undefined)
        command.error(
          `error: ${extname(options.output)} is the ending of no format: name one with --format`,
          {
            exitCode: 2,
          },
        );
      const progress = new Progress(streams.stderr);
      const say = (line: Shown) => {
        progress.clear();
        writeLine(streams.stderr, shown`export: ${line}`);
      };
      try {
        const { rows, prices, unverified } = await exportRange(symbols, { ...options, format }, progress);
        for (const [symbol, count] of rows) say(shown`${count} aggregates of ${symbol} in ${options.output}`);
        if (prices === 'text') say(shown`the column price is text, because a price has more than 38 digits`);
        if ([...rows.values()].every((count) => count === 0)) {
          say(shown`0 rows: the range has none, and nothing was verified`);
          return;
        }
        if (unverified === undefined) {
          say(ownText(`verified: ${VERIFIED[options.detail]}`));
          return;
        }
        say(notVerified(unverified));
        process.exitCode = EXIT_NOT_VERIFIED;
      } catch (error) {
        say(pastFault(error));
        process.exitCode = 1;
      }
    });
}

/** The options, with the format that they or the ending of the file name. */
type FormatOptions = ExportOptions & { readonly format: RowFormat };

interface Exported {
  /** The number of rows of each symbol. */
  readonly rows: ReadonlyMap<string, number>;
  /** The type of the prices, if the file is Parquet. */
  readonly prices: PriceType | undefined;
  /** The recovered signer, if the user named no signer. */
  readonly unverified: string | undefined;
}

/** Thrown for a price in a Parquet file that its column does not hold. */
class LongPrice extends Error {
  override readonly name = 'LongPrice';
}

/** Writes the range. If a price of a Parquet file is too long for its column, the export begins again with text. */
async function exportRange(
  symbols: readonly string[],
  options: FormatOptions,
  progress: Progress,
): Promise<Exported> {
  try {
    return await writeRange(symbols, options, progress, 'decimal');
  } catch (error) {
    if (!(error instanceof LongPrice)) throw error;
    return await writeRange(symbols, options, progress, 'text');
  }
}

/** Writes the range to a new file. A failed export leaves no file. @param prices the type of the prices in Parquet */
async function writeRange(
  symbols: readonly string[],
  options: FormatOptions,
  progress: Progress,
  prices: PriceType,
): Promise<Exported> {
  const { from, to = BigInt(Date.now()) * NS_PER_MS, every, detail, type, output, format } = options;
  if (to < from) throw new Error('--to lies before --from; swap them');
  const isDecimal = format === 'parquet' && prices === 'decimal';
  const msSince = (ns: bigint) => Number((ns - from) / NS_PER_MS);
  let isStopped = false;
  const stop = () => {
    isStopped = true;
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  let isWhole = false;
  const file = await OutputFile.open(output);
  const client = openPast(options);
  try {
    const writer = exportWriter(format, detail, prices);
    const rows = new Map<string, number>();
    let unverified: string | undefined;
    const range = { from, to, everyMs: every, detail, signatureType: type };
    for (const symbol of symbols) {
      let count = 0;
      for await (const price of client.range(symbol, range)) {
        if (isDecimal && !fitsDecimal(price.price))
          throw file.isRegular ? new LongPrice() : new Error(LONG_PRICE);
        writer.add(price);
        count += 1;
        if (price.verdict === 'recovered') unverified = price.signer;
        if (isStopped) throw new Error('stopped; no file was written');
        progress.update(`${symbol}, ${count} aggregates`, msSince(price.timestampNs), msSince(to));
        if (writer.bytes >= PART_BYTES) await file.write(writer.take());
      }
      rows.set(symbol, count);
    }
    await file.write(writer.end());
    await file.finish();
    isWhole = true;
    return { rows, prices: format === 'parquet' ? prices : undefined, unverified };
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await client.close();
    if (!isWhole) await file.drop();
  }
}

function oneOf(values: readonly string[]): (text: string) => string {
  return (text) => {
    if (!values.includes(text)) throw new WrongOption(`expected one of ${values.join(', ')}`);
    return text;
  };
}

function parseEveryMs(text: string): number {
  const everyNs = parseDurationNs(text);
  if (everyNs === undefined || everyNs < NS_PER_MS)
    throw new InvalidArgumentError('expected a duration such as 500ms, 1s or 1h');
  return Number(everyNs / NS_PER_MS);
}
