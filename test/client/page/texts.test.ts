import { test } from 'tap';
import {
  type AggregateForm,
  parseDecimalPrice,
  RefusedError,
  UnreachableError,
} from '../../../src/client/index.js';
import { ConnectionLog, connectionState, nodesText } from '../../../src/client/page/connection_state.js';
import { faultOf, isOtherSigner, offlineNotice } from '../../../src/client/page/frame_fault.js';
import { plainReason, reasonText } from '../../../src/client/page/plain_reason.js';
import {
  ageText,
  agreementText,
  changeSteps,
  changeText,
  clockText,
  exactPrice,
  marketText,
  matchText,
  momentText,
  readMoment,
  shortHex,
  shownDecimals,
  shownPrice,
  timeText,
  titleText,
} from '../../../src/client/page/price_text.js';
import { verifyCommand } from '../../../src/client/page/proof.js';
import { StreamedPrices } from '../../../src/client/page/streamed_prices.js';
import { MARKET_STATUS_NAMES } from '../../../src/wire/market_status_codes.js';

test('prices in the table have six digits, at least two of them decimals; the proof has all', async (t) => {
  const cases = [
    ['95123.456789', '95,123.45', '95,123.456789'],
    ['1234567.8', '1,234,567.80', '1,234,567.80'],
    ['190.5', '190.500', '190.500'],
    ['1.080195', '1.08019', '1.080195'],
    ['0.32', '0.320000', '0.320000'],
    ['0.000012345678', '0.0000123456', '0.000012345678'],
    ['-37.5', '−37.5000', '−37.5000'],
    ['-123456.5', '−123,456.50', '−123,456.50'],
    ['0', '0.000000000000000000', '0.000000000000000000'],
    ['100000000000000000000', '100,000,000,000,000,000,000.00', '100,000,000,000,000,000,000.00'],
  ] as const;
  for (const [text, shown, exact] of cases) {
    const price = parseDecimalPrice(text)!;
    t.equal(shownPrice(price, shownDecimals(price)), shown);
    t.equal(exactPrice(price), exact);
  }
  t.equal(titleText('BTCUSD', parseDecimalPrice('95028.769'), 'verified'), '95,028.76 BTCUSD · verified');
  t.equal(titleText('BTCUSD', undefined, 'failed its check'), 'BTCUSD · failed its check');
});

test('changes, ages, times and keys', async (t) => {
  t.same([0.0123, -0.5, 0.00004, 0, 12].map(changeText), [
    '+1.23%',
    '−50.00%',
    '0.00%',
    '0.00%',
    '+1200.00%',
  ]);
  t.equal(changeSteps(-0.00004), 0);
  t.same([-5, 430, 9_990, 12_400, 180_000, 7_200_000, 400_000_000].map(ageText), [
    '0.0 s',
    '0.4 s',
    '10.0 s',
    '12 s',
    '3 min',
    '2 h',
    '4 d',
  ]);
  t.equal(clockText(1_795_310_523_900), '01:22:03 UTC');
  t.equal(timeText(1_795_310_523_000_000_007n), '2026-11-22 01:22:03.000000007');
  t.equal(shortHex(`0x${'12'.repeat(20)}`), '0x121212…121212');
  t.equal(shortHex('0x12'), '0x12');
});

test('markets', async (t) => {
  t.same(
    Object.values(MARKET_STATUS_NAMES).map((status) => marketText('us_equities', status)),
    ['closed', 'open', 'pre-market', 'after hours'],
  );
  t.equal(marketText('none', undefined), '24/7');
  t.equal(marketText('forex', undefined), '', 'nothing is known before the first frame');
});

test('the connection in a word', async (t) => {
  const log = new ConnectionLog();
  const state = (nowMs: number, subscribed = 3) => connectionState(log, subscribed, nowMs);
  t.match(state(0), { tone: 'waiting', text: 'Connecting' });
  log.isUp = true;
  t.match(state(9_000), { tone: 'waiting', text: 'Connected' });
  log.passed(1_000, 0);
  t.match(state(3_000), { tone: 'good', text: 'Live' });
  t.match(state(3_001), { tone: 'bad', text: 'Silent for 2.0 s' });
  t.match(state(9_000, 0), { text: 'Connected' }, 'nothing is wanted, so nothing comes');
  log.refused(9_000);
  t.match(state(9_000), { tone: 'bad', text: 'Frames fail' });
  log.passed(9_100, 0);
  t.match(state(9_100), { tone: 'good', text: 'Live' });
  log.missed({ symbols: [], fromNs: 1_000_000_000n, toNs: 2_200_000_000n }, 9_100);
  const afterGap = 'Live · 1.2 s gap';
  t.match(state(9_100), { tone: 'good', text: afterGap });
  log.passed(69_100, 0);
  t.equal(state(69_100).text, afterGap, 'for a minute');
  log.passed(69_101, 0);
  t.equal(state(69_101).text, 'Live');
  log.passed(9_100, 0);
  log.down('closed with 1006');
  t.match(state(9_000), { tone: 'bad', text: 'No connection' });
  log.isOnline = false;
  t.match(state(9_000), { tone: 'bad', text: 'Offline' });
  t.match(log, { verified: 5, failed: 1, lastFrameMs: 9_100, gaps: 1 });
});

