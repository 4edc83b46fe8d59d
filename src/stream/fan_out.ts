/** A sender of frames: a listener, or a thread that serves a part of the connections. */
export interface FrameSender {
  /**
   * Sends a frame to every connection of a topic that can take it. The bytes are valid only during the call.
   * @param sequence the price sequence of the frame
   * @param isBinary true for a binary message; otherwise the frame is text
   */
  publish(topic: number, frame: Uint8Array, sequence: number, isBinary: boolean): void;
}

/** Passes each frame to all senders. The fan-out exists before any sender; a sender registers when it starts to serve. */
export class FanOut implements FrameSender {
  #senders: readonly FrameSender[] = [];
  #topics = 0;

  /** Returns a topic on which no other group publishes. */
  newTopic(): number {
    return this.#topics++;
  }

  /** Registers a sender. @returns a function that removes the sender */
  register(sender: FrameSender): () => void {
    this.#senders = [...this.#senders, sender];
    return () => {
      this.#senders = this.#senders.filter((one) => one !== sender);
    };
  }

  publish(topic: number, frame: Uint8Array, sequence: number, isBinary = false): void {
    for (const sender of this.#senders) sender.publish(topic, frame, sequence, isBinary);
  }
}
