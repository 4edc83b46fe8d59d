import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDurationNs } from '../config/quantity.js';
import { type CryptoPool, createCryptoPool } from '../crypto/pool/pool.js';
import { NS_PER_MS } from '../model/time.js';
import { type CommandStreams, EXIT_NOT_VERIFIED, notVerified } from './client_command.js';
import { ExportPool } from './export/export_pool.js';
import { EXPORT_FORMATS, type ExportFormat, GROUP_ROWS, joinedRows, rowsEncoder } from './exported_rows.js';
import { parseInstant } from './instant_option.js';
import { OutputFile } from './output_file.js';
import { NotPacked } from './packed_range.js';
import { openPastRange, type PastCommandOptions, pastFault, withPastOptions } from './past_client.js';
import { Progress } from './progress_line.js';

interface ExportOptions extends PastCommandOptions {
  readonly from: bigint;
  readonly to?: bigint;
  readonly every?: number;
  readonly detail: 'signature' | 'whole';
  readonly format?: ExportFormat;
  readonly output: string;
}

/** The number of threads that verify JSON lines. More threads would wait for the thread that reads and writes. */
const VERIFIERS_MAX = 3;
/** The verified parts of an export, by its form. */
const VERIFIED: Readonly<Record<ExportOptions['detail'], string>> = {
  signature: "the service's signatures",
  whole: "the service's signatures, and the publishers' prices where the service still has them",
};
const FORMAT_OF: Readonly<Record<string, ExportFormat>> = { '.csv': 'csv', '.parquet': 'parquet' };

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
        EXPORT_FORMATS,
      ),
    )
    .requiredOption('-o, --output <file>', 'the file, which is replaced when all is written')
    .action(async (symbol: string, options: ExportOptions) => {
      const progress = new Progress(streams.stderr);
      const say = (line: string) => {
        progress.clear();
        streams.stderr.write(`export: ${line}\n`);
      };
      try {
        const { rows, unverified } = await exportRange(symbol, options, progress);
        say(`${rows} aggregates of ${symbol} in ${options.output}`);
        if (unverified === undefined) {
          say(`verified: ${VERIFIED[options.detail]}`);
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
  /** The recovered signer, if the user named no signer. */
  readonly unverified: string | undefined;
}

/** Writes the range. A failed export leaves no file. */
async function exportRange(symbol: string, options: ExportOptions, progress: Progress): Promise<Exported> {
  const {
    from,
    to = BigInt(Date.now()) * NS_PER_MS,
    every,
    detail,
    type,
    output,
    signer,
    oracleId,
  } = options;
  const { format = FORMAT_OF[extname(output)] ?? 'ndjson' } = options;
  if (to < from) throw new Error('--to lies before --from');
  const joined = joinedRows(format, detail);
  const msSince = (ns: bigint) => Number((ns - from) / NS_PER_MS);
  let isStopped = false;
  const stop = () => {
    isStopped = true;
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const resources = new OpenResources();
  let isWhole = false;
  const file = await OutputFile.open(output);
  try {
    const client = openPastRange(options, resources.verifyEvm);
    resources.add(() => client.close());
    let rows = 0;
    let unverified: string | undefined;
    const advanced = (lastNs: bigint) => {
      if (isStopped) throw new Error('stopped; no file was written');
      progress.update(`${symbol}, ${rows} aggregates`, msSince(lastNs), msSince(to));
    };
    /** Writes the range in the form in which the service keeps it. @returns false if the service does not know this form */
    const writePacked = async () => {
      const threads = new ExportPool({ symbol, detail, format, oracleId, signers: signer });
      resources.add(() => threads.close());
      try {
        for await (const part of threads.rowsOf(client.blocks({ symbol, from, to, detail, type }))) {
          rows += part.rows;
          if (signer === undefined) unverified = part.publicKey;
          advanced(part.lastNs);
          await file.write(joined.append(part));
        }
        return true;
      } catch (error) {
        if (error instanceof NotPacked) return false;
        throw error;
      }
    };
    const writeLines = async () => {
      const encoder = rowsEncoder(format, detail);
      const range = { from, to, everyMs: every, detail, signatureType: type };
      for await (const price of client.range(symbol, range)) {
        encoder.add(price);
        rows += 1;
        if (price.verdict === 'recovered') unverified = price.signer;
        advanced(price.timestampNs);
        if (encoder.rows >= GROUP_ROWS) await file.write(joined.append(encoder.take()));
      }
      if (encoder.rows > 0) await file.write(joined.append(encoder.take()));
    };
    // With intervals there are few rows, and only the form of JSON lines can leave out the other rows.
    if (every !== undefined || !(await writePacked())) await writeLines();
    await file.write(joined.end());
    await file.finish();
    isWhole = true;
    return { rows, unverified };
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await resources.close();
    if (!isWhole) await file.drop();
  }
}

/** The client and the threads of an export. They end together with the export. */
class OpenResources {
  readonly #closes: (() => Promise<void>)[] = [];
  #pool: Promise<CryptoPool> | undefined;

  add(close: () => Promise<void>): void {
    this.#closes.push(close);
  }

  /** Verifies signatures on threads, which start with the first call. */
  readonly verifyEvm: CryptoPool['verifyEvm'] = async (jobs) => {
    this.#pool ??= createCryptoPool({ threads: Math.min(VERIFIERS_MAX, availableParallelism() - 1) });
    return (await this.#pool).verifyEvm(jobs);
  };

  async close(): Promise<void> {
    for (const close of this.#closes.reverse()) await close();
    await (await this.#pool)?.close();
  }
}

function parseEveryMs(text: string): number {
  const everyNs = parseDurationNs(text);
  if (everyNs === undefined || everyNs < NS_PER_MS)
    throw new InvalidArgumentError('expected a duration such as 500ms, 1s or 1h');
  return Number(everyNs / NS_PER_MS);
}
