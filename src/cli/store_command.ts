import type { Command } from 'commander';
import { systemClock } from '../clock/clock.js';
import type { AssetContents, FolderContents } from '../log/store/contents.js';
import { DEFAULT_SIGNATURE_TYPE } from '../wire/signatures.js';
import type { CommandStreams } from './client_command.js';
import { Progress } from './progress_line.js';
import { errorText, LineWriter, ownText, shown, writeLine } from './shown_line.js';

/** The largest number of damages that the text shows. */
const NAMED_MAX = 20;

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
        const { readContents } = await import('../log/store/contents.js');
        const { checkPastOf } = await import('./past_of_folder.js');
        const { FORMATS } = await import('../service/formats.js');
        const contents = await readContents(folder, (...step) => progress.update(...step), checkPastOf);
        progress.clear();
        if (newLog) await (await import('../log/store/forget_log.js')).forgetLog(folder, systemClock());
        const out = new LineWriter(stdout, () => {});
        if (json) out.json(JSON.stringify({ ...contents, formats: FORMATS }));
        else {
          out.write(ownText(contentsText(folder, contents, Date.now() / 1000, newLog)));
          out.write(
            ownText(
              `formats of this program: ${Object.entries(FORMATS)
                .map(([name, format]) => `${name} ${format}`)
                .join(', ')}`,
            ),
          );
        }
        if (contents.damage.length > 0) process.exitCode = 1;
      } catch (error) {
        progress.clear();
        writeLine(stderr, shown`store: ${errorText(error)}`);
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
  const { isInUse, format, bytes, parts, streamingIds, segment, isClean, log, assets, damage } = contents;
  const end = isClean ? 'everything was written at the last stop' : 'no stop was noted';
  return [
    `${folder}: ${bytesText(bytes)}, format ${format}, ${isInUse ? 'a service runs on it' : 'no service runs on it'}`,
    '',
    ...alignedRows([
      ['part', 'files', 'bytes'],
      ...parts.map((part) => [part.name, countText(part.files), bytesText(part.bytes)]),
    ]),
    '',
    ...alignedRows([
      ['asset', 'state', 'since', 'inputs', 'candles since'],
      ...assets.map((asset) => assetRow(asset, nowSeconds)),
    ]),
    '',
    `known until ${timeText(contents.newestSecond)}, segment ${countText(segment)}${isInUse ? '' : `; ${end}`}`,
    `streaming IDs: ${countText(streamingIds)} meanings`,
    ...(log === undefined
      ? []
      : [
          `log: ${isForgotten ? 'forgotten; the folder has' : 'applied'} all records up to ${countText(log.sequence)} (${log.id})`,
        ]),
    damage.length === 0 ? 'damage: none' : `damage: ${countText(damage.length)}`,
    ...damage.slice(0, NAMED_MAX).map((reason) => `  ${reason}`),
    ...(damage.length > NAMED_MAX ? [`  and ${countText(damage.length - NAMED_MAX)} more`] : []),
  ].join('\n');
}

function assetRow(asset: AssetContents, nowSeconds: number): string[] {
  const { symbol, signatureType, state = '-', inputs, newestSecond, firstDaySecond } = asset;
  const age =
    newestSecond === undefined
      ? '-'
      : `${countText(Math.max(0, Math.round(nowSeconds - newestSecond)))} s ago`;
  const since = firstDaySecond === undefined ? '-' : timeText(firstDaySecond).slice(0, 'YYYY-MM-DD'.length);
  return [
    signatureType === DEFAULT_SIGNATURE_TYPE ? symbol : `${symbol} ${signatureType}`,
    state,
    age,
    countText(inputs),
    since,
  ];
}

function timeText(second: number | undefined): string {
  return second === undefined ? 'no time' : new Date(second * 1000).toISOString().replace('.000Z', 'Z');
}

/** Aligns the first column left and the other columns right. */
function alignedRows(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join('  ')
      .trimEnd(),
  );
}

function countText(value: number): string {
  return value.toLocaleString('en');
}

/** Returns a size in decimal units, which vendors of disks use too. */
export function bytesText(bytes: number): string {
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}
