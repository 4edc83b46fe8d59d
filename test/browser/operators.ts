import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { pause } from '../../scripts/load/wait.js';
import { Feed, units } from '../service/feed.js';
import { sha256, startTestService, type TestService } from '../service/harness.js';

// Services of several operators, for tests of the page that compares them.

const PUBLISH_MS = 300;
const SYMBOLS = ['BTCUSD', 'ETHUSD'];
/** Prices on which honest operators agree. */
export const HONEST = { BTCUSD: 95_000, ETHUSD: 2_000 };
/** Five percent above the honest prices. */
export const LIE = { BTCUSD: 99_750, ETHUSD: 2_100 };

/** A service of an operator, with its own keys, streaming IDs and token. */
export interface Operator {
  readonly service: TestService;
  readonly token: string;
  prices: Readonly<Record<string, number>>;
  stop(): Promise<void>;
  isStopped(): boolean;
}

/** Returns the key with which an operator signs. */
export function operatorKey(n: number): Buffer<ArrayBuffer> {
  return Buffer.alloc(32, 0x21 + n);
}

/** Starts the service of an operator, which publishes its prices until the test ends. @param n the number of the operator, from 0 */
export async function startOperator(
  t: Test,
  n: number,
  listen: object,
  prices: Operator['prices'],
): Promise<Operator> {
  const token = `token-of-operator-${n}`;
  const scopes = ['rest', 'stream', 'publish'];
  const sections = {
    listen: { port: 0, ...listen },
    service: { taxonomy_id: 10 + n },
    tokens: [{ name: 'reader', sha256: sha256(token), scopes, requests_per_second: 1_000 }],
    assets: SYMBOLS.map((symbol, i) => ({ id: 10 * (n + 1) + i, symbol })),
  };
  const keys = { evm: operatorKey(n), stark: Buffer.alloc(32, 0x01) };
  const service = await startTestService(t, sections, { keys });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= service.stop();
    return stopped;
  };
  t.teardown(stop);
  const operator = { service, token, prices, stop, isStopped: () => stopped !== undefined };
  await publishPrices(t, operator);
  return operator;
}

/**
 * Publishes an operator's prices until its service stops, one message after the other. After a lost connection or a refusal, opens the
 * publisher's connection again, because a page that waits for prices would wait in vain.
 */
async function publishPrices(t: Test, operator: Operator): Promise<void> {
  let feed = await openFeed(operator);
  const publish = () =>
    feed.accept(...SYMBOLS.map((symbol) => ({ symbol, price: units(operator.prices[symbol]!) })));
  await publish();
  let isEnded = false;
  t.teardown(() => {
    isEnded = true;
  });
  void (async () => {
    while (!isEnded && !operator.isStopped()) {
      await pause(PUBLISH_MS);
      try {
        await Promise.race([publish(), feed.socket.closed.then(() => Promise.reject(new Error('closed')))]);
      } catch (error) {
        if (isEnded || operator.isStopped()) return;
        t.comment(`publishes again after: ${(error as Error).message}`);
        feed = await openFeed(operator).catch(() => feed);
      }
    }
  })();
}

function openFeed({ service, token }: Operator): Promise<Feed> {
  return Feed.open(service, { token });
}

/** Returns the link of the page of these operators. @param page the address of the service that serves the page */
export function linkOf(
  page: string,
  operators: readonly (readonly [url: string, key: string])[],
  rest = '',
): string {
  const urls = operators.map(([url]) => url).join();
  return `${page}/#quorum=${urls}${operators.map(([, key]) => `&signer=${key}`).join('')}${rest}`;
}

/** Enters the operators' tokens into the form of the page. */
export async function fillTokens(page: Page, tokens: readonly string[]): Promise<void> {
  await page.waitForSelector('#quorum input');
  for (const [i, token] of tokens.entries()) await page.locator('#quorum input').nth(i).fill(token);
  await page.click('#quorum button[type=submit]');
}
