import type { ThreadAnswer } from './thread_messages.js';

interface Pending {
  resolve(value: never): void;
  reject(error: Error): void;
}

/** The unanswered questions of one thread to another thread. */
export class PendingReplies {
  readonly #pending = new Map<number, Pending>();
  #count = 0;

  /**
   * Asks a question.
   * @param send sends the question with its number
   * @throws Error (as a rejection) when the other thread could not answer, or has ended
   */
  ask<T>(send: (ask: number) => void): Promise<T> {
    const ask = this.#count++;
    return new Promise<T>((resolve, reject) => {
      this.#pending.set(ask, { resolve, reject });
      send(ask);
    });
  }

  answered({ ask, value, error }: ThreadAnswer): void {
    const pending = this.#pending.get(ask);
    this.#pending.delete(ask);
    if (error === undefined) pending?.resolve(value as never);
    else pending?.reject(new Error(error));
  }

  /** Rejects all open questions, because the other thread has ended. */
  end(reason: string): void {
    for (const { reject } of this.#pending.values()) reject(new Error(reason));
    this.#pending.clear();
  }
}

/** Sends the answer to a question when the value is known. */
export function answerWith(ask: number, value: Promise<unknown>, send: (answer: ThreadAnswer) => void): void {
  value.then(
    (known) => send({ ask, value: known }),
    (error: Error) => send({ ask, error: error.message }),
  );
}

/** Collects messages for another thread and sends them together as one message. */
export class Outbox<Message> {
  readonly #post: (messages: Message[]) => void;
  readonly #defer: (send: () => void) => void;
  #messages: Message[] = [];

  /** @param defer calls back when the caller expects no more messages for now */
  constructor(post: (messages: Message[]) => void, defer: (send: () => void) => void) {
    this.#post = post;
    this.#defer = defer;
  }

  /** The last unsent message. */
  get last(): Message | undefined {
    return this.#messages.at(-1);
  }

  send(message: Message): void {
    if (this.#messages.push(message) > 1) return;
    this.#defer(() => this.flush());
  }

  flush(): void {
    const messages = this.#messages;
    this.#messages = [];
    if (messages.length > 0) this.#post(messages);
  }
}

/**
 * Returns the timing for an {@link Outbox}. The outbox sends the first message of a turn of the event loop when its callback ends, which
 * is 20 µs earlier than the end of the turn. The outbox sends the following messages together at the end of the turn.
 */
export function firstAtOnce(atEndOfTurn: (callback: () => void) => void): (send: () => void) => void {
  let hasSent = false;
  return (send) => {
    if (hasSent) {
      atEndOfTurn(send);
      return;
    }
    hasSent = true;
    queueMicrotask(send);
    atEndOfTurn(() => {
      hasSent = false;
    });
  };
}
