import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AssetName } from '../../model/asset_map.js';
import { SIGNATURE_TYPES } from '../../wire/signatures.js';
import type { MappedAsset } from '../../wire/taxonomy_statement.js';
import { flushToDisk, systemReason } from './data_folder.js';

/** The file of a data folder with every meaning that a streaming ID has had. */
export const IDS_FILE = 'streaming_ids.txt';
/** The largest number of meanings, for about 15 full lists of IDs. */
const MEANINGS_MAX = 1_000_000;

/** The version of the list. */
export const IDS_FORMAT = 1;
const TITLE = '# tickseal streaming IDs, format ';
const HEAD = `${TITLE}${IDS_FORMAT}
# Each line: taxonomy ID, streaming ID, signature type, symbol. The service adds lines and never changes or removes one.
`;
const LAST = /^# (\d+) lines, SHA-256 ([0-9a-f]{64})$/;
const LINE = /^(\d{1,5}) (\d{1,5}) (\S+) (\S+)$/u;

/** A streaming ID with two meanings. */
export interface ChangedId {
  /** The place of the asset in its list. */
  readonly at: number;
  readonly asset: MappedAsset;
  /** The earlier meaning. */
  readonly before: AssetName;
}

/** Returns the name and the signature type of an asset for an error. */
export function meaningText({ symbol, signatureType }: AssetName): string {
  return `${symbol} (${signatureType})`;
}

/**
 * Every meaning that a streaming ID has had, by taxonomy ID. Payloads sign IDs and not symbols, so an ID never gets another meaning under
 * the same taxonomy ID. The list is a text file in the data folder.
 */
export class StreamingIds {
  readonly #dir: string;
  readonly #meanings: Map<number, Map<number, AssetName>>;

  private constructor(dir: string, meanings: Map<number, Map<number, AssetName>>) {
    this.#dir = dir;
    this.#meanings = meanings;
  }

  /**
   * Reads the list of a data folder. A folder without a list has no meanings yet.
   * @throws Error with a message of one sentence when the list is damaged
   */
  static read(dir: string): StreamingIds {
    const file = join(dir, IDS_FILE);
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new StreamingIds(dir, new Map());
      throw new Error(`${file} cannot be read: ${systemReason(error)}`, { cause: error });
    }
    const format = new RegExp(`^${TITLE}(\\d+)\n`).exec(text)?.[1];
    if (format !== undefined && Number(format) !== IDS_FORMAT)
      throw new Error(
        `${file} has format ${format}, and this version of tickseal reads format ${IDS_FORMAT}: use a version that reads format ${format}`,
      );
    const read = readMeanings(text);
    if (typeof read !== 'string') return new StreamingIds(dir, read);
    throw new Error(
      `${file} is damaged (${read}): restore it from a backup, or raise service.taxonomy_id and remove it, because nobody knows any more what the IDs have meant`,
    );
  }

  /** The number of meanings. */
  get size(): number {
    return [...this.#meanings.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Returns the assets whose IDs have had another meaning under this taxonomy ID. */
  changedBy(taxonomyId: number, assets: readonly MappedAsset[]): ChangedId[] {
    const known = this.#meanings.get(taxonomyId);
    return assets.flatMap((asset, at): ChangedId[] => {
      const before = known?.get(asset.id);
      return before === undefined || isSame(before, asset) ? [] : [{ at, asset, before }];
    });
  }

  /**
   * Adds the meanings of these IDs, and writes them to disk if one is new. No asset is in {@link changedBy}.
   * @throws Error with a message of one sentence when the file cannot be written; nothing has then changed
   */
  add(taxonomyId: number, assets: readonly MappedAsset[]): void {
    const known = this.#meanings.get(taxonomyId);
    const fresh = assets.filter(({ id }) => known?.has(id) !== true);
    if (fresh.length === 0) return;
    const after = new Map(known);
    for (const { id, symbol, signatureType } of fresh) after.set(id, { symbol, signatureType });
    const meanings = new Map(this.#meanings).set(taxonomyId, after);
    this.#write(meanings);
    this.#meanings.set(taxonomyId, after);
  }

  #write(meanings: ReadonlyMap<number, ReadonlyMap<number, AssetName>>): void {
    const file = join(this.#dir, IDS_FILE);
    const unfinished = `${file}.unfinished`;
    try {
      writeFileSync(unfinished, textOf(meanings), { mode: 0o600, flush: true });
      renameSync(unfinished, file);
      flushToDisk(this.#dir);
    } catch (error) {
      throw new Error(`${file} cannot be written: ${systemReason(error)}`, { cause: error });
    }
  }
}

function isSame(one: AssetName, other: AssetName): boolean {
  return one.symbol === other.symbol && one.signatureType === other.signatureType;
}

function textOf(meanings: ReadonlyMap<number, ReadonlyMap<number, AssetName>>): string {
  const lines = sortedById(meanings).flatMap(([taxonomyId, byId]) =>
    sortedById(byId).map(
      ([id, { symbol, signatureType }]) => `${taxonomyId} ${id} ${signatureType} ${symbol}\n`,
    ),
  );
  if (lines.length > MEANINGS_MAX) throw new Error(`it would have more than ${MEANINGS_MAX} lines`);
  const body = lines.join('');
  return `${HEAD}${body}# ${lines.length} lines, SHA-256 ${sha256Hex(body)}\n`;
}

function sortedById<Value>(map: ReadonlyMap<number, Value>): [number, Value][] {
  return [...map].sort(([a], [b]) => a - b);
}

/** Returns the meanings in a file's text, or the damage in a few words. */
function readMeanings(text: string): Map<number, Map<number, AssetName>> | string {
  if (!text.startsWith(HEAD)) return 'its first two lines are not those of a list';
  const end = text.lastIndexOf('\n', text.length - 2) + 1;
  const [, count, hash] = LAST.exec(text.slice(end, -1)) ?? [];
  const body = text.slice(HEAD.length, end);
  if (count === undefined) return 'its last line is missing';
  if (sha256Hex(body) !== hash) return 'its lines do not have the SHA-256 of its last line';
  const meanings = new Map<number, Map<number, AssetName>>();
  for (const line of body.split('\n').slice(0, -1)) {
    const [, taxonomyId, id, type, symbol] = LINE.exec(line) ?? [];
    const signatureType = SIGNATURE_TYPES.find((known) => known === type);
    if (signatureType === undefined || symbol === undefined) return `the line "${line.slice(0, 100)}"`;
    const byId = meanings.get(Number(taxonomyId)) ?? new Map<number, AssetName>();
    meanings.set(Number(taxonomyId), byId.set(Number(id), { symbol, signatureType }));
  }
  return meanings;
}

function sha256Hex(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
