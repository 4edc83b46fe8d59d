import { join } from 'node:path';
import { test } from 'tap';
import { FakeClock } from '../clock/fake_clock.js';
import { linesOf } from '../log/past/written_past.js';
import { get, publisherSigner, startTestService } from './harness.js';
import { latestText, latestWhen, openPublisher, refusalOf, UNIT } from './publishing.js';

test('a service keeps each aggregate as REST showed it, over restarts, reloads and steps of the clock', async (t) => {
  const dir = t.testdir();
  const clock = new FakeClock();
  const assetsOf = (symbol: string) => [
    { id: symbol === 'BTCUSD' ? 1 : 3, symbol, max_age: '600s', clock_period: '24h' },
    { id: 2, symbol: 'DYDXUSD', signature_type: 'stark', max_age: '600s', clock_period: '24h' },
  ];
  const ingest = { max_past: '600s', max_future: '600s' };
  let service = await startTestService(t, { assets: assetsOf('BTCUSD'), ingest }, { dir, clock });
  const shown: Record<string, string[]> = {};
  let second = 0n;
  /** Publishes a price durably and records REST's answer. */
  async function show(symbol: string, type: 'evm' | 'stark', price: bigint): Promise<void> {
    second += 10n;
    const timestampNs = clock.nowNs() + second * 1_000_000_000n;
    const update = publisherSigner(1, type).sign({ symbol, price: price * UNIT, timestampNs });
    const socket = await openPublisher(service, type, { query: '?ack=durable' });
    t.equal(await refusalOf(socket, update), undefined);
    await latestWhen(service, symbol, (found) => found.price === `${price * UNIT}`);
    await socket.close();
    shown[symbol] ??= [];
    shown[symbol].push(await latestText(service, symbol));
  }
  await show('BTCUSD', 'evm', 100n);
  await show('DYDXUSD', 'stark', 3n);
  await show('BTCUSD', 'evm', 110n);
  clock.advance(-5_000_000_000n);
  await show('BTCUSD', 'evm', 120n);
  clock.advance(20_000_000_000n);
  service.reconfigure({ assets: assetsOf('XBTUSD'), ingest });
  await show('XBTUSD', 'evm', 130n);
  await service.stop();
  service = await startTestService(t, { assets: assetsOf('XBTUSD'), ingest }, { dir, clock });
  await show('XBTUSD', 'evm', 140n);

  clock.advance(1_000_000_000_000n);
  for (const [symbol, texts] of Object.entries(shown)) {
    const times = texts.map((text) => BigInt(/"timestamp":(\d+),"msg_hash"/.exec(text)![1]!));
    const at = async (timeNs: bigint) =>
      (await get(`${service.url}/v1/prices/at?assets=${symbol}&timestamp=${timeNs}`)).text();
    for (const [i, text] of texts.entries()) {
      t.equal(await at(times[i]!), text, `${symbol}: in force when it was signed`);
      const rated = await get(
        `${service.url}/v1/prices/at?assets=${symbol}&timestamp=${times[i]}&quality=true`,
      );
      const inputNs = /"data":\{"[A-Z]+":\{"timestamp":(\d+)/.exec(text)![1]!;
      t.equal(
        await rated.text(),
        `${text.slice(0, -3)},"quality":{"publishers":1,"newest_input_age_ns":${times[i]! - BigInt(inputNs)},"input_spread":"0"}}}}`,
        `${symbol}: with the facts about its inputs`,
      );
      if (i > 0) t.not(await at(times[i]! - 1n), text, `${symbol}: and not before`);
    }
  }
  const wholeOf = (text: string) => /^\{"data":\{"[A-Z]+":(.*)\}\}$/s.exec(text)![1]!;
  for (const [symbol, texts] of Object.entries(shown)) {
    const firstNs = BigInt(/"timestamp":(\d+),"msg_hash"/.exec(texts[0]!)![1]!);
    const url = `${service.url}/v1/prices/range?asset=${symbol}&from=${firstNs}&to=${clock.nowNs()}`;
    const response = await get(url);
    t.equal(response.headers.get('content-type'), 'application/x-ndjson');
    t.equal(response.headers.get('content-encoding'), 'gzip', 'the fetch of Node accepts gzip');
    t.match(response.headers.get('vary'), /Accept-Encoding/);
    const plain = await get(url, { 'Accept-Encoding': 'identity' });
    t.equal(plain.headers.get('content-encoding'), null);
    const lines = (await response.text()).split('\n').slice(0, -1);
    t.same(
      texts.map(wholeOf).filter((text) => !lines.includes(text)),
      [],
      `${symbol}: the range has all that was shown`,
    );
    t.equal(new Set(lines).size, lines.length, 'each once');
  }
  const [first] = shown['BTCUSD']!;
  const firstNs = BigInt(/"timestamp":(\d+),"msg_hash"/.exec(first!)![1]!);
  const gone = await get(`${service.url}/v1/prices/at?assets=DYDXUSD&timestamp=${firstNs - 1n}`);
  t.equal(gone.status, 410);
  t.match(await gone.text(), new RegExp(`"kept_from":${firstNs}\\}$`));

  const folder = join(dir, 'store');
  for (const [symbol, type] of [
    ['BTCUSD', 'evm'],
    ['XBTUSD', 'evm'],
    ['DYDXUSD', 'stark'],
  ] as const) {
    const entries = await linesOf(folder, { symbol, signatureType: type });
    const texts = entries.flatMap((entry) => {
      if (entry.kind !== 'priced') return [];
      return [`{"${symbol}":${entry.line}}`];
    });
    const missing = shown[symbol]!.filter(
      (text) => !texts.includes(text.replace(/^\{"data":(.*)\}$/s, '$1')),
    );
    t.same(missing, [], `${symbol}: all that was shown`);
    t.equal(new Set(texts).size, texts.length, 'each once');
    const times = entries.map(({ timeNs }) => timeNs);
    t.same(
      times,
      [...times].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)),
      'in order',
    );
  }
  const renamed = await linesOf(folder, { symbol: 'BTCUSD', signatureType: 'evm' });
  t.equal(renamed.at(-1)?.kind, 'ended', 'a renamed asset has ended');
});
