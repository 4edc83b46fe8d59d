import { extname } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDurationNs } from '../config/quantity.js';
import { NS_PER_MS } from '../model/time.js';
import { fitsDecimal, type PriceType } from '../records/parquet_rows.js';
import { ROW_FORMATS, type RowFormat } from '../records/row_writer.js';
import { type CommandStreams, EXIT_NOT_VERIFIED, notVerified } from './client_command.js';
import { exportWriter } from './exported_rows.js';
import { parseInstant } from './instant_option.js';
import { OutputFile } from './output_file.js';
import { openPast, type PastCommandOptions, pastFault, withPastOptions } from './past_client.js';
import { Progress } from './progress_line.js';
import { ownText, type Shown, shown, tell } from './shown_line.js';

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
const FORMAT_OF: Readonly<Record<string, RowFormat>> = { '.csv': 'csv', '.parquet': 'parquet' };

/**
 * Adds `tickseal export`. The exit status is 1 if a check failed or the range could not be read; the command then writes no file.
 * The status is 3 if no check failed but the user named no signer.
 */
export function registerExport(program: Command, streams: CommandStreams = process): void {
  withPastOptions(
    program
      .command('export')
      .description(
        'write the aggregates of an asset that were signed in a time range to a file, each verified',
      ),
    streams,
  )
    .argument('<symbol>', 'symbol of the asset')
    .requiredOption(
      '--from <time>',
      'the first time, such as 2026-11-20T12:00:00Z, or UNIX nanoseconds',
      parseInstant,
    )
    .option('--to <time>', 'the time before which all were signed (default: now)', parseInstant)
    .option('--every <duration>', 'only the last aggregate of each interval, such as 1s or 1h', parseEveryMs)
    .addOption(
      new Option('--detail <detail>', "whole has the publishers' prices too, and checks them")
        .choices(['signature', 'whole'])
        .default('whole'),
    )
    .addOption(
      new Option('--format <format>', 'the format (default: by the name of the file, else ndjson)').choices(
        Object.keys(ROW_FORMATS),
      ),
    )
    .requiredOption('-o, --output <file>', 'the file, which is replaced when all is written')
    .action(async (symbol: string, options: ExportOptions) => {
      const progress = new Progress(streams.stderr);
      const say = (line: Shown) => {
        progress.clear();
        tell(streams.stderr, shown`export: ${line}`);
      };
      try {
        const { rows, prices, unverified } = await exportRange(symbol, options, progress);
        say(shown`${rows} aggregates of ${symbol} in ${options.output}`);
        if (prices === 'text') say(shown`the column price is text, because a price has more than 38 digits`);
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

interface Exported {
  readonly rows: number;
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
async function exportRange(symbol: string, options: ExportOptions, progress: Progress): Promise<Exported> {
  try {
    return await writeRange(symbol, options, progress, 'decimal');
  } catch (error) {
    if (!(error instanceof LongPrice)) throw error;
    return await writeRange(symbol, options, progress, 'text');
  }
}

/** Writes the range to a new file. A failed export leaves no file. @param prices the type of the prices in Parquet */
async function writeRange(
  symbol: string,
  options: ExportOptions,
  progress: Progress,
  prices: PriceType,
): Promise<Exported> {
  const { from, to = BigInt(Date.now()) * NS_PER_MS, every, detail, type, output } = options;
  const { format = FORMAT_OF[extname(output)] ?? 'ndjson' } = options;
  if (to < from) throw new Error('--to lies before --from');
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
    let rows = 0;
    let unverified: string | undefined;
    const range = { from, to, everyMs: every, detail, signatureType: type };
    for await (const price of client.range(symbol, range)) {
      if (isDecimal && !fitsDecimal(price.price))
        throw file.isRegular ? new LongPrice() : new Error(LONG_PRICE);
      writer.add(price);
      rows += 1;
      if (price.verdict === 'recovered') unverified = price.signer;
      if (isStopped) throw new Error('stopped; no file was written');
      progress.update(`${symbol}, ${rows} aggregates`, msSince(price.timestampNs), msSince(to));
      if (writer.bytes >= PART_BYTES) await file.write(writer.take());
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

function parseEveryMs(text: string): number {
  const everyNs = parseDurationNs(text);
  if (everyNs === undefined || everyNs < NS_PER_MS)
    throw new InvalidArgumentError('expected a duration such as 500ms, 1s or 1h');
  return Number(everyNs / NS_PER_MS);
}
