import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { parseFrame, publishMessage, verifyAggregate } from '../../src/client/index.js';
import { Feed, units } from './feed.js';
import { sha256, TestSocket, TOKEN } from './harness.js';
import { ask, BOTH, START_S, servedAs, start } from './two_types.js';

// Tests of the answers and messages for a symbol with both signature types.

test('each type has its own price, and REST serves the EVM one unless the request says otherwise', async (t) => {
  const { service, clock, price } = await start(t);
  t.match(await ask(service, '/v1/prices/latest?assets=BTCUSD'), { status: 200, text: '{"data":{}}' });
  await price('stark', 'BTCUSD', 20);
  t.equal(
    await servedAs(service, undefined, 'BTCUSD'),
    undefined,
    'no EVM price yet: the Stark one is no substitute',
  );
  await price('evm', 'BTCUSD', 10);
  await price('stark', 'DYDXUSD', 4);
  await price('evm', 'ETHUSD', 3);

  await t.test('latest, also when it is asked for again', async (t) => {
    for (let again = 0; again < 2; again++) {
      t.equal(await servedAs(service, undefined, 'BTCUSD'), 10);
      t.equal(await servedAs(service, 'evm', 'BTCUSD'), 10);
      t.equal(await servedAs(service, 'stark', 'BTCUSD'), 20);
      t.equal(await servedAs(service, undefined, 'DYDXUSD'), 4);
    }
    const mixed = await ask(service, '/v1/prices/latest?assets=BTCUSD,DYDXUSD,ETHUSD');
    t.match(mixed.data, {
      BTCUSD: { signature_type: 'evm', asset_id: 'BTCUSD' },
      DYDXUSD: { signature_type: 'stark' },
      ETHUSD: { signature_type: 'evm' },
    });
    const starks = await ask(service, '/v1/prices/latest?assets=BTCUSD,DYDXUSD&signature_type=stark');
    t.match(starks.data, { BTCUSD: { signature_type: 'stark' }, DYDXUSD: { signature_type: 'stark' } });
    const expected = { signers: 'unchecked', oracleId: 'servc' } as const;
    const reports = [mixed, starks].flatMap(({ text }) => verifyAggregate(text, expected));
    t.same(
      reports.map(({ verdict }) => verdict),
      Array(5).fill('recovered'),
    );
  });

  await t.test('recent', async (t) => {
    const path = `/v1/prices/recent?timestamp=${START_S}&assets=BTCUSD`;
    t.match((await ask(service, path)).data, { BTCUSD: { price: String(units(10)) } });
    t.match((await ask(service, `${path}&signature_type=stark`)).data, {
      BTCUSD: { price: String(units(20)) },
    });
  });

  await t.test('history and charts', async (t) => {
    for (const path of ['/v1/tradingview/history', '/udf/history']) {
      const range = `${path}?symbol=BTCUSD&resolution=1&from=${START_S - 60}&to=${START_S + 60}`;
      const closes = async (query = '') => {
        const answer = JSON.parse((await ask(service, range + query)).text) as {
          c: number[];
          data?: { c: number[] };
        };
        return (answer.data ?? answer).c;
      };
      t.same(await closes(), [10], path);
      t.same(await closes('&signature_type=evm'), [10], path);
      t.same(await closes('&signature_type=stark'), [20], path);
    }
    const symbolInfo = async (query: string) =>
      JSON.parse((await ask(service, `/udf/symbols?${query}`)).text);
    t.match(await symbolInfo('symbol=BTCUSD'), { name: 'BTCUSD', type: 'crypto' });
    t.match(await symbolInfo('symbol=BTCUSD&signature_type=stark'), { name: 'BTCUSD', type: 'us_equities' });
    t.match(await symbolInfo('symbol=ETHUSD&signature_type=stark'), { s: 'error', errmsg: /no ETHUSD/ });
    const found = JSON.parse((await ask(service, '/udf/search?query=btc')).text) as {
      symbol: string;
      type: string;
    }[];
    t.same(
      found.map(({ symbol, type }) => [symbol, type]),
      [['BTCUSD', 'crypto']],
    );
  });

  await t.test('market status', async (t) => {
    t.match(await ask(service, '/v1/market_status?asset_id=BTCUSD'), {
      status: 400,
      error: /around the clock/,
    });
    t.match(await ask(service, '/v1/market_status?asset_id=BTCUSD&signature_type=stark'), {
      data: { BTCUSD_CURRENT_STATUS: { signature_type: 'stark', price: '2' } },
    });
  });

  await t.test('lists', async (t) => {
    t.same((await ask(service, '/v1/prices/assets')).data, ['BTCUSD', 'ETHUSD', 'DYDXUSD'], 'a symbol once');
    const { assets } = (await ask(service, '/v1/taxonomy')).data as { assets: Record<string, unknown>[] };
    t.same(
      assets.map(({ asset_id, name, signature_type }) => `${asset_id} ${name} ${signature_type}`),
      ['2 BTCUSD stark', '1 BTCUSD evm', '3 ETHUSD evm', '4 DYDXUSD stark'],
    );
  });

  await t.test('a type that there is not', async (t) => {
    const now = Number(clock.nowNs() / 1_000_000_000n);
    const candles = 'resolution=1&from=0&to=1';
    const paths = (symbol: string) => [
      `/v1/prices/latest?assets=${symbol}`,
      `/v1/prices/recent?timestamp=${now}&assets=${symbol}`,
      `/v1/tradingview/history?symbol=${symbol}&${candles}`,
      `/v1/market_status?asset_id=${symbol}`,
    ];
    for (const path of paths('ETHUSD')) {
      t.match(await ask(service, `${path}&signature_type=stark`), {
        status: 400,
        error: 'signature_type is stark, in which there is no ETHUSD',
      });
    }
    for (const path of [
      ...paths('ETHUSD'),
      `/udf/history?symbol=BTCUSD&${candles}`,
      '/udf/symbols?symbol=BTCUSD',
    ]) {
      for (const type of ['', 'rsa', 'EVM'])
        t.match(await ask(service, `${path}&signature_type=${type}`), {
          status: 400,
          error: 'signature_type must be evm or stark',
        });
      t.match(await ask(service, `${path}&signature_type=evm&signature_type=stark`), {
        status: 400,
        error: 'signature_type is given more than once',
      });
    }
  });
});

