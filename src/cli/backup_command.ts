import type { Command } from 'commander';
import type { CommandStreams } from './client_command.js';
import { Progress } from './progress_line.js';
import { errorText, ownText, shown, tell } from './shown_line.js';
import { bytesText } from './store_command.js';

/** Adds `backup DIR --from FOLDER`. The exit status is 1 if the backup fails. */
export function registerBackup(
  program: Command,
  { stdout, stderr }: Pick<CommandStreams, 'stdout' | 'stderr'> = process,
): void {
  program
    .command('backup')
    .description('copy a data folder and check the copy, also while a service runs on it')
    .argument('<dir>', 'the folder for the copy; it is made when there is none')
    .requiredOption('--from <folder>', 'the data folder: storage.dir')
    .action(async (dir: string, { from }: { from: string }) => {
      const progress = new Progress(stderr);
      try {
        // The command loads the modules here, because they load a native add-on.
        const { backUp } = await import('../store/folder_copy.js');
        const { copyBothLogs } = await import('../ledger/log_copy.js');
        let hasLog = false;
        const { fileBytes, tables } = await backUp(
          from,
          dir,
          (...step) => progress.update(...step),
          async (source, unfinished) => {
            const copied = await copyBothLogs(source, unfinished, Date.now());
            hasLog = copied.length > 0;
            return copied;
          },
        );
        progress.clear();
        const records = Object.values(tables).reduce((sum, table) => sum + table.records, 0);
        tell(
          stdout,
          ownText(
            `${dir}: ${records.toLocaleString('en')} records, ${bytesText(fileBytes)}, every record checked${hasLog ? '; with the public log' : ''}`,
          ),
        );
      } catch (error) {
        progress.clear();
        tell(stderr, shown`backup: ${errorText(error)}`);
        process.exitCode = 1;
      }
    });
}