test('reasons come in plain words, without the texts of a browser', async (t) => {
  const url = 'https://prices.example';
  const silent = 'nothing answers at its address';
  for (const text of ['Failed to fetch', 'NetworkError when attempting to fetch resource.', 'Load failed'])
    t.equal(reasonText(new UnreachableError(url, text, '/v1/taxonomy')), silent);
  t.equal(plainReason('closed with 1006'), silent);
  t.equal(plainReason('closed with 1008 (too slow)'), 'closed with 1008 (too slow)');
  t.match(reasonText(new UnreachableError(url, 'HTTP 503')), 'starting, overloaded');
  t.match(reasonText(new RefusedError(url, 401, 'HTTP 401', '/v1')), 'not accepted');
  t.match(reasonText(new RefusedError(url, 429, 'HTTP 429')), 'too many requests');
  t.equal(reasonText(new RefusedError(url, 400, 'asset: no such asset', '/v1/at')), 'asset: no such asset');
  t.match(offlineNotice(1_795_310_523_900).text, 'as of 01:22:03 UTC');
  t.notMatch(offlineNotice(undefined).text, 'as of');
});

test('a frame of the key that the service names is not a forged one', async (t) => {
  const signer = `0x${'Ab'.repeat(20)}`;
  const other = { name: 'signer', status: 'failed', reason: 'signed by another' } as const;
  const broken = { name: 'length', status: 'failed', reason: 'too short' } as const;
  const report = { verdict: 'failed', checks: [{ name: 'form', status: 'ok' }, other], signer } as const;
  t.equal(faultOf(report, signer.toLowerCase()).seal, 'not pinned');
  t.match(faultOf(report, `0x${'00'.repeat(20)}`), { seal: 'failed', reason: 'signer: signed by another' });
  t.equal(faultOf({ ...report, checks: [other, broken] }, signer).seal, 'failed');
  t.notOk(isOtherSigner({ checks: [broken] }));
});

test('what is copied can be pasted', async (t) => {
  const answer = `{"data":{"A":{"note":"it's"}}}`;
  const request = { answer, symbol: 'A', signers: ['0x12'], algorithms: new Map(), atNs: undefined };
  const quoted = `'{"data":{"A":{"note":"it'\\''s"}}}'`;
  t.equal(verifyCommand({ ...request, oracleId: undefined }), `tickseal verify --signer 0x12 ${quoted}`);
  t.equal(
    verifyCommand({ ...request, oracleId: 'servc' }),
    `tickseal verify --signer 0x12 --oracle-id 'servc' ${quoted}`,
  );
});

test('a price is compared with the aggregate of its own time, in one line', async (t) => {
  const units = 10n ** 18n;
  const streamed = new StreamedPrices();
  for (const [second, price] of [
    [10, 100n],
    [11, 101n],
    [20, 105n],
  ] as const)
    streamed.add({ price: price * units, timestampNs: BigInt(second) * 1_000_000_000n });
  const at = (ms: number, price: bigint) => {
    const service = { timestampNs: BigInt(ms) * 1_000_000n } as AggregateForm['service'];
    return streamed.difference({ price: (price * units) as AggregateForm['price'], service });
  };
  t.equal(at(10_400, 101n), 0n, 'the service signs between two frames');
  t.equal(at(19_500, 101n), 4n * units, 'no frame of another time counts');
  t.equal(at(15_000, 101n), undefined);
  t.equal(
    agreementText({ inputAgeMs: 412, publishers: 3, spreadPpm: 90 }, matchText(0n, 100n * units)),
    'Stream = aggregate, 0.0 bp · 3 publishers within 0.9 bp · 0.4 s',
  );
  t.equal(agreementText({ inputAgeMs: 5_000, publishers: 1, spreadPpm: 0 }, ''), '1 publisher · 5.0 s');
  t.equal(agreementText({}, ''), '');
  t.equal(matchText(units / 100n, 100n * units), 'Stream +1.0 bp against the aggregate');
  t.match(matchText(-3n, 10_000n), '−3.0 bp');
  t.match(matchText(4n, 10_000_000n), ', 0.0 bp');
  t.equal(matchText(1n, 0n), '');
  streamed.clear();
  t.equal(at(10_400, 101n), undefined);
});

test('a moment is read with the digits that it has', async (t) => {
  const ns = 1_795_310_523_120_000_000n;
  t.equal(readMoment('2026-11-22T01:22:03.12Z'), ns);
  t.equal(momentText(ns), '2026-11-22 01:22:03.12 UTC');
  t.equal(momentText(1_795_310_520_000_000_000n), '2026-11-22 01:22:00 UTC');
  for (const text of [undefined, '', 'yesterday', '2026-13-01T00:00:00Z', '2026-11-22T01:22:03'])
    t.equal(readMoment(text), undefined, String(text));
});

test('the page says which node serves it, and which node makes the prices', async (t) => {
  const text = (self: number, ...roles: readonly string[]) =>
    nodesText(JSON.stringify({ data: { self, nodes: roles.map((role, i) => ({ node: i + 1, role })) } }));
  t.equal(text(0, 'leader'), '', 'a process that is alone');
  t.equal(text(3, 'leader', 'standby', 'edge'), 'Node 3 serves this page. Node 1 makes the prices.');
  t.equal(text(3, 'standby', 'standby', 'edge'), 'Node 3 serves this page. No node makes prices just now.');
  t.equal(text(1, 'leader', 'standby'), 'Node 1 serves this page and makes the prices.');
});
