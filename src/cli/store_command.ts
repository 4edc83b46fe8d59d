import type { Command } from 'commander';
import { systemClock } from '../clock/clock.js';
import type { AssetContents, FolderContents } from '../store/contents.js';
import type { CommandStreams } from './client_command.js';
import { Progress } from './progress_line.js';
import { errorText, LineWriter, ownText, shown, tell } from './shown_line.js';

/** Adds `store FOLDER`. The exit status is 1 if the folder cannot be read or is partly damaged. */
export function registerStore(
  program: Command,
  { stdout, stderr }: Pick<CommandStreams, 'stdout' | 'stderr'> = process,
): void {
  program
    .command('store')
    .description('check a data folder and print its contents, also while a service runs on it')
    .argument('<folder>', 'the data folder: storage.dir')
    .option('--json', 'print JSON', false)
    .option(
      '--new-log',
      'make the node read the log of its cluster from the start; for servers that have lost records which the folder has',
      false,
    )
    .action(async (folder: string, { json, newLog }: { json: boolean; newLog: boolean }) => {
      const progress = new Progress(stderr);
      try {
        // The command loads the module here, because the module loads a native add-on.
        const { readContents } = await import('../store/contents.js');
        const contents = await readContents(folder, (...step) => progress.update(...step));
        progress.clear();
        if (newLog) await (await import('../store/forget_log.js')).forgetLog(folder, systemClock());
        const out = new LineWriter(stdout, () => {});
        if (json) out.json(JSON.stringify(contents));
        else out.write(ownText(contentsText(folder, contents, Date.now() / 1000, newLog)));
        if (contents.damagedRecords > 0) process.exitCode = 1;
      } catch (error) {
        progress.clear();
        tell(stderr, shown`store: ${errorText(error)}`);
        process.exitCode = 1;
      }
    });
}

function contentsText(
  folder: string,
  contents: FolderContents,
  nowSeconds: number,
  isForgotten: boolean,
): string {
  const { isInUse, fileBytes, streamingIds, tables, log, assets, damage, damagedRecords } = contents;
  const ofTables = Object.entries(tables).map(([name, { records, bytes }]) => [
    name,
    count(records),
    bytesText(bytes),
  ]);
  const ofAssets = assets.map((asset) => assetRow(asset, nowSeconds));
  const more = damagedRecords - damage.length;
  return [
    `${folder}: ${bytesText(fileBytes)}, ${isInUse ? 'a service runs on it' : 'no service runs on it'}`,
    '',
    ...aligned([['table', 'records', 'bytes'], ...ofTables]),
    '',
    ...aligned([['asset', 'records', 'bytes', 'inputs', 'newest', 'candles since'], ...ofAssets]),
    '',
    `streaming IDs: ${count(streamingIds)} meanings`,
    ...(log === undefined
      ? []
      : [
          `log: ${isForgotten ? 'forgotten; the folder has' : 'applied'} all records up to ${count(log.sequence)} (${log.id})`,
        ]),
    damagedRecords === 0 ? 'damage: none' : `damage: ${count(damagedRecords)} records`,
    ...damage.map((reason) => `  ${reason}`),
    ...(more > 0 ? [`  and ${count(more)} more`] : []),
  ].join('\n');
}

function assetRow(asset: AssetContents, nowSeconds: number): string[] {
  const { assetKey, records, bytes, inputs, newestSecond, firstDaySecond } = asset;
  const age =
    newestSecond === undefined ? '-' : `${count(Math.max(0, Math.round(nowSeconds - newestSecond)))} s ago`;
  const since =
    firstDaySecond === undefined ? '-' : new Date(firstDaySecond * 1000).toISOString().slice(0, 10);
  return [assetKey, count(records), bytesText(bytes), count(inputs), age, since];
}

/** Aligns the first column left and the other columns right. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join('  ')
      .trimEnd(),
  );
}

function count(value: number): string {
  return value.toLocaleString('en');
}

/** Returns a size in decimal units, which vendors of disks use too. */
export function bytesText(bytes: number): string {
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}
