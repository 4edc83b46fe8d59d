import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { symbolOf, TOKEN, writeConfig } from '../../scripts/load/config.js';
import { SERVICE_KEY } from '../../scripts/load/keys.js';
import { requestFor } from '../../scripts/load/requests.js';
import { type ServerProcess, startService } from '../../scripts/load/server_process.js';
import { storePast } from '../../scripts/load/stored_past.js';
import { measureUsage } from '../../scripts/load/usage.js';
import { evmAddress } from '../../src/crypto/evm.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import { toHex } from '../../src/model/hex.js';
import { REST_PATHS } from '../../src/wire/paths.js';
import type { Figures, Line, Measurement, Row, Scale, Shown } from '../harness/row.js';
import { PROGRAM, runNode } from '../workloads/commands.js';

/** The number of publishers. The store of past aggregates is designed for 400 aggregates a second with 4 publishers. */
const PUBLISHERS = 4;
const STEP_NS = 500_000_000n;
const ASSETS: Readonly<Record<Scale, number>> = { full: 200, smoke: 10 };
const AGGREGATES: Readonly<Record<Scale, number>> = { full: 500, smoke: 20 };
/** The number of aggregates of the asset that is read. An export writes all of them. */
const ROWS: Readonly<Record<Scale, number>> = { full: 100_000, smoke: 500 };
/** The number of connections. This number is the limit of one token for waiting requests of the past on a thread. */
const CONNECTIONS = 16;
const AT_MS: Readonly<Record<Scale, number>> = { full: 3_000, smoke: 20 };
/** The largest allowed numbers of bytes of an aggregate, without and with its inputs. */
const BYTES_MAX = { signatures: 140, whole: 180 } as const;
/** The smallest allowed rates of answers at an instant, and of rows of a range. */
const AT_RATE_MIN = 600;
const RANGE_ROWS_MIN = { signature: 50_000, whole: 25_000 } as const;
type Detail = keyof typeof RANGE_ROWS_MIN;
/** The smallest allowed rate of an export, in rows a second. */
const EXPORT_ROWS_MIN = 5_000;
/** The formats of exports. Each export starts a process. In a smoke run, these starts take more time than all other work. */
const EXPORTED: Readonly<Record<Scale, readonly string[]>> = {
  full: ['ndjson', 'csv', 'parquet'],
  smoke: ['ndjson'],
};

export const past: Row = {
  name: 'past',
  title: 'The signed past',
  method:
    'Bytes of the files after 400 aggregates a second with 4 inputs, each of which counts in 10 aggregates. ' +
    'Then one asset is read: 16 connections ask for its aggregate at one instant, one connection reads 100,000 of its aggregates as JSON lines, and ' +
    '`tickseal export` writes 100,000 with inputs to a file, each verified. An export counts the CPU time of both processes, with the start of the exporting one.',
  limit:
    'No compression reduces `r`, `s` and the root of an aggregate (96 bytes), and `r` and `s` of 0.4 new inputs (26 bytes). ' +
    'Reading the past rests twice as long as it works, so that it takes at most a third of a serving thread: JSON lines therefore leave one thread at most at 9,000 rows a second, and 6,000 with inputs. ' +
    'An export reads JSON lines and works on one thread, which is then the limit: it splits, hashes, verifies and encodes each row. Verifying 1.4 signatures takes 28 µs of a row with inputs. ' +
    'An answer at an instant decodes the entries of its block up to the instant, of 256.',
  rounds: 2,
  variants: { service: measure },
  lines: (scale) => [
    size('an aggregate without inputs', 'signatures'),
    size('an aggregate with inputs', 'whole'),
    rate('at an instant', 'answers/s per core', AT_RATE_MIN),
    ...Object.entries(RANGE_ROWS_MIN).map(([detail, atLeast]) =>
      rate(`range, ${detail}`, 'rows/s per core', atLeast),
    ),
    ...EXPORTED[scale].map((format) => {
      const name = `export to ${format}`;
      const shown = ['exporting', 'service'].map((who): Shown => {
        return { name: who, unit: 'µs/row', variant: 'service', figure: `${name}: ${who} µs` };
      });
      return { ...rate(name, 'rows/s per core, both processes', EXPORT_ROWS_MIN), shown };
    }),
  ],
};

