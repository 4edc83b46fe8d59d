import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import type { CryptoJobs } from '../crypto/pool/jobs.js';
import { publicFolderOf, streamsFolderOf } from '../ledger/ledger_folder.js';
import { LedgerReader } from '../ledger/ledger_reader.js';
import { pastFolderOf } from '../past/past_folder.js';
import { PastReader } from '../past/past_reader.js';
import { openLoopTurns } from '../server/rest/loop_turns.js';
import type { InstantRouteOptions } from '../server/routes/instant_route.js';
import { KnownSigners, type SignerState } from './known_signers.js';
import { type AskPast, OtherPasts } from './other_pasts.js';

export interface ReadPastOptions {
  readonly config: Pick<Config, 'storage' | 'service'>;
  /** Returns the configuration and nodes, which contain the service's keys. */
  readonly signed: SignerState;
  readonly here: CryptoJobs;
  /** Asks other nodes about their past; absent without a cluster. */
  readonly ask: AskPast | undefined;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
}

/** The parts with which an edge reads the past and the public log. */
export interface EdgePast extends Pick<InstantRouteOptions, 'pastTurns' | 'onPastDamage' | 'older'> {
  readonly past: PastReader;
  readonly logFiles: LedgerReader;
  readonly streamLogFiles: LedgerReader;
}

/** Opens the past and the public log for an edge. Each edge reads the files itself. */
export function readPast({
  config: { storage, service },
  signed,
  here,
  ask,
  logger,
}: ReadPastOptions): EdgePast {
  const signers = new KnownSigners(signed);
  const pastTurns = openLoopTurns();
  return {
    past: new PastReader(pastFolderOf(storage.dir)),
    logFiles: new LedgerReader(publicFolderOf(storage.dir)),
    streamLogFiles: new LedgerReader(publicFolderOf(streamsFolderOf(storage.dir))),
    pastTurns,
    onPastDamage: (reason) => logger.error(`the past is damaged: ${reason}`),
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
