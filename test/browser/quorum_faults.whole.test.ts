import type { Page } from 'playwright-core';
import { type Test, test } from 'tap';
import { decodePayload, type Payload } from '../../src/client/verify/decode_payload.js';
import { parseEvidence } from '../../src/client/verify/evidence_file.js';
import { verifyEvidence } from '../../src/client/verify/log_evidence.js';
import { signed } from '../client/signed_payload.js';
import { launchBrowser, needsBrowser } from './browser.js';
import { untilText, withTab } from './live_page.js';
import { fillTokens, HONEST, LIE, linkOf, operatorKey, startOperator } from './operators.js';
import { openSilentRelay } from './silent_relay.js';

// Faults of one of three operators on the page that compares them. A relay changes the frames of the third operator, and signs them again
// with the operator's key.

const HOUR_NS = 3_600_000_000_000n;
const TEN_SECONDS_NS = 10_000_000_000n;
const TIME_AT = 2;
/** The place of the last 8 bytes of the first price in a body. */
const PRICE_END_AT = 20;
const PAYLOAD = /0x([0-9a-f]+)(?=")/;

const row = '#quorum [data-symbol=BTCUSD]';
const operatorItem = (n: number) => `#quorum .operators li:nth-child(${n + 1})`;

/** Replaces each payload in the bytes by another of the same length. */
function replaced(bytes: Buffer, change: (hex: string) => string): Buffer {
  let text = bytes.toString('latin1');
  if (!text.includes('"p":"0x')) return bytes;
  text = text.replace(new RegExp(PAYLOAD, 'g'), (hex) => {
    const changed = change(hex);
    return changed.length === hex.length ? changed : hex;
  });
  return Buffer.from(text, 'latin1');
}

/** Returns a signed payload whose body was changed. */
function resigned(hex: string, change: (body: Buffer) => void): string {
  const body = Buffer.from((decodePayload(hex) as Payload).body);
  change(body);
  return signed(body, operatorKey(2));
}

function shifted(byNs: bigint): (hex: string) => string {
  return (hex) =>
    resigned(hex, (body) => body.writeBigUInt64BE(body.readBigUInt64BE(TIME_AT) + byNs, TIME_AT));
}

/** Returns a function that replaces every payload by the first one of its length. */
function replay(): (hex: string) => string {
  const first = new Map<number, string>();
  return (hex) => {
    if (!first.has(hex.length)) first.set(hex.length, hex);
    return first.get(hex.length)!;
  };
}

/** Collects every price of the row that the page shows. */
async function watchPrices(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(`(() => {
    globalThis.shownPrices = new Set();
    new MutationObserver(() => shownPrices.add(document.querySelector('${row} .price')?.textContent ?? ''))
      .observe(document.body, { subtree: true, childList: true, characterData: true });
  })()`);
  return () => page.evaluate('[...shownPrices]');
}

async function honestOnly(t: Test, shown: () => Promise<string[]>): Promise<void> {
  const prices = (await shown()).filter((price) => price !== '' && price !== '—');
  t.same(prices, ['95,000.00'], 'no other price was shown');
}

test('the page while one of three operators has a fault', needsBrowser(), async (t) => {
  const browser = await launchBrowser(t);
  const anyPage = { allowed_origins: ['*'] };
  const b = await startOperator(t, 1, anyPage, HONEST);
  const c = await startOperator(t, 2, anyPage, LIE);
  let change: (hex: string) => string = (hex) => hex;
  const relay = await openSilentRelay(c.service.port, (bytes) => replaced(bytes, (hex) => change(hex)));
  t.teardown(() => relay.close());
  const relayed = `http://127.0.0.1:${relay.port}`;
  const others = [b.service.url, c.service.url, relayed];
  const a = await startOperator(t, 0, { page_operators: others }, HONEST);
  const tokens = [a, b, c].map(({ token }) => token);
  const linkWith = (urls: string) =>
    linkOf(
      a.service.url,
      [
        [a.service.url, a.service.evmAddress],
        [b.service.url, b.service.evmAddress],
        [urls, c.service.evmAddress],
      ],
      '&max_age=5s',
    );

  const faults: readonly [string, () => (hex: string) => string, RegExp][] = [
    ['10 s old', () => shifted(-TEN_SECONDS_NS), /stale: age/],
    ['a replay', replay, /stale: /],
    ['an hour behind', () => shifted(-HOUR_NS), /stale: age/],
    ['an hour ahead', () => shifted(HOUR_NS), /clock is ahead|failed its check|stale/],
  ];
  for (const [name, start, state] of faults)
    await t.test(`one operator's frames are ${name}: the honest price, never the lie`, async (t) => {
      change = start();
      await withTab(t, { browser, url: linkWith(relayed), operators: others }, async (page) => {
        const shown = await watchPrices(page);
        await fillTokens(page, tokens);
        await untilText(page, operatorItem(2), state);
        await untilText(page, `${row} .price`, '95,000.00');
        await untilText(page, `${row} .sealed`, '2 of 3');
        await honestOnly(t, shown);
      });
    });

  await t.test('two values for one time: the operator is named, with its evidence', async (t) => {
    c.prices = HONEST;
    change = (hex) =>
      resigned(hex, (body) => body.writeBigUInt64BE(body.readBigUInt64BE(PRICE_END_AT) + 1n, PRICE_END_AT));
    const url = linkWith(`${c.service.url}|${relayed}`);
    await withTab(t, { browser, url, operators: others }, async (page) => {
      await page.evaluate('navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }');
      await fillTokens(page, tokens);
      await untilText(page, operatorItem(2), /signed two prices for one time: .*signed two values of BTCUSD/);
      await untilText(page, `${row} .price`, '95,000.00');
      await untilText(page, `${row} .sealed`, '2 of 3');
      await page.click(`${operatorItem(2)} button`);
      await untilText(page, `${operatorItem(2)} button`, 'Copied');
      const evidence = parseEvidence(await page.evaluate('copied'));
      t.match(await verifyEvidence(evidence, { signers: [c.service.evmAddress] }), {
        verdict: 'verified',
        statement: /signed two values of asset 30 of taxonomy 12/,
      });
    });
  });

  await t.test('one frame is 10 s old and one operator is gone: no price, and why', async (t) => {
    c.prices = LIE;
    change = shifted(-TEN_SECONDS_NS);
    await b.stop();
    await withTab(t, { browser, url: linkWith(relayed), operators: others }, async (page) => {
      const shown = await watchPrices(page);
      await fillTokens(page, tokens);
      await untilText(page, operatorItem(1), 'unreachable');
      await untilText(page, `${row} .sealed`, 'too few operators');
      t.same(
        (await shown()).filter((price) => price !== ''),
        ['—'],
      );
    });
  });
});
