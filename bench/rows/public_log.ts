import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { symbolOf } from '../../scripts/load/config.js';
import { ServedLog } from '../../src/client/verify/served_log.js';
import type { SignedAggregate } from '../../src/model/signed_price.js';
import { NS_PER_SECOND } from '../../src/model/time.js';
import { CheckpointSigner } from '../../src/publiclog/ledger/checkpoint_signer.js';
import { Ledger } from '../../src/publiclog/ledger/ledger.js';
import {
  CHECKPOINT_FILE,
  publicFolderOf,
  stateFolderOf,
  writeDurably,
} from '../../src/publiclog/ledger/ledger_folder.js';
import { LedgerReader } from '../../src/publiclog/ledger/ledger_reader.js';
import { PRICE_FORM } from '../../src/publiclog/ledger/record_form.js';
import { recordMaker } from '../../src/publiclog/ledger/record_of_aggregate.js';
import { LogAudit } from '../../src/publiclog/witness/log_audit.js';
import { Ed25519Key } from '../../src/tlog/ed25519_key.js';
import { parsePolicy } from '../../src/tlog/log_policy.js';
import { nodeSha256 } from '../../src/tlog/node_sha256.js';
import { formatVerifierKey } from '../../src/tlog/verifier_key.js';
import type { Figures, Line, Measurement, Row, Scale } from '../harness/row.js';
import { cpuSeconds } from '../harness/stage.js';
import { measureUnsigned } from './latency.js';

/** The rates of aggregates per second: the rate of the bound, and the rate for which the stores are designed. */
const RATES = [2_000, 400] as const;
const SECONDS: Readonly<Record<Scale, number>> = { full: 120, smoke: 3 };
/** The number of seconds before the measured seconds. In this time, V8 compiles the code. */
const WARM_UP_S: Readonly<Record<Scale, number>> = { full: 60, smoke: 1 };
const CHECKPOINT_S = 10;
const ORIGIN = 'prices.example.com/tlog';
const KEY = new Ed25519Key(new Uint8Array(32).fill(1));
const CORES_MAX = 0.02;
const DAY_S = 86_400;
const MB = 1e6;

export const publicLog: Row = {
  name: 'log',
  title: 'The public log',
  method:
    'Two minutes of aggregates go through the log of a process, after one minute in which V8 compiles the code: the records, the entry of a batch every second, its journal on the disk, and every 10 s the tiles and a ' +
    'signed checkpoint. The figure is CPU time by the time that the aggregates cover. Then the whole log is audited, as `tickseal log audit` does, without the network. ' +
    'The delay from a publisher to 10 subscribers is that of the row `latency`, of a service with the log and of one without it.',
  limit:
    'A record costs two hashes of SHA-256 of 0.7 µs each, its place in the order of its batch, and its bytes in the journal. The rest is the files: a batch has a file of its own, and a tree of ' +
    'ten more batches has three, each written, flushed and renamed.',
  rounds: 3,
  variants: {
    log: measureLog,
    'with the log': async (scale) => ({ figures: await measureUnsigned(scale, { publicLog: true }) }),
    'without the log': async (scale) => ({ figures: await measureUnsigned(scale, { publicLog: false }) }),
  },
  lines: () => [
    ...RATES.map(
      (rate): Line => ({
        name: `${rate} aggregates/s`,
        unit: 'cores',
        variant: 'log',
        figure: `${rate}: cores`,
        ...(rate === RATES[0] && { bound: { atMost: CORES_MAX } }),
        shown: [{ name: 'a day', unit: 'MB', variant: 'log', figure: `${rate}: MB a day` }],
      }),
    ),
    {
      name: 'audit of a day with 400 aggregates/s',
      unit: 'minutes of a core',
      variant: 'log',
      figure: '400: minutes of audit',
      bound: { atMost: 10 },
    },
    {
      name: 'publisher to subscriber, with the log',
      unit: 'ms p50',
      variant: 'with the log',
      figure: 'p50',
      peers: [{ variant: 'without the log', figure: 'p50', ratio: { atMost: 1.1 } }],
      shown: [
        { name: 'p99', unit: 'ms', variant: 'with the log', figure: 'p99' },
        { name: 'p99 without the log', unit: 'ms', variant: 'without the log', figure: 'p99' },
      ],
    },
  ],
};

