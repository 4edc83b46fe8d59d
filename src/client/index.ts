/** The client of a signed price data service, for Node and browsers. */

import { Client } from './client.js';
import type { ClientOptions } from './client_context.js';
import { BROWSER } from './platform.js';
import { StreamClient } from './stream_client.js';

export type { Channel, MessageType } from '../wire/stream.js';
export type { Check, PassedVerdict, Signers, Verdict } from './checks.js';
export { Client } from './client.js';
export type { ClientEvents, ClientOptions, StateEvent } from './client_context.js';
export { formatDecimalPrice, parseDecimalPrice } from './decimal_price.js';
export {
  ProtocolError,
  RefusedError,
  TicksealError,
  UnknownAssetError,
  UnreachableError,
  UnverifiedError,
} from './errors.js';
export { parseExactJson, writeExactJson } from './exact_json.js';
export { type Frame, type FrameAsset, parseFrame, type SignedFrame, type UnsignedFrame } from './frame.js';
export type { Schedule } from './liveness.js';
export {
  AggregatePrice,
  type AssetQuery,
  type Candle,
  type CandleQuery,
  type MarketHours,
} from './market_data.js';
export { decodePayload, type Payload, type PayloadAsset } from './payload.js';
export type { PriceCurves } from './price_curves.js';
export {
  PricePublisher,
  type PricesToPublish,
  type PublishOptions,
  type PublishVerdict,
} from './price_publisher.js';
export { PriceStream, type StreamOptions } from './price_stream.js';
export { Publisher, type PublisherOptions, type PublishResult, type Rejection } from './publisher.js';
export type { ConnectionOptions, Down, OpenConnection, SocketLike } from './reconnecting_socket.js';
export {
  createPriceSigner,
  type PriceSigner,
  type PriceToSign,
  type PriceUpdate,
  parseSecretKey,
  publishMessage,
  type SignedPrice,
  type SignerOptions,
  signPrice,
} from './sign_price.js';
export { StreamClient } from './stream_client.js';
export { Subscriber, type SubscriberOptions, type SubscriptionResult } from './subscriber.js';
export type { ServiceSigner, Taxonomy, TaxonomyAsset } from './taxonomy.js';
export { type MarketStatusName, Tick } from './tick.js';
export { type AggregateExpectations, verifyAggregate } from './verify_aggregate.js';
export { type PayloadExpectations, type PayloadReport, verifyPayload } from './verify_payload.js';
export {
  type AggregateReport,
  type SignedPriceExpectations,
  verifySignedPrice,
} from './verify_signed_price.js';

/**
 * Makes a client of one or more services.
 * @throws TypeError or RangeError for wrong options
 */
export function createClient(options: ClientOptions): Client {
  return new Client(options, BROWSER);
}

/**
 * Makes a client that only streams: half the size of {@link createClient} in a bundle.
 * @throws TypeError or RangeError for wrong options
 */
export function createStreamClient(options: ClientOptions): StreamClient {
  return new StreamClient(options, BROWSER);
}
