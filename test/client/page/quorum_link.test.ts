import { test } from 'tap';
import { createClient } from '../../../src/client/index.js';
import { readQuorumLink } from '../../../src/client/page/quorum_link.js';

const KEYS = ['aa', 'bb', 'cc'].map((digits) => `0x${digits.repeat(20)}`);
const URLS = ['https://a.example', 'https://b.example/prices/', 'http://127.0.0.1:8081'];

function hashOf(over: Readonly<Record<string, string>> = {}, signers: readonly string[] = KEYS): string {
  const parameters = new URLSearchParams({ quorum: URLS.join(), ...over });
  for (const signer of signers) parameters.append('signer', signer);
  return `#${parameters}`;
}

test('a link that is incomplete or wrong gives its reason, by itself or by the client', async (t) => {
  const open = (hash: string) => createClient({ quorum: readQuorumLink(hash) });
  const cases: readonly [string, RegExp][] = [
    [hashOf({}, KEYS.slice(1)), /each of the 3 operators needs its own signer/],
    [hashOf({}, [KEYS[0]!, '', KEYS[2]!]), /signers/],
    [hashOf({}, [KEYS[0]!, '0x12', KEYS[2]!]), /0x12/],
    [hashOf({ token: 'secret' }), /must not contain a token/],
    [hashOf({ max_age: '10' }), /max_age must be a time/],
    [hashOf({ threshold: '' }), /threshold/],
    ...['b.example', 'ftp://b.example', 'https://u:p@b.example', '//b.example'].map(
      (url): [string, RegExp] => [hashOf({ quorum: [URLS[0], url, URLS[2]].join() }), /url/i],
    ),
  ];
  for (const [hash, reason] of cases) t.throws(() => open(hash), reason, hash);
  open(hashOf());
});
