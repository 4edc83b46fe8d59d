import type { CallerName } from '../../../prices/caller_name.js';
import type { PublishRights } from '../../../prices/gate.js';
import type { PackedMessage } from '../../../prices/message.js';
import { unpackMessage } from '../../../prices/packed_message.js';
import type { PublisherSession, PublishOutcome, PublishReceiver } from '../../../prices/publisher_session.js';

export interface RemotePublishersOptions {
  readonly receiver: PublishReceiver;
  /** Returns the current rights of a caller; `undefined` when the caller no longer has any rights. */
  readonly rightsOf: (caller: CallerName) => PublishRights | undefined;
}

/**
 * The description of a publisher's connection. The thread of the connection sends the description before the
 * first message.
 */
export interface OpenedPublisher extends Pick<PublisherSession, 'type' | 'isDurable'> {
  readonly caller: CallerName;
}

/** The publishers that are connected to another thread. */
export class RemotePublishers {
  readonly #options: RemotePublishersOptions;
  readonly #sessions = new Map<number, PublisherSession & { readonly caller: CallerName }>();

  constructor(options: RemotePublishersOptions) {
    this.#options = options;
  }

  opened(session: number, { type, isDurable, caller }: OpenedPublisher): void {
    const rights = this.#options.rightsOf(caller);
    if (rights !== undefined) this.#sessions.set(session, { type, rights, isDurable, caller, unsettled: [] });
  }

  async receive(number: number, message: PackedMessage): Promise<PublishOutcome> {
    const session = this.#sessions.get(number);
    if (session === undefined || this.#options.rightsOf(session.caller) !== session.rights)
      // The rights have changed. The connection's thread closes the connection when that thread receives the change.
      return { ok: false, traceId: message.traceId, error: 'the token or key has been removed' };
    return this.#options.receiver.receive(session, unpackMessage(message));
  }

  closed(session: number): void {
    this.#sessions.delete(session);
  }
}
