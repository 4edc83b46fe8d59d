import type { SignatureType } from '../../src/model/asset.js';
import { PUBLISH_PATHS } from '../../src/wire/paths.js';
import { TOKEN } from './config.js';
import { clientFrame, openFrameSocket } from './frame_socket.js';
import { REJECTED_MESSAGE } from './updates.js';
import { pause } from './wait.js';

/** A publisher's connection. */
export interface PublisherSocket {
  /** Sends frames without waiting. */
  write(frames: Buffer): void;
  /**
   * Sends frames, and waits until the frames have taken effect. After the frames, sends an invalid message, which the service answers.
   * @throws Error with the service's answer, when the service rejects another message; Error when the connection ends
   */
  settle(frames: Buffer): Promise<void>;
  close(): void;
}

/** @param onReply called for each reply, until {@link PublisherSocket.settle} is called */
export async function openPublisher(
  port: number,
  signatureType: SignatureType,
  onReply = (_text: string): void => {},
): Promise<PublisherSocket> {
  let take = onReply;
  let onEnd = (_error: Error): void => {};
  const socket = await openFrameSocket({
    port,
    path: PUBLISH_PATHS[signatureType],
    token: TOKEN,
    onFrame: (payload) => take(payload.toString()),
    onClose: (code) => onEnd(new Error(`the publisher's connection ended with code ${code}`)),
  });
  return {
    write: (frames) => socket.write(frames),
    settle: (frames) =>
      new Promise((resolve, reject) => {
        onEnd = reject;
        take = (text) => {
          if (text.includes('"rejected":{"?"')) resolve();
          else reject(new Error(text));
        };
        socket.write(Buffer.concat([frames, clientFrame(REJECTED_MESSAGE)]));
      }),
    close: () => socket.close(),
  };
}

/** Sends messages at an interval, for a time. @param messagesOf returns the messages of one turn */
export async function publishEvery(
  port: number,
  everyMs: number,
  forMs: number,
  messagesOf: () => readonly string[],
): Promise<void> {
  const publisher = await openPublisher(port, 'evm');
  const startMs = performance.now();
  for (let dueMs = 0; dueMs < forMs; dueMs += everyMs) {
    await pause(startMs + dueMs - performance.now());
    publisher.write(Buffer.concat(messagesOf().map(clientFrame)));
  }
  publisher.close();
}
