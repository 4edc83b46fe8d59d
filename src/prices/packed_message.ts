import { type PackedMessage, type RawUpdate, type ReadMessage, readMetadataText } from './message.js';
import { Rejections } from './rejections.js';

/** The order of an update's texts in {@link PackedMessage.content}. */
const FIELDS = [
  'symbol',
  'assetId',
  'publisherKey',
  'externalAssetId',
  'signatureType',
  'price',
  'timestamp',
  'r',
  's',
  'v',
  'msgHash',
  'metadata',
] as const satisfies readonly (keyof RawUpdate)[];

/** The fields that an update may lack. */
const OPTIONAL: ReadonlySet<string> = new Set(['v', 'metadata'] satisfies (keyof RawUpdate)[]);

type Content = [malformed: [symbol: string, reason: string][], updates: (string | null)[][]];

/** Packs a message. If the message arrived in packed form, returns this form unchanged. */
export function packMessage(message: ReadMessage): PackedMessage {
  if (message.packed !== undefined) return message.packed;
  const { traceId, length, malformed, updates } = message;
  const content: Content = [
    [...malformed],
    updates.map((update) => FIELDS.map((field) => update[field] ?? null)),
  ];
  return { traceId, length, content: JSON.stringify(content) };
}

type Inside = Pick<ReadMessage, 'malformed' | 'updates'>;

/** Unpacks a message of another thread. The content is read only when it is first used. */
export function unpackMessage(packed: PackedMessage): ReadMessage {
  return openedMessage(packed, false, unpackInside);
}

/**
 * Unpacks a message of another machine. An attacker may control that machine, so the function checks the content like a message
 * of a publisher. The checks of the gate follow, as for each update.
 * @param again true if the message was sent before
 */
export function unpackForeignMessage(packed: PackedMessage, again: boolean): ReadMessage {
  return openedMessage(packed, again, (content) => {
    try {
      return checkedInside(JSON.parse(content));
    } catch {
      return { malformed: new Map([['', UNREADABLE]]), updates: [] };
    }
  });
}

function openedMessage(
  packed: PackedMessage,
  again: boolean,
  read: (content: string) => Inside,
): ReadMessage {
  const { traceId, length, content } = packed;
  let unpacked: Inside | undefined;
  const inside = () => (unpacked ??= read(content));
  return {
    ok: true,
    traceId,
    length,
    again,
    packed,
    get malformed() {
      return inside().malformed;
    },
    get updates() {
      return inside().updates;
    },
  };
}

function unpackInside(content: string): Inside {
  const [malformed, updates] = JSON.parse(content) as Content;
  return {
    malformed: new Map(malformed),
    updates: updates.map(updateOf),
  };
}

function updateOf(texts: readonly (string | null)[]): RawUpdate {
  const [symbol, assetId, publisherKey, externalAssetId, signatureType, price, timestamp, r, s] =
    texts as string[];
  const [v, msgHash, metadata] = texts.slice(9) as [string | null, string, string | null];
  return {
    symbol: symbol!,
    assetId: assetId!,
    publisherKey: publisherKey!,
    externalAssetId: externalAssetId!,
    signatureType: signatureType!,
    price: price!,
    timestamp: timestamp!,
    r: r!,
    s: s!,
    v: v ?? undefined,
    msgHash,
    metadata: metadata ?? undefined,
  };
}

const UNREADABLE = 'the node that received the update has sent it in an unreadable form';

/** @throws TypeError when the value is not the content of a message */
function checkedInside([malformed, updates]: Content): Inside {
  const refused = new Rejections();
  for (const [symbol, reason] of malformed) refused.add(textOf(symbol), textOf(reason));
  const valid: RawUpdate[] = [];
  for (const texts of updates) {
    const update = checkedUpdate(texts);
    if (update === undefined) refused.add(textOf(texts[0]), UNREADABLE);
    else valid.push(update);
  }
  return { malformed: refused.reasons, updates: valid };
}

function checkedUpdate(texts: readonly unknown[]): RawUpdate | undefined {
  const isFit = FIELDS.every(
    (field, i) => typeof texts[i] === 'string' || (texts[i] === null && OPTIONAL.has(field)),
  );
  if (!isFit) return undefined;
  const update = updateOf(texts as (string | null)[]);
  const metadata = update.metadata === undefined ? undefined : readMetadataText(update.metadata);
  return metadata === undefined && update.metadata !== undefined ? undefined : { ...update, metadata };
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('a text of a packed message is none');
  return value;
}
