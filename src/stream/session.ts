import type { AssetIndex } from '../model/asset.js';
import type { Group } from './group.js';
import type { StreamOptions } from './options.js';

/** What the engine needs of a WebSocket. Frames are text; the bytes are only valid during the call. */
export interface StreamConnection {
  send(frame: Uint8Array | string): void;
  join(topic: string): void;
  leave(topic: string): void;
  /** Bytes that the socket has not yet taken. */
  bufferedBytes(): number;
  close(code: number, reason: string): void;
}

/** What the token of a connection allows it to see. */
export interface StreamRights {
  maySee(symbol: string): boolean;
}

/** One streaming connection. */
export class StreamSession {
  /** Ascending by streaming ID. */
  assets: readonly AssetIndex[] = [];
  group: Group | undefined;
  /** `real_time`: what changed up to this price sequence has been sent. */
  sequence = 0;
  /** `real_time`: newly subscribed assets, due whether they changed or not. */
  readonly fresh = new Set<AssetIndex>();
  /** When the last frame that was made for this connection alone left. */
  lastFrameNs = 0n;
  /** Set while the socket does not take what it is sent. */
  lag: Lag | undefined;
  badMessages = 0;
  /** Control messages left in the current second. */
  controlMessagesLeft = 0;
  controlSecond = 0n;

  constructor(
    readonly connection: StreamConnection,
    readonly options: StreamOptions,
    readonly rights: StreamRights,
  ) {}
}

export interface Lag {
  /** Bytes that were waiting when it was last looked at. */
  bufferedBytes: number;
  /** When it last took any of them. */
  progressNs: bigint;
}
