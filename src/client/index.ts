/** The client of a signed price data service, for Node and browsers. */

import { Client } from './client.js';
import { BROWSER } from './connect/platform.js';
import type { ClientOptions } from './prices/client_context.js';
import { StreamClient } from './prices/stream_client.js';
import { QuorumClient } from './quorum/quorum_client.js';
import type { QuorumClientOptions } from './quorum/quorum_options.js';

export type { PriceQuality } from '../wire/price_quality.js';
export type { Channel, MessageType } from '../wire/stream.js';
export type { AttributeName, AttributeValues } from '../wire/stream_attributes.js';
export { Client } from './client.js';
export {
  EquivocationError,
  LostRangeError,
  ProtocolError,
  RefusedError,
  TicksealError,
  UnknownAssetError,
  UnreachableError,
  UnsignedMappingError,
  UnverifiedError,
} from './connect/errors.js';
export type { Schedule } from './connect/liveness.js';
export type { Fetch, FetchResponse } from './connect/platform.js';
export type { ConnectionOptions, Down } from './connect/reconnecting_socket.js';
export type { OpenConnection, SocketLike } from './connect/socket_like.js';
export type {
  ClientEvents,
  ClientOptions,
  GapEvent,
  ReportEvent,
  StateEvent,
  TaxonomyEvent,
} from './prices/client_context.js';
export {
  type Frame,
  type FrameAsset,
  parseFrame,
  type SignedFrame,
  type UnsignedFrame,
} from './prices/frame.js';
export type { LogFinding, LogQuery } from './prices/log_of_service.js';
export type { LoggedEvent, LogOptions } from './prices/log_options.js';
export {
  AggregatePrice,
  type AssetQuery,
  type Candle,
  type CandleQuery,
  type MarketHours,
} from './prices/market_data.js';
export {
  PricePublisher,
  type PricesToPublish,
  type PublishOptions,
  type PublishVerdict,
} from './prices/price_publisher.js';
export type { RangeQuery } from './prices/price_range.js';
export { PriceStream, type StreamOptions } from './prices/price_stream.js';
export { Publisher, type PublisherOptions, type PublishResult, type Rejection } from './prices/publisher.js';
export { StreamClient } from './prices/stream_client.js';
export { Subscriber, type SubscriberOptions, type SubscriptionResult } from './prices/subscriber.js';
export type { ServiceSigner, StreamedType, Taxonomy, TaxonomyAsset } from './prices/taxonomy.js';
export { type MarketStatusName, Tick } from './prices/tick.js';
export { QuorumClient, type QuorumEvents } from './quorum/quorum_client.js';
export type { QuorumClientOptions, QuorumOperator, QuorumOptions } from './quorum/quorum_options.js';
export { NoQuorumError } from './quorum/quorum_request.js';
export { QuorumStream, type QuorumStreamOptions } from './quorum/quorum_stream.js';
export { type NoQuorumEvent, type OperatorVote, QuorumTick, type VoteVerdict } from './quorum/quorum_tick.js';
export type { PriceCurves } from './sign/price_curves.js';
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
} from './sign/sign_price.js';
export { type AggregateForm, readAggregate } from './verify/aggregate_form.js';
export type { Check, PassedVerdict, SignerSource, Signers, Verdict } from './verify/checks.js';
export { formatDecimalPrice, parseDecimalPrice } from './verify/decimal_price.js';
export { decodePayload, type Payload, type PayloadAsset } from './verify/decode_payload.js';
export { parseExactJson, writeExactJson } from './verify/exact_json.js';
export { type AggregateExpectations, verifyAggregate } from './verify/verify_aggregate.js';
export { type PayloadExpectations, type PayloadReport, verifyPayload } from './verify/verify_payload.js';
export {
  type AggregateReport,
  type SignedPriceExpectations,
  verifySignedPrice,
} from './verify/verify_signed_price.js';

/**
 * Makes a client of one or more services, or with `quorum` a client that compares the prices of several operators. In a browser
 * the client logs in to each WebSocket with a ticket, and verifies many payloads in a Web Worker. In Node it logs in with the header
 * `Authorization`, so it can publish.
 * @throws TypeError or RangeError for wrong options
 */
export function createClient(options: ClientOptions): Client;
export function createClient(options: QuorumClientOptions): QuorumClient;
export function createClient(options: ClientOptions | QuorumClientOptions): Client | QuorumClient {
  return 'quorum' in options ? new QuorumClient(options, BROWSER) : new Client(options, BROWSER);
}

/**
 * Makes a client that only streams. In a bundle this function has half the size of {@link createClient}.
 * @throws TypeError or RangeError for wrong options
 */
export function createStreamClient(options: ClientOptions): StreamClient {
  return new StreamClient(options, BROWSER);
}
