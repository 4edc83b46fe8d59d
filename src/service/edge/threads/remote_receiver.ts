import { SharedRoom } from '../../../model/shared_room.js';
import type { ReadMessage } from '../../../prices/message.js';
import { packMessage } from '../../../prices/packed_message.js';
import {
  type PublisherSession,
  type PublishOutcome,
  type PublishReceiver,
  TOO_MANY_WAIT,
} from '../../../prices/publisher_session.js';
import { callerNameOf } from '../../../server/access/caller_rights.js';
import type { Outbox, PendingReplies } from './pending_replies.js';
import type { ThreadEvent } from './thread_messages.js';

/** The largest total size of the messages, of all callers, that the main thread has not answered yet. */
const UNANSWERED_BYTES_MAX = 16 * 1024 * 1024;
/** The fixed size that counts for each message in addition to its text. */
const MESSAGE_BYTES = 256;

/**
 * Passes the messages of publishers to the main thread, in order. {@link SharedRoom} limits the unanswered messages on the main thread.
 * This thread refuses further messages, so a refusal costs the main thread nothing.
 */
export class RemoteReceiver implements PublishReceiver {
  readonly #events: Outbox<ThreadEvent>;
  readonly #replies: PendingReplies;
  readonly #sessions = new WeakMap<PublisherSession, number>();
  readonly #unanswered = new SharedRoom(UNANSWERED_BYTES_MAX);
  #sessionCount = 0;

  constructor(events: Outbox<ThreadEvent>, replies: PendingReplies) {
    this.#events = events;
    this.#replies = replies;
  }

  receive(session: PublisherSession, message: ReadMessage): PublishOutcome | Promise<PublishOutcome> {
    const { identity } = session.rights;
    const bytes = MESSAGE_BYTES + message.length;
    if (!this.#unanswered.hasRoom(identity, bytes))
      return { ok: false, traceId: message.traceId, error: TOO_MANY_WAIT };
    this.#unanswered.add(identity, bytes);
    return this.#replies
      .ask<PublishOutcome>((ask) =>
        this.#events.send({
          on: 'publish',
          ask,
          session: this.#numberOf(session),
          message: packMessage(message),
        }),
      )
      .finally(() => this.#unanswered.add(identity, -bytes));
  }

  closed(session: PublisherSession): void {
    const number = this.#sessions.get(session);
    if (number !== undefined) this.#events.send({ on: 'publisherClosed', session: number });
  }

  /**
   * Returns the number of a session. The main thread receives a session together with the session's first
   * message.
   */
  #numberOf(session: PublisherSession): number {
    let number = this.#sessions.get(session);
    if (number === undefined) {
      number = this.#sessionCount++;
      this.#sessions.set(session, number);
      const { type, isDurable } = session;
      const caller = callerNameOf(session);
      this.#events.send({ on: 'publisher', session: number, type, isDurable, caller });
    }
    return number;
  }
}
