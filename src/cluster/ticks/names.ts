import { Builder } from 'flatbuffers';
import type { AssetName } from '../../model/asset_map.js';
import { SIGNATURE_TYPES } from '../../wire/signatures.js';
import { Names as NamesTable } from '../generated/wire.js';
import { countInside, fieldInside, readMessage, UnreadableMessage } from '../unreadable.js';
import type { IdentifiedAsset } from './id_mapping.js';

/** A page ends with the asset that reaches this size. */
const PAGE_BYTES = 256 * 1024;
/** What an asset takes beside its symbol, at most. */
const ASSET_BYTES = 16;
const ID_MAX = 0xffff;

/** A part of what streaming IDs mean on a leader: all of it may be larger than a message. */
export interface NamesPage {
  /** Ascending by ID. */
  readonly assets: readonly IdentifiedAsset[];
  readonly isLast: boolean;
}

/** Asks for the assets from this streaming ID on. */
export function encodeNamesQuery(firstId: number): Uint8Array {
  return Uint8Array.of(firstId >> 8, firstId & 0xff);
}

/** Answers what {@link encodeNamesQuery} asks. @param assets ascending by ID */
export function answerNames(query: Uint8Array, assets: readonly IdentifiedAsset[]): Uint8Array {
  const firstId = ((query[0] ?? 0) << 8) | (query[1] ?? 0);
  const page: IdentifiedAsset[] = [];
  let bytes = 0;
  for (const asset of assets) {
    if (asset.id < firstId) continue;
    if (bytes >= PAGE_BYTES) return encodeNames({ assets: page, isLast: false });
    page.push(asset);
    bytes += ASSET_BYTES + 3 * asset.symbol.length;
  }
  return encodeNames({ assets: page, isLast: true });
}

/** Scratch space, empty between calls. */
const builder = new Builder(4_096);

export function encodeNames({ assets, isLast }: NamesPage): Uint8Array {
  builder.clear();
  const symbols = assets.map(({ symbol }) => builder.createString(symbol));
  const symbolsAt = NamesTable.createSymbolsVector(builder, symbols);
  const types = assets.map(({ signatureType }) => SIGNATURE_TYPES.indexOf(signatureType));
  const typesAt = NamesTable.createSignaturesVector(builder, types);
  const ids = assets.map(({ id }) => id);
  const idsAt = NamesTable.createIdsVector(builder, ids);
  builder.finish(NamesTable.createNames(builder, idsAt, typesAt, symbolsAt, isLast));
  return new Uint8Array(builder.asUint8Array());
}

/** Reads what {@link encodeNames} wrote. @throws UnreadableMessage */
export function decodeNames(bytes: Uint8Array): NamesPage {
  return readMessage('page of names', bytes, (buffer) => {
    const table = NamesTable.getRootAsNames(buffer);
    const count = countInside(buffer, table.idsLength(), 2);
    const types = fieldInside(buffer, table.signaturesArray());
    const assets = Array.from({ length: count }, (_, i) => readAsset(table, i, types));
    return { assets, isLast: table.isLast() };
  });
}

function readAsset(table: NamesTable, place: number, types: Uint8Array): IdentifiedAsset {
  const signatureType: AssetName['signatureType'] | undefined = SIGNATURE_TYPES[types[place] ?? -1];
  const symbol = place < table.symbolsLength() ? table.symbols(place) : null;
  if (signatureType === undefined || symbol === null)
    throw new UnreadableMessage('a page of names lacks one');
  return { id: table.ids(place)!, symbol, signatureType };
}

/** The ID that follows a page; `undefined` when there can be none. */
export function nextIdAfter({ assets, isLast }: NamesPage): number | undefined {
  const last = assets.at(-1);
  return isLast || last === undefined || last.id >= ID_MAX ? undefined : last.id + 1;
}
