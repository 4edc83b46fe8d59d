import { Builder } from 'flatbuffers';
import type { CallerName } from '../../prices/caller_name.js';
import type { PackedMessage } from '../../prices/message.js';
import type { PublishOutcome } from '../../prices/publisher_session.js';
import { SIGNATURE_TYPES, type SignatureType } from '../../wire/signatures.js';
import { SubmitAnswer, Submit as SubmitTable } from '../generated/wire.js';
import { countInside, exactNumber, fieldInside, readMessage, UnreadableMessage } from '../unreadable.js';

/** A publisher's message on its way to the leading node. */
export interface Submit {
  /** The ID of the publisher's connection, unique in the cluster. */
  readonly session: string;
  /** The number of the message in its session. The first message has number 1. */
  readonly number: number;
  /** The number of the session's oldest unanswered message. All earlier messages have an answer. */
  readonly oldest: number;
  /** True when the node has sent the message before. The message may then already have taken effect. */
  readonly again: boolean;
  /** True when the answer must wait until the log has the message's changes. */
  readonly durable: boolean;
  readonly type: SignatureType;
  readonly caller: CallerName;
  readonly message: PackedMessage;
}

export function encodeSubmit(submit: Submit): Uint8Array {
  const { session, number, oldest, again, durable, type, caller, message } = submit;
  const builder = new Builder(message.content.length + 512);
  const contentAt = builder.createString(message.content);
  const traceAt = message.traceId === undefined ? 0 : builder.createString(message.traceId);
  const tokenAt = 'token' in caller ? builder.createString(caller.token) : 0;
  const keyAt = 'key' in caller ? builder.createByteVector(caller.key) : 0;
  const sessionAt = builder.createString(session);
  SubmitTable.startSubmit(builder);
  SubmitTable.addSession(builder, sessionAt);
  SubmitTable.addNumber(builder, BigInt(number));
  SubmitTable.addOldest(builder, BigInt(oldest));
  SubmitTable.addAgain(builder, again);
  SubmitTable.addDurable(builder, durable);
  SubmitTable.addSignature(builder, SIGNATURE_TYPES.indexOf(type));
  if (tokenAt !== 0) SubmitTable.addToken(builder, tokenAt);
  if ('key' in caller) {
    SubmitTable.addKey(builder, keyAt);
    SubmitTable.addKeySignature(builder, SIGNATURE_TYPES.indexOf(caller.signatureType));
  }
  if (traceAt !== 0) SubmitTable.addTraceId(builder, traceAt);
  SubmitTable.addLength(builder, message.length);
  SubmitTable.addContent(builder, contentAt);
  builder.finish(SubmitTable.endSubmit(builder));
  return builder.asUint8Array();
}

/**
 * Reads a message that {@link encodeSubmit} wrote.
 * @throws UnreadableMessage
 */
export function decodeSubmit(bytes: Uint8Array): Submit {
  return readMessage('message of a publisher', bytes, (buffer) => {
    const table = SubmitTable.getRootAsSubmit(buffer);
    const token = table.token();
    const key = new Uint8Array(fieldInside(buffer, table.keyArray()));
    return {
      session: table.session() ?? '',
      number: exactNumber(table.number()),
      oldest: exactNumber(table.oldest()),
      again: table.again(),
      durable: table.durable(),
      type: signatureTypeOf(table.signature()),
      caller: token === null ? { signatureType: signatureTypeOf(table.keySignature()), key } : { token },
      message: {
        traceId: table.traceId() ?? undefined,
        length: table.length(),
        content: table.content() ?? '',
      },
    };
  });
}

export function encodeOutcome(outcome: PublishOutcome): Uint8Array {
  const builder = new Builder(512);
  const texts = (list: readonly string[]) => list.map((text) => builder.createString(text));
  const acceptedAt = SubmitAnswer.createAcceptedVector(builder, texts(outcome.ok ? outcome.accepted : []));
  const rejected = outcome.ok ? [...outcome.rejected].flat() : [];
  const rejectedAt = SubmitAnswer.createRejectedVector(builder, texts(rejected));
  const errorAt = outcome.ok ? 0 : builder.createString(outcome.error);
  const traceAt = outcome.traceId === undefined ? 0 : builder.createString(outcome.traceId);
  SubmitAnswer.startSubmitAnswer(builder);
  SubmitAnswer.addOk(builder, outcome.ok);
  if (traceAt !== 0) SubmitAnswer.addTraceId(builder, traceAt);
  if (errorAt !== 0) SubmitAnswer.addError(builder, errorAt);
  SubmitAnswer.addAccepted(builder, acceptedAt);
  SubmitAnswer.addRejected(builder, rejectedAt);
  SubmitAnswer.addMemory(builder, outcome.ok && outcome.durable === 'memory');
  builder.finish(SubmitAnswer.endSubmitAnswer(builder));
  return builder.asUint8Array();
}

/**
 * Reads an outcome that {@link encodeOutcome} wrote.
 * @throws UnreadableMessage
 */
export function decodeOutcome(bytes: Uint8Array): PublishOutcome {
  return readMessage('answer to a publisher', bytes, (buffer) => {
    const answer = SubmitAnswer.getRootAsSubmitAnswer(buffer);
    const traceId = answer.traceId() ?? undefined;
    if (!answer.ok()) return { ok: false, traceId, error: answer.error() ?? 'refused' };
    const accepted = countInside(buffer, answer.acceptedLength(), 4);
    const rejected = countInside(buffer, answer.rejectedLength(), 4) / 2;
    return {
      ok: true,
      traceId,
      accepted: Array.from({ length: accepted }, (_, i) => answer.accepted(i)),
      rejected: new Map(
        Array.from({ length: rejected }, (_, i) => [answer.rejected(2 * i), answer.rejected(2 * i + 1)]),
      ),
      ...(answer.memory() && { durable: 'memory' }),
    };
  });
}

function signatureTypeOf(code: number): SignatureType {
  const type = SIGNATURE_TYPES[code];
  if (type === undefined) throw new UnreadableMessage('a message of a publisher has no type of signature');
  return type;
}
