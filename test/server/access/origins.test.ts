import { test } from 'tap';
import { parseConfig } from '../../../src/config/load.js';
import { Origins } from '../../../src/server/access/origins.js';

const TLS = { cert_file: 'cert.pem', key_file: 'key.pem' };

function originsOf(listen: object, service: object = {}): Origins {
  const loaded = parseConfig(JSON.stringify({ keys: { evm: { file: 'unused' } }, listen, service }), 'c');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  return new Origins(loaded.config);
}

test('pages of the origins of the configuration may read REST, and no others', async (t) => {
  const origins = originsOf({ allowed_origins: ['https://a.example', 'http://localhost:3000'] });
  t.ok(origins.allowsAny);
  t.equal(origins.allowedAs('https://a.example'), 'https://a.example');
  t.equal(origins.allowedAs('http://localhost:3000'), 'http://localhost:3000');
  for (const other of [
    undefined,
    '',
    'null',
    '*',
    'https://a.example.evil.example',
    'https://b.a.example',
    'https://a.example:8443',
    'https://a.example, https://evil.example',
  ])
    t.equal(origins.allowedAs(other), undefined, String(other));
  t.notOk(originsOf({}).allowsAny);
  t.equal(originsOf({ allowed_origins: ['*'] }).allowedAs('null'), '*');
  t.equal(originsOf({ allowed_origins: ['*'] }).allowedAs(undefined), undefined);
});

test('streams are for pages of these origins, of the service itself, and for what is no page', async (t) => {
  const origins = originsOf({ allowed_origins: ['https://a.example'], host: 'prices.internal' });
  const cases: [may: boolean, origin: string | undefined, host: string | undefined][] = [
    [true, 'https://a.example', 'prices.internal:8080'],
    [true, undefined, 'prices.internal:8080'],
    [true, 'http://127.0.0.1:8080', '127.0.0.1:8080'],
    [true, 'http://prices.internal:8080', 'PRICES.internal:8080'],
    [true, 'http://127.0.0.1', '127.0.0.1:80'],
    [false, 'https://127.0.0.1:8080', '127.0.0.1:8080'],
    [false, 'http://127.0.0.1:8081', '127.0.0.1:8080'],
    [false, 'http://127.0.0.1:8080', 'localhost:8080'],
    [false, 'http://127.0.0.1:8080', undefined],
    [false, 'http://127.0.0.1:8080', '['],
    // A browser sends this origin and host for a domain that its owner points at this machine (DNS rebinding).
    [false, 'http://evil.example:8080', 'evil.example:8080'],
    [false, 'null', '127.0.0.1:8080'],
  ];
  for (const [may, origin, host] of cases)
    t.equal(origins.mayOpenStream({ origin, host }), may, `${origin} at ${host}`);
});

test('with TLS, here or before the service, its own origin is an https one', async (t) => {
  const host = '127.0.0.1:8080';
  t.ok(originsOf({ tls: TLS }).mayOpenStream({ origin: 'https://127.0.0.1:8080', host }));
  t.notOk(originsOf({ tls: TLS }).mayOpenStream({ origin: 'http://127.0.0.1:8080', host }));
  const behindProxy = originsOf({}, { public_url: 'wss://prices.example.com:443/feed' });
  t.ok(behindProxy.mayOpenStream({ origin: 'https://prices.example.com', host }));
  t.notOk(behindProxy.mayOpenStream({ origin: 'http://prices.example.com', host }));
  t.equal(behindProxy.allowedAs('https://prices.example.com'), undefined, 'it needs no leave to read itself');
});

test('subdomains of a pattern, apps and pages without an origin may read REST where they are allowed', async (t) => {
  const origins = originsOf({
    allowed_origins: ['https://*.example.com', 'http://*.b.test:8080', 'null', 'tauri://localhost'],
  });
  for (const origin of ['https://a.b-1.example.com', 'http://a.b.test:8080', 'null', 'tauri://localhost'])
    t.equal(origins.allowedAs(origin), origin);
  for (const other of [
    'https://example.com',
    'https://.example.com',
    'https://aexample.com',
    'https://a.example.com:8443',
    'http://a.example.com',
    'https://a.example.com.evil.test',
    'https://evil.test/.example.com',
    'https://evil.test#.example.com',
    'https://a@.example.com',
    'capacitor://localhost',
  ])
    t.equal(origins.allowedAs(other), undefined, other);
});
