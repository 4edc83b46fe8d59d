import { foreignText, serviceWords } from '../../wire/foreign_text.js';
import {
  CHANNEL_INTERVALS_MS,
  type Channel,
  DEFAULT_CHANNEL,
  type MessageType,
  PONG_TYPE,
  TAXONOMY_TYPE,
} from '../../wire/stream.js';
import { STREAM_PATH } from '../../wire/stream_paths.js';
import { scheduleTimeout } from '../connect/platform.js';
import { type ConnectionOptions, ReconnectingSocket } from '../connect/reconnecting_socket.js';
import { type ErrorReply, type Frame, parseFrame, type SubscriptionReply } from './frame.js';

/** The options of a subscriber to frames. */
export interface SubscriberOptions extends ConnectionOptions {
  /** The interval of the frames. Default: `real_time`. */
  readonly channel?: Channel | undefined;
  /** The type of the frames. Default: `unsigned`. */
  readonly messageType?: MessageType | undefined;
  /** Further attributes of each asset; `ms` is the market status. Default: none. */
  readonly addtlAttrs?: readonly string[] | undefined;
  /** Called with each frame. The frame is not verified. */
  readonly onFrame: (frame: Frame) => void;
  /** Called after a lost connection is back and the service has confirmed the former subscriptions. */
  readonly onResubscribed?: ((assets: readonly number[]) => void) | undefined;
  /**
   * Called with the former IDs of subscribed assets that ended, and the present IDs of assets that returned. Also called when IDs of
   * subscribed assets mean other assets from the next frame on.
   */
  readonly onTaxonomyChange?: ((ended: readonly number[], returned: readonly number[]) => void) | undefined;
  /** Called with an error message that answers no request of this client, or with a report of an unreadable frame. */
  readonly onError?: ((error: string) => void) | undefined;
}

/** The answer to a subscribe or unsubscribe request. */
export type SubscriptionResult =
  | {
      /** `true` when the service accepted the request. */
      readonly ok: true;
      /** The IDs of all assets that are subscribed now. */
      readonly assets: readonly number[];
      /** The unknown IDs in the request. */
      readonly invalid: readonly number[];
    }
  | {
      readonly ok: false;
      /** The service's reason, or the loss of the connection. */
      readonly error: string;
    };

/** The silence after which a connection of `real_time` is probed. This channel sends no frames at fixed times. */
const REAL_TIME_QUIET_MS = 2_000;
const QUIET_MS_MIN = 1_000;
const LATE_FRAME_MS = 500;
/** The ID of the request that subscribes again. The IDs of other requests count from 1. */
const RESUBSCRIBE_ID = 0;
/**
 * The delay after the service refused to subscribe again. A reason may be that all connections of a token reconnect at once
 * and exceed the token's changes per second.
 */
const RESUBSCRIBE_DELAY_MS = 2_000;

/** Receiver of a stream of prices on a WebSocket that reconnects and subscribes again. */
export class Subscriber {
  readonly #socket: ReconnectingSocket;
  readonly #options: SubscriberOptions;
  readonly #requests = new Map<number, (result: SubscriptionResult) => void>();
  #lastRequestId = 0;
  #assets: readonly number[] = [];
  #cancelRetry: () => void = () => {};

  /** Connects immediately. */
  constructor(options: SubscriberOptions) {
    this.#options = options;
    const path = STREAM_PATH + queryOf(options);
    this.#socket = new ReconnectingSocket(path, quietMsOf(options.channel), options, {
      onOpen: () => this.#resubscribe(this.#assets),
      onText: (text) => this.#read(text),
      onDown: ({ reason }) => {
        this.#cancelRetry();
        for (const id of [...this.#requests.keys()]) this.#settle(id, { ok: false, error: reason });
      },
    });
  }

  /** The asset IDs that the service last confirmed, without the IDs that have ended since then. */
  get assets(): readonly number[] {
    return this.#assets;
  }

  /** `true` while there is a connection. */
  get isOpen(): boolean {
    return this.#socket.isOpen;
  }

  /**
   * Waits until a connection is up.
   * @throws Error when no connection will follow
   */
  opened(): Promise<void> {
    return this.#socket.opened();
  }