function size(name: string, kept: keyof typeof BYTES_MAX): Line {
  const figure = `${kept}: GB a day`;
  return {
    name,
    unit: 'bytes',
    variant: 'service',
    figure: kept,
    bound: { atMost: BYTES_MAX[kept] },
    shown: [{ name: 'a day', unit: 'GB', variant: 'service', figure }],
  };
}

function rate(name: string, unit: string, atLeast: number): Line {
  return { name, unit, variant: 'service', figure: name, bound: { atLeast } };
}

async function measure(scale: Scale): Promise<Measurement> {
  const figures: Figures = {};
  const stored = await storePast(configOf(ASSETS[scale]), { aggregates: AGGREGATES[scale], stepNs: STEP_NS });
  const { jsonl, inputs } = stored.bytes;
  for (const [kept, bytes] of Object.entries({ signatures: jsonl, whole: jsonl + inputs })) {
    figures[kept] = bytes / (ASSETS[scale] * AGGREGATES[scale]);
    figures[`${kept}: GB a day`] = (figures[kept] * 400 * 86_400) / 1e9;
  }
  const single = configOf(1);
  const { times } = await storePast(single, { aggregates: ROWS[scale], stepNs: STEP_NS });
  const service = await startService(single);
  const end = measureUsage(service);
  const path = `${REST_PATHS.at}?assets=${symbolOf(0)}&timestamp=${times[times.length >> 1]!}`;
  const { requests } = await requestFor(service.port, path, CONNECTIONS, AT_MS[scale]);
  figures['at an instant'] = requests / end().serverCpuSeconds;
  for (const detail of Object.keys(RANGE_ROWS_MIN) as Detail[])
    figures[`range, ${detail}`] = await readRange(service, times, detail);
  for (const format of EXPORTED[scale]) exportRange(service, times, format, figures);
  await service.stop();
  return { figures };
}

function configOf(assets: number): string {
  return writeConfig({ signatureType: 'evm', assets, publishers: PUBLISHERS, clockPeriod: '60s' }).file;
}

/**
 * Reads rows as JSON lines.
 * @returns the number of rows per second of the service's CPU time
 */
async function readRange(service: ServerProcess, times: readonly bigint[], detail: Detail): Promise<number> {
  const query = `asset=${symbolOf(0)}&from=${times[0]}&to=${times.at(-1)! + 1n}&detail=${detail}`;
  const end = measureUsage(service);
  const response = await fetch(`http://127.0.0.1:${service.port}${REST_PATHS.range}?${query}`, {
    headers: { Authorization: `Basic ${TOKEN}` },
  });
  let rows = 0;
  for await (const part of response.body!) for (const byte of part as Uint8Array) if (byte === 0x0a) rows++;
  if (rows !== times.length) throw new Error(`${rows} of ${times.length} rows`);
  return rows / end().serverCpuSeconds;
}

function exportRange(
  service: ServerProcess,
  times: readonly bigint[],
  format: string,
  figures: Figures,
): void {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-bench-export-'));
  const end = measureUsage(service);
  const { cpuSeconds: exportingSeconds, errorText } = runNode(
    [
      ...[PROGRAM, 'export', symbolOf(0), '--url', `http://127.0.0.1:${service.port}`],
      ...['--from', String(times[0]), '--to', String(times.at(-1)! + 1n)],
      ...['--signer', toHex(evmAddress(secp256k1.publicKey(SERVICE_KEY))), '-o', join(dir, `past.${format}`)],
    ],
    { ...process.env, TICKSEAL_TOKEN: TOKEN },
  );
  const { serverCpuSeconds } = end();
  rmSync(dir, { recursive: true });
  if (!errorText.includes(`${times.length} aggregates`)) throw new Error(`the export wrote: ${errorText}`);
  const name = `export to ${format}`;
  figures[name] = times.length / (serverCpuSeconds + exportingSeconds);
  figures[`${name}: exporting µs`] = (exportingSeconds / times.length) * 1e6;
  figures[`${name}: service µs`] = (serverCpuSeconds / times.length) * 1e6;
}
