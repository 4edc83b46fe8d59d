import type { z } from 'zod';
import type { Asset, ListedPublisher, SignatureType } from '../../model/asset.js';
import { parseHex } from '../../model/hex.js';
import { PUBLISH_PATHS, REST_PATHS } from '../../wire/paths.js';
import type { PublisherLogin } from '../access/publisher_login_check.js';
import { loginRoute, type Route } from '../rest/route.js';
import { brokers, hex, publisherMetadataAnswer } from '../schemas/value_schemas.js';

export interface PublisherRouteOptions {
  /** Assets in the order of the configuration. */
  readonly listed: readonly Asset[];
  readonly publisherByKey: (type: SignatureType, key: Buffer) => ListedPublisher | undefined;
  /** Returns `service.public_url`, or the address on which the service listens, without a slash at the end. */
  readonly publicUrl: () => string;
  /** Called when a publisher has sent metadata about itself. */
  readonly onPublisherMetadata: (about: PublisherMetadata) => void;
}

export interface PublisherMetadata {
  readonly publisher: string;
  /** The length of the metadata in UTF-16 code units. */
  readonly length: number;
  /** The beginning of the metadata. A question mark replaces every character that is not printable ASCII. */
  readonly excerpt: string;
}

const EXCERPT_LENGTH_MAX = 256;

/** Makes the routes that publisher agents request, except their sockets. The agents expect answers without the usual wrapper. */
export function publisherRoutes(options: PublisherRouteOptions): [string, Route][] {
  const { listed, publisherByKey, publicUrl, onPublisherMetadata } = options;
  return [
    [
      REST_PATHS.brokers,
      loginRoute({
        method: 'GET',
        summary:
          'Where a publisher sends its prices, and of which assets: those with its signature type that it may publish',
        parameters: {
          publisher_key: {
            description: 'The key that logs in, as in X-Public-Key',
            required: true,
            schema: hex,
          },
        },
        response: brokers,
        raw: 'application/json',
        handle({ publisher_key: text }, login) {
          if (!isKeyOf(login, text))
            return { status: 403, error: 'publisher_key is not that of X-Public-Key' };
          const publisher = publisherByKey(login.signatureType, login.key);
          const symbols = listed
            .filter((asset) => publisher !== undefined && mayPublish(publisher, asset))
            .map(({ symbol }) => symbol);
          const publishUrl = publicUrl() + PUBLISH_PATHS[login.signatureType];
          const answer = symbols.length === 0 ? [] : [{ publish_url: publishUrl, asset_ids: symbols }];
          return { data: JSON.stringify(answer satisfies z.infer<typeof brokers>) };
        },
      }),
    ],
    [
      REST_PATHS.publisherMetadata,
      loginRoute({
        method: 'POST',
        summary: 'Takes what a publisher says about itself; a line of the log is all that is made of it',
        response: publisherMetadataAnswer,
        raw: 'application/json',
        handle(_values, login, body) {
          const excerpt = body.slice(0, EXCERPT_LENGTH_MAX).replace(/[^\x20-\x7e]/g, '?');
          onPublisherMetadata({ publisher: login.name, length: body.length, excerpt });
          return { data: '{}' };
        },
      }),
    ],
  ];
}

/** Compares keys as numbers, because agents omit leading zeros and write hex in upper or lower case. */
function isKeyOf({ key }: PublisherLogin, text: string): boolean {
  return parseHex(text, key.length)?.equals(key) ?? false;
}

function mayPublish({ signatureType, assets }: ListedPublisher, asset: Asset): boolean {
  return asset.signatureType === signatureType && (assets.has('*') || assets.has(asset.symbol));
}
