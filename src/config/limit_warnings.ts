import type { AddressBlock } from '../model/address.js';
import { NS_PER_MS, NS_PER_SECOND } from '../model/time.js';
import { strangersOf } from './allowed_origin.js';
import type { Problem } from './document.js';
import type { ConfigFile } from './schema.js';

/** The smallest useful limit for an update's age. The network delay and clock differences use up this time. */
const PAST_NS_MIN = 100n * NS_PER_MS;
/** The largest useful lead over the clock. Even unsynchronised clocks usually differ less. */
const FUTURE_NS_MAX = 60n * NS_PER_SECOND;
/** The shortest useful retention. The store deletes candles by whole UTC days, so with a shorter time no finished day stays complete. */
const RETENTION_NS_MIN = 86_400n * NS_PER_SECOND;
/** The `TimeoutStopSec` of the unit in scripts/deploy. */
export const UNIT_STOP_SECONDS = 30n;
/** The time that a stop needs after the sockets are closed. */
const STOP_WITHOUT_DRAIN_SECONDS = 5n;
/** The largest sensible memory for the unfinished messages of a token. */
const UNFINISHED_BYTES_MAX = 512 * 1024 * 1024;
/** The sizes of the largest blocks of private networks: 10.0.0.0/8 and fc00::/7. */
const IPV4_FREE_BITS_MAX = 24;
const IPV6_FREE_BITS_MAX = 121;

/** Finds limits and times that are valid, but so small or large that they cause harm. */
export function* limitWarnings({ listen, ingest, storage, limits }: ConfigFile): Generator<Problem> {
  for (const [index, block] of listen.trusted_proxies.entries())
    if (isPublic(block))
      yield {
        path: ['listen', 'trusted_proxies', index],
        message:
          'so large a block holds clients too, and each client could then choose its address in X-Forwarded-For, which the limits per address count; name the proxies alone',
      };
  for (const [index, origin] of listen.allowed_origins.entries()) {
    const strangers = strangersOf(origin);
    if (strangers === undefined) continue;
    const message = `this origin has ${strangers}: with a token of the user they may read prices too`;
    yield { path: ['listen', 'allowed_origins', index], message };
  }
  if (ingest.max_past < PAST_NS_MIN)
    yield {
      path: ['ingest', 'max_past'],
      message: `below ${PAST_NS_MIN / NS_PER_MS}ms most updates are refused, because they are older when they arrive`,
    };
  if (ingest.max_future > FUTURE_NS_MAX)
    yield {
      path: ['ingest', 'max_future'],
      message: `above ${FUTURE_NS_MAX / NS_PER_SECOND}s a publisher with a wrong clock blocks itself: its price counts until the time that it names, and its right prices are refused as older`,
    };
  if (storage.candle_retention < RETENTION_NS_MIN)
    yield {
      path: ['storage', 'candle_retention'],
      message:
        'below 1d the candles of a month are deleted on the first day of the next one, so charts then have less than a day',
    };
  if (limits.drain > (UNIT_STOP_SECONDS - STOP_WITHOUT_DRAIN_SECONDS) * NS_PER_SECOND)
    yield {
      path: ['limits', 'drain'],
      message: `systemd kills a process that still closes its sockets ${UNIT_STOP_SECONDS} s after the stop began, unless TimeoutStopSec of the unit is raised; ${UNIT_STOP_SECONDS - STOP_WITHOUT_DRAIN_SECONDS}s is the most that is sure to fit`,
    };
  if (limits.publish_bytes_per_second < limits.publish_message_bytes)
    yield {
      path: ['limits', 'publish_bytes_per_second'],
      message: `below publish_message_bytes (${limits.publish_message_bytes}): after one message of that size the publisher's next messages are not read for more than a second`,
    };
  const unfinishedBytes = 2 * limits.publish_message_bytes * limits.publish_connections_per_token;
  if (unfinishedBytes > UNFINISHED_BYTES_MAX)
    yield {
      path: ['limits', 'publish_connections_per_token'],
      message: `with publish_message_bytes (${limits.publish_message_bytes}) the unfinished messages of one token may take ${unfinishedBytes} bytes of memory: each connection may hold one of twice that size`,
    };
}

/** Returns whether a block is larger than any block of a private network. */
function isPublic({ first, freeBits }: AddressBlock): boolean {
  const isIpv4 = freeBits <= 32 && first >> 32n === 0xffffn;
  return freeBits > (isIpv4 ? IPV4_FREE_BITS_MAX : IPV6_FREE_BITS_MAX);
}