  /**
   * Waits for a connection, and then adds asset IDs.
   * @param ignoreInvalid `true` adds the IDs that the service knows; `false`, the default, adds all IDs or none
   */
  subscribe(assets: readonly number[], ignoreInvalid = false): Promise<SubscriptionResult> {
    return this.#request({ type: 'subscribe', assets, ...(ignoreInvalid && { ignore_invalid: true }) });
  }

  /** Removes asset IDs, and ignores IDs that are not subscribed. */
  unsubscribe(assets: readonly number[]): Promise<SubscriptionResult> {
    return this.#request({ type: 'unsubscribe', assets });
  }

  /** Ends the connection permanently, and resolves when it is closed. */
  close(): Promise<void> {
    this.#cancelRetry();
    return this.#socket.close();
  }

  async #request(request: object): Promise<SubscriptionResult> {
    try {
      await this.#socket.opened();
    } catch (error) {
      return { ok: false, error: (error as Error).message };
    }
    this.#lastRequestId += 1;
    const id = this.#lastRequestId;
    if (!this.#socket.send(JSON.stringify({ ...request, id })))
      return { ok: false, error: 'the connection was lost' };
    return new Promise((resolve) => this.#requests.set(id, resolve));
  }

  /** Subscribes again. An asset that has left the catalogue must not affect the others. */
  #resubscribe(assets: readonly number[]): void {
    if (assets.length === 0) return;
    const request = { type: 'subscribe', assets, ignore_invalid: true, id: RESUBSCRIBE_ID };
    this.#socket.send(JSON.stringify(request));
  }

  #resubscribeLater(assets: readonly number[]): void {
    const { schedule = scheduleTimeout } = this.#options;
    this.#cancelRetry = schedule(() => this.#resubscribe(assets), RESUBSCRIBE_DELAY_MS);
  }

  #read(text: string): void {
    const frame = parseFrame(text);
    if (frame === undefined) this.#options.onError?.(`unreadable frame: ${foreignText(text)}`);
    else if (frame.type === PONG_TYPE) return;
    else if (frame.type === TAXONOMY_TYPE) {
      const { ended, returned } = frame;
      this.#assets = [...this.#assets.filter((id) => !ended.includes(id)), ...returned];
      this.#options.onTaxonomyChange?.(ended, returned);
    } else if (frame.type === 'unsigned' || frame.type === 'signed_ecdsa') this.#options.onFrame(frame);
    else this.#readReply(frame);
  }

  #readReply(reply: SubscriptionReply | ErrorReply): void {
    const id = typeof reply.id === 'number' ? reply.id : -1;
    if (reply.type !== 'error') {
      this.#assets = reply.assets;
      if (id === RESUBSCRIBE_ID) this.#options.onResubscribed?.(reply.assets);
      else this.#settle(id, { ok: true, assets: reply.assets, invalid: reply.invalid });
    } else if (!this.#settle(id, { ok: false, error: serviceWords(reply.error) })) {
      if (id === RESUBSCRIBE_ID) this.#resubscribeLater(this.#assets);
      this.#options.onError?.(serviceWords(reply.error));
    }
  }

  #settle(id: number, result: SubscriptionResult): boolean {
    const settle = this.#requests.get(id);
    this.#requests.delete(id);
    settle?.(result);
    return settle !== undefined;
  }
}

/**
 * Returns the silence after which the connection is probed. On a fixed channel the silence lasts several frames, because all assets may be
 * without a price.
 */
function quietMsOf(channel: Channel = DEFAULT_CHANNEL): number {
  const intervalMs = CHANNEL_INTERVALS_MS[channel];
  if (intervalMs === undefined) return REAL_TIME_QUIET_MS;
  return Math.max(QUIET_MS_MIN, 2 * intervalMs + LATE_FRAME_MS);
}

function queryOf({ channel, messageType, addtlAttrs }: SubscriberOptions): string {
  const parameters = [
    ['channel', channel],
    ['message_type', messageType],
    ['addtl_attrs', addtlAttrs?.join(',')],
  ].filter(([, value]) => value !== undefined && value !== '');
  const query = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value!)}`).join('&');
  return query === '' ? '' : `?${query.replaceAll('%2C', ',')}`;
}
