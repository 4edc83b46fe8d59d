import type { PackedMessage, RawUpdate, ReadMessage } from './message.js';

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

type Content = [malformed: [symbol: string, reason: string][], updates: (string | null)[][]];

/** Packs a message. A message that was received in packed form is returned unread. */
export function packMessage(message: ReadMessage): PackedMessage {
  if (message.packed !== undefined) return message.packed;
  const { traceId, length, malformed, updates } = message;
  const content: Content = [
    [...malformed],
    updates.map((update) => FIELDS.map((field) => update[field] ?? null)),
  ];
  return { traceId, length, content: JSON.stringify(content) };
}

/** Unpacks a message. The content is read on its first use. */
export function unpackMessage(packed: PackedMessage, again = false): ReadMessage {
  const { traceId, length, content } = packed;
  let unpacked: Pick<ReadMessage, 'malformed' | 'updates'> | undefined;
  const inside = () => (unpacked ??= unpack(content));
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

function unpack(content: string): Pick<ReadMessage, 'malformed' | 'updates'> {
  const [malformed, updates] = JSON.parse(content) as Content;
  return {
    malformed: new Map(malformed),
    updates: updates.map((texts) => {
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
    }),
  };
}
