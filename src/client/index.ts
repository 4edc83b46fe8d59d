/** The client of a signed price data service, for Node and browsers. */

export type { Channel, MessageType } from '../wire/stream.js';
export type { Check, PassedVerdict, Signers, Verdict } from './checks.js';
export { formatDecimalPrice, parseDecimalPrice } from './decimal_price.js';
export { parseExactJson, writeExactJson } from './exact_json.js';
export { type Frame, type FrameAsset, parseFrame, type SignedFrame, type UnsignedFrame } from './frame.js';
export type { Schedule } from './liveness.js';
export { decodePayload, type Payload, type PayloadAsset } from './payload.js';
export type { PriceCurves } from './price_curves.js';
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
export { Subscriber, type SubscriberOptions, type SubscriptionResult } from './subscriber.js';
export { type AggregateExpectations, verifyAggregate } from './verify_aggregate.js';
export { type PayloadExpectations, type PayloadReport, verifyPayload } from './verify_payload.js';
export {
  type AggregateReport,
  type SignedPriceExpectations,
  verifySignedPrice,
} from './verify_signed_price.js';
