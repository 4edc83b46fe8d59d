import type { SignatureType } from '../../src/model/asset.js';
import { PUBLISH_PATHS } from '../../src/wire/paths.js';
import { TOKEN } from './catalogue.js';
import { clientFrame, openFrameSocket } from './frame_socket.js';
import { REJECTED_MESSAGE } from './updates.js';

/** A publisher's connection. */
export interface PublisherSocket {
  /** Sends frames without waiting for anything. */
  write(frames: Buffer): void;
  /**
   * Sends frames and waits until they have taken effect: nobody asks for answers, but a last message is answered
   * because it is rejected. @throws Error with the answer when the service rejects another.
   */
  settle(frames: Buffer): Promise<void>;
  close(): void;
}

/** @param onReply told of replies until something is to settle */
export async function openPublisher(
  port: number,
  signatureType: SignatureType,
  onReply = (_text: string): void => {},
): Promise<PublisherSocket> {
  let take = onReply;
  const socket = await openFrameSocket({
    port,
    path: PUBLISH_PATHS[signatureType],
    token: TOKEN,
    onFrame: (payload) => take(payload.toString()),
  });
  return {
    write: (frames) => socket.write(frames),
    settle: (frames) =>
      new Promise((resolve, reject) => {
        take = (text) => {
          if (text.includes('"rejected":{"?"')) resolve();
          else reject(new Error(text));
        };
        socket.write(Buffer.concat([frames, clientFrame(REJECTED_MESSAGE)]));
      }),
    close: () => socket.close(),
  };
}