test('a publisher path means the asset of its type, and each asset streams under its own ID', async (t) => {
  const tokens = [
    {
      name: 'all',
      sha256: sha256(TOKEN),
      scopes: ['rest', 'stream', 'publish'],
      requests_per_second: 100_000,
    },
    { name: 'one', sha256: sha256('one'), scopes: ['rest', 'stream'], assets: ['BTCUSD'] },
  ];
  const { service, clock, price } = await start(t, { sections: { ...BOTH, tokens } });
  const stream = await TestSocket.open(`${service.socketUrl}/ws?addtl_attrs=ms`, 'one');
  stream.send({ type: 'subscribe', assets: [1, 2], id: 1 });
  t.match(
    await stream.nextJson(),
    { assets: [1, 2], invalid: [] },
    'a token that names the symbol covers both',
  );
  const frame = async () => {
    const next = parseFrame(await stream.next());
    return next?.type === 'unsigned' ? next.assets.map(({ id, value }) => [id, value / units(1)]) : next;
  };
  await price('evm', 'BTCUSD', 10);
  t.same(await frame(), [[1, 10n]]);
  clock.advance(1_000_000n);
  await price('stark', 'BTCUSD', 20);
  t.same(await frame(), [[2, 20n]]);
  const oneSymbol = await ask(service, '/v1/taxonomy', 'one');
  t.match(oneSymbol.data, { assets: [{ asset_id: 2 }, { asset_id: 1 }] });

  const nowNs = () => clock.nowNs() + 1n;
  const [evm, stark] = [
    await Feed.open(service, { nowNs }),
    await Feed.open(service, { type: 'stark', nowNs }),
  ];
  t.match(await evm.publish({ symbol: 'DYDXUSD', price: units(1) }), {
    rejected: { DYDXUSD: 'this asset takes stark signatures' },
  });
  t.match(await stark.publish({ symbol: 'ETHUSD', price: units(1) }), {
    rejected: { ETHUSD: 'this asset takes evm signatures' },
  });
  // The path refuses a key of the other type, although the path has an asset of that symbol.
  evm.socket.send(messageOf(stark, 'BTCUSD'));
  t.match(await evm.socket.nextJson(), {
    rejected: { BTCUSD: 'signature_type is not "evm", which this path takes' },
  });
  stark.socket.send(messageOf(evm, 'BTCUSD'));
  t.match(await stark.socket.nextJson(), {
    rejected: { BTCUSD: 'signature_type is not "stark", which this path takes' },
  });
  t.equal(await servedAs(service, 'evm', 'BTCUSD'), 10);
  t.equal(await servedAs(service, 'stark', 'BTCUSD'), 20);

  clock.advance(61_000_000_000n);
  await price('stark', 'BTCUSD', 21);
  await eventually(async () => (await servedAs(service, 'evm', 'BTCUSD')) === undefined);
  t.equal(await servedAs(service, 'stark', 'BTCUSD'), 21, 'one ends without the other');
});

/** Returns a message of a publisher that belongs to the other path. */
function messageOf(feed: Feed, symbol: string): string {
  return publishMessage('other', [feed.sign({ symbol, price: units(99) })]);
}
