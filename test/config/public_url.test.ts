import { test } from 'tap';
import { parseConfig } from '../../src/config/load.js';
import { publicUrlOf } from '../../src/config/public_url.js';

function urlOf(sections: Record<string, unknown>): string {
  const loaded = parseConfig(JSON.stringify({ keys: { evm: { file: 'unused' } }, ...sections }), 'test.yaml');
  return loaded.ok ? publicUrlOf(loaded.config, 4321) : loaded.errors.join('\n');
}

test('publishers are sent to the public address, or to where the service listens', async (t) => {
  const withUrl = (text: unknown) => urlOf({ service: { public_url: text } });
  t.equal(withUrl('wss://prices.example.com'), 'wss://prices.example.com');
  t.equal(withUrl('ws://10.0.0.1:8080/feed//'), 'ws://10.0.0.1:8080/feed');
  t.equal(urlOf({}), 'ws://127.0.0.1:4321');
  t.equal(urlOf({ listen: { host: '::1' } }), 'ws://[::1]:4321');
  const tls = { cert_file: 'cert.pem', key_file: 'key.pem' };
  t.equal(urlOf({ listen: { host: 'prices.example.com', tls } }), 'wss://prices.example.com:4321');
  const wrong = [
    '',
    'a.example',
    'https://a.example',
    'wss://a:b@a.example',
    'wss://a.example?a=1',
    'wss://',
    7,
  ];
  for (const text of [...wrong, 'wss://a.example#a'])
    t.match(withUrl(text), /service\.public_url/, String(text));
});
