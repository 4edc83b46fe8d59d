import type { Connection, ConnectionEvents, ConnectionOwner } from '../connections/connection.js';
import type { Member, Topics } from '../uws/topics.js';
import type { ThreadCommand } from './thread_messages.js';

/** A socket of a serving thread, for the service like one of its own thread. */
export class RemoteConnection implements Connection, Member {
  owner: ConnectionOwner | undefined;
  ownerPlace = 0;
  topicPlace = 0;
  joinedAtSequence = 0;
  events!: ConnectionEvents;
  #topic: number | undefined;
  #open = true;

  constructor(
    readonly id: number,
    readonly topics: Topics<RemoteConnection>,
    readonly order: (command: ThreadCommand) => void,
    readonly onEnded: () => void,
  ) {}

  send(frame: Uint8Array | string): void {
    if (!this.#open) return;
    const text = typeof frame === 'string' ? frame : asciiText(frame);
    this.order({ do: 'send', socket: this.id, text });
  }

  join(topic: number, sequence: number): void {
    if (!this.#open) return;
    this.#topic = topic;
    this.topics.join(topic, this, sequence);
    this.order({ do: 'join', socket: this.id, topic, sequence });
  }

  leave(topic: number): void {
    if (!this.#open || this.#topic !== topic) return;
    this.#topic = undefined;
    this.topics.leave(topic, this);
    this.order({ do: 'leave', socket: this.id, topic });
  }

  /** It counts as closed at once, as on the thread of its own. */
  close(code: number, reason: string): void {
    if (!this.#open) return;
    this.order({ do: 'close', socket: this.id, code, reason });
    this.ended();
  }

  ended(): void {
    this.#open = false;
    if (this.#topic !== undefined) this.topics.leave(this.#topic, this);
    this.onEnded();
    this.owner?.closed(this);
    this.events.closed();
  }
}

/** Frames are ASCII. */
function asciiText({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
}
