import type { Command } from 'commander';
import type { CommandStreams } from './client_command.js';
import { Progress } from './progress_line.js';
import { errorText, ownText, shown, writeLine } from './shown_line.js';
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
        const { backUp } = await import('../log/store/folder_copy.js');
        const { copyBothLogs } = await import('../publiclog/ledger/log_copy.js');
        const { checkPastOf } = await import('./past_of_folder.js');
        const { parts, bytes } = await backUp(from, dir, {
          onProgress: (...step) => progress.update(...step),
          copyMore: (source, unfinished) => copyBothLogs(source, unfinished, Date.now()),
          checkMore: checkPastOf,
        });
        progress.clear();
        const files = parts.reduce((sum, part) => sum + part.files, 0).toLocaleString('en');
        const names = parts.map(({ name }) => name).join(', ');
        writeLine(stdout, ownText(`${dir}: ${files} files, ${bytesText(bytes)}, checked: ${names}`));
      } catch (error) {
        progress.clear();
        writeLine(stderr, shown`backup: ${errorText(error)}`);
        process.exitCode = 1;
      }
    });
}
