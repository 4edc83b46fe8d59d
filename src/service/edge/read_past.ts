import type { Logger } from 'pino';
import type { Config } from '../../config/config.js';
import type { CryptoJobs } from '../../crypto/pool/jobs.js';
import { PastReader, type PastReaderOptions } from '../../log/past/past_reader.js';
import { publicFolderOf, streamsFolderOf } from '../../publiclog/ledger/ledger_folder.js';
import { LedgerReader } from '../../publiclog/ledger/ledger_reader.js';
import { openLoopTurns } from '../../server/rest/loop_turns.js';
import type { InstantRouteOptions } from '../../server/routes/instant_route.js';
import type { EdgeHooks } from './edge_hooks.js';
import { KnownSigners, type SignerState } from './known_signers.js';
import { type AskPast, OtherPasts } from './other_pasts.js';

export interface ReadPastOptions {
  readonly config: Pick<Config, 'storage' | 'service' | 'cluster'>;
  /** Returns the configuration and nodes, which contain the service's keys. */
  readonly signed: SignerState;
  readonly here: CryptoJobs;
  /** Asks other nodes about their past; absent without a cluster. */
  readonly ask: AskPast | undefined;
  readonly hooks: Pick<EdgeHooks, 'onPastDamage'>;
  readonly logger: Pick<Logger, 'warn'>;
}

/** The parts with which an edge reads the past and the public log. */
export interface EdgePast extends Pick<InstantRouteOptions, 'pastTurns' | 'onPastDamage' | 'older'> {
  readonly past: PastReader;
  readonly logFiles: LedgerReader;
  readonly streamLogFiles: LedgerReader;
}

/** Returns where a reader finds the past. */
export function pastPlaces(
  { dir, past }: Config['storage'],
  hasRepeated: boolean,
): Omit<PastReaderOptions, 'onDamage'> {
  const isKept = past.signaturesNs > 0n;
  return { dir, hasRepeated, isKept };
}

/** Opens the past and the public log for an edge. Each edge reads the files itself. */
export function readPast({
  config: { storage, service, cluster },
  signed,
  here,
  ask,
  hooks: { onPastDamage },
  logger,
}: ReadPastOptions): EdgePast {
  const signers = new KnownSigners(signed);
  const pastTurns = openLoopTurns();
  return {
    past: new PastReader({ ...pastPlaces(storage, cluster !== undefined), onDamage: onPastDamage }),
    logFiles: new LedgerReader(publicFolderOf(storage.dir)),
    streamLogFiles: new LedgerReader(publicFolderOf(streamsFolderOf(storage.dir))),
    pastTurns,
    onPastDamage,
    older:
      ask &&
      new OtherPasts({
        ask,
        here,
        oracleId: service.oracleId,
        isSigner: (type, key) => signers.has(type, key),
        inTurn: (caller, work) => pastTurns.run(caller, work),
        nowMs: () => performance.now(),
        onRefused: (reason) => logger.warn(reason),
      }),
  };
}
