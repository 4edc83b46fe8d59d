import type { Command } from 'commander';
import { requireData } from '../log/store/contents.js';
import { isFolderInUse } from '../log/store/folder_lock.js';
import { streamsFolderOf } from '../publiclog/ledger/ledger_folder.js';
import { beginNewOrigin, type EndedLog } from '../publiclog/ledger/new_origin.js';
import { toBase64 } from '../tlog/log_text.js';
import type { CommandStreams } from './client_command.js';
import { errorText, ownText, shown, writeLine } from './shown_line.js';

interface NewOriginOptions {
  readonly evenIfHealthy: boolean;
  readonly streams: boolean;
}

/** Adds the command `log new-origin`. The exit status is 1 when the command changed nothing. */
export function registerNewOrigin(log: Command, { stdout, stderr }: CommandStreams): void {
  log
    .command('new-origin')
    .description('end the public log of a data folder that has lost a part, and begin one under a new name')
    .argument('<folder>', 'the data folder: storage.dir; no service may run on it')
    .argument('<origin>', 'the new name, for log.origin, such as prices.example.com/tlog2')
    .option('--streams', "end the log of the node's streaming payloads instead", false)
    .option('--even-if-healthy', 'end a log that could go on', false)
    .action(async (folder: string, origin: string, { evenIfHealthy, streams }: NewOriginOptions) => {
      try {
        requireData(folder);
        if (await isFolderInUse(folder)) throw new Error(`a service runs on ${folder}: stop it first`);
        const ended = await beginNewOrigin(streams ? streamsFolderOf(folder) : folder, origin, evenIfHealthy);
        writeLine(stdout, ownText(reportOf(ended, origin, streams ? 'log.stream_origin' : 'log.origin')));
      } catch (error) {
        writeLine(stderr, shown`log new-origin: ${errorText(error)}`);
        process.exitCode = 1;
      }
    });
}

function reportOf(
  { origin: old = 'unknown', signed, published, batches, faults, movedTo }: EndedLog,
  origin: string,
  field: string,
): string {
  const lastSigned = signed === undefined ? 'lost' : `${signed.size} batches, root ${toBase64(signed.root)}`;
  const covered = published?.size ?? 0n;
  return [
    `The log ${old} has ended.`,
    ...faults.map((fault) => `  reason: ${fault}`),
    `  last signed checkpoint: ${lastSigned}`,
    `  last published checkpoint: ${published === undefined ? 'none' : `${covered} batches`}`,
    `  batches in its files: ${batches}`,
    `Lost: every batch after these files, prices that were signed since, and ${batches > covered ? batches - covered : 0n} batches that no published checkpoint covers.`,
    'Readers can no longer ask this service for proofs of the old log. Proofs that they hold stay valid.',
    ...movedTo.map((path) => `Its files are kept in ${path}`),
    `The log ${origin} begins at the next start, with ${field}: ${origin}.`,
    'Give its key line, which the start logs, to readers and witnesses, and tell them why.',
  ].join('\n');
}
