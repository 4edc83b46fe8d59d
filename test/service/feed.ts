import { type PriceUpdate, publishMessage } from '../../src/client/index.js';
import type { SignatureType } from '../../src/model/asset.js';
import { PRICE_SCALE, type Price } from '../../src/model/price.js';
import { publisherSigner, type TestService, TestSocket, TOKEN } from './harness.js';

let lastNs = 0n;

/**
 * Returns the time of this machine's clock. Each call returns a different time, because the service refuses a second update with
 * the same time.
 */
export function distinctNowNs(): bigint {
  const nowNs = BigInt(Date.now()) * 1_000_000n;
  lastNs = nowNs > lastNs ? nowNs : lastNs + 1n;
  return lastNs;
}

/** Returns a whole number of currency units as a price. */
export function units(count: number): Price {
  return (BigInt(count) * PRICE_SCALE) as Price;
}

export interface Quote {
  readonly symbol: string;
  readonly price: Price;
  /** The number of the publisher. Default: 1. */
  readonly publisher?: number;
  /** The time of the quote. Default: the clock's time. */
  readonly timestampNs?: bigint;
}

/** A publisher socket that signs quotes and returns the service's answers. */
export class Feed {
  private constructor(
    readonly socket: TestSocket,
    readonly type: SignatureType,
    readonly nowNs: () => bigint,
  ) {}

  /** @param nowNs returns the service's time, for quotes without a time */
  static async open(
    service: Pick<TestService, 'socketUrl'>,
    {
      type = 'evm',
      token = TOKEN,
      ack = 'true',
      nowNs = distinctNowNs,
    }: { type?: SignatureType; token?: string; ack?: 'true' | 'durable'; nowNs?: () => bigint } = {},
  ): Promise<Feed> {
    const socket = await TestSocket.open(`${service.socketUrl}/${type}/publish?ack=${ack}`, token);
    return new Feed(socket, type, nowNs);
  }

  sign({ symbol, price, publisher = 1, timestampNs = this.nowNs() }: Quote): PriceUpdate {
    return publisherSigner(publisher, this.type).sign({ symbol, price, timestampNs });
  }

  /** Publishes quotes of a publisher in a single message. Returns the service's answer. */
  publish(...quotes: readonly Quote[]): Promise<Record<string, unknown>> {
    const updates = quotes.map((quote) => this.sign(quote));
    this.socket.send(publishMessage('feed', updates));
    return this.socket.nextJson();
  }

  /** Publishes quotes. @throws Error unless the service accepts all of them */
  async accept(...quotes: readonly Quote[]): Promise<void> {
    const { accepted, rejected } = await this.publish(...quotes);
    if ((accepted as unknown[]).length !== quotes.length)
      throw new Error(`not accepted: ${JSON.stringify(rejected)}`);
  }
}
