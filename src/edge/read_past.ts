import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import { PacedTurns } from '../fair/paced_turns.js';
import { publicFolderOf } from '../ledger/ledger_folder.js';
import { LedgerReader } from '../ledger/ledger_reader.js';
import { pastFolderOf } from '../past/past_folder.js';
import { PastReader } from '../past/past_reader.js';
import type { InstantRouteOptions } from '../server/routes/instant_route.js';

/** Returns the parts with which an edge reads the past and the public log. Each edge reads the files itself. */
export function readPast(
  { storage }: Pick<Config, 'storage'>,
  logger: Pick<Logger, 'error'>,
): Pick<InstantRouteOptions, 'pastTurns' | 'onPastDamage'> & {
  readonly past: PastReader;
  readonly logFiles: LedgerReader;
} {
  return {
    past: new PastReader(pastFolderOf(storage.dir)),
    logFiles: new LedgerReader(publicFolderOf(storage.dir)),
    pastTurns: new PacedTurns(() => performance.now(), setTimeout),
    onPastDamage: (reason) => logger.error(`the past is damaged: ${reason}`),
  };
}