async function measureLog(scale: Scale): Promise<Measurement> {
  const figures: Figures = {};
  for (const rate of RATES) {
    const batches = WARM_UP_S[scale] + SECONDS[scale];
    const perDay = DAY_S / batches;
    const log = await measureLogOf(rate, { warmUpS: WARM_UP_S[scale], seconds: SECONDS[scale] });
    figures[`${rate}: cores`] = log.writtenS / SECONDS[scale];
    figures[`${rate}: MB a day`] = (log.bytes * perDay) / MB;
    figures[`${rate}: minutes of audit`] = (log.auditedS * perDay) / 60;
  }
  return { figures };
}

/** The batches of a log, one a second. */
interface LogTimes {
  /** The number of seconds before the measured seconds. */
  readonly warmUpS: number;
  readonly seconds: number;
}

/** Writes and audits a log. @returns the CPU time of writing the measured seconds, and of auditing all; and the size of the log */
export async function measureLogOf(rate: number, { warmUpS, seconds }: LogTimes) {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-bench-log-'));
  try {
    const writtenS = await writeLog(dir, rate, { warmUpS, seconds });
    const bytes = bytesIn(publicFolderOf(dir));
    return { writtenS, bytes, auditedS: await auditLog(dir, warmUpS + seconds) };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** Writes a log as a service does. @returns the CPU time of the measured seconds */
async function writeLog(dir: string, rate: number, times: LogTimes): Promise<number> {
  const recordOf = recordMaker();
  const seconds = times.warmUpS + times.seconds;
  const folders = { publicFolder: publicFolderOf(dir), stateFolder: stateFolderOf(dir) };
  const onMismatch = (reason: string) => {
    throw new Error(reason);
  };
  const ledger = await Ledger.open({ ...folders, origin: ORIGIN, form: PRICE_FORM, onMismatch });
  const signer = new CheckpointSigner({ ...folders, origin: ORIGIN, key: KEY });
  let cpuS = 0;
  for (let second = 0; second < seconds; second++) {
    const fromNs = BigInt(second) * NS_PER_SECOND;
    const aggregates = Array.from({ length: rate }, (_, i) => aggregateAt(fromNs, i, rate));
    const startS = cpuSeconds();
    for (const aggregate of aggregates) ledger.add(recordOf(aggregate));
    await ledger.flush();
    await ledger.apply(await ledger.nextEntry(0n, fromNs, fromNs + NS_PER_SECOND));
    await ledger.flush();
    if ((second + 1) % CHECKPOINT_S === 0 || second + 1 === seconds) {
      const note = await signer.sign(await ledger.seal());
      await writeDurably(folders.publicFolder, [{ path: CHECKPOINT_FILE, bytes: Buffer.from(note) }]);
    }
    if (second >= times.warmUpS) cpuS += cpuSeconds() - startS;
  }
  await ledger.close();
  return cpuS;
}

/** Returns an aggregate with the fields of its record. Each asset has two aggregates a second. */
function aggregateAt(fromNs: bigint, i: number, rate: number): SignedAggregate {
  const signedAtNs = fromNs + (BigInt(i) * NS_PER_SECOND) / BigInt(rate);
  return {
    signatureType: 'evm',
    publicKey: `0x${'5a'.repeat(20)}`,
    symbol: symbolOf(i % (rate / 2)),
    signedAtNs,
    msgHash: Buffer.alloc(32, `${signedAtNs}`),
  } as unknown as SignedAggregate;
}

/** Audits a log from its files. @returns the CPU time in seconds */
async function auditLog(dir: string, batches: number): Promise<number> {
  const reader = new LedgerReader(publicFolderOf(dir));
  const audit = new LogAudit(
    {
      log: new ServedLog((path) => reader.publicFile(path), nodeSha256),
      policy: parsePolicy(`log ${formatVerifierKey(KEY.logKey(ORIGIN))}\nquorum none\n`),
      nowNs: () => BigInt(batches) * NS_PER_SECOND,
      keep: async () => {},
      delay: { steadyMs: () => 0, promisedMs: 0, slackMs: 0 },
      onFinding: () => {},
    },
    undefined,
  );
  const startS = cpuSeconds();
  const { size, evidence } = await audit.step();
  if (size !== BigInt(batches) || evidence !== undefined) throw new Error(`the audit read ${size} batches`);
  return cpuSeconds() - startS;
}

function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
