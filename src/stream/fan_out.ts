/** Sends frames to connections: a listener, or a thread that serves some of them. */
export interface FrameSender {
  /**
   * Sends a text frame to every connection of a topic that takes it. The bytes are only valid during the call.
   * @param sequence the price sequence of the frame
   */
  publish(topic: number, frame: Uint8Array, sequence: number): void;
}

/** Sends each frame to all senders. It is made before the first sender; senders register when they start to serve. */
export class FanOut implements FrameSender {
  #senders: readonly FrameSender[] = [];
  #topics = 0;

  /** Returns a topic on which no other group publishes. */
  newTopic(): number {
    return this.#topics++;
  }

  /** Registers a sender. @returns a function that removes it */
  register(sender: FrameSender): () => void {
    this.#senders = [...this.#senders, sender];
    return () => {
      this.#senders = this.#senders.filter((one) => one !== sender);
    };
  }

  publish(topic: number, frame: Uint8Array, sequence: number): void {
    for (const sender of this.#senders) sender.publish(topic, frame, sequence);
  }
}
