import { test } from 'tap';
import { Client, createClient, QuorumClient, type QuorumOptions } from '../../../src/client/index.js';

const operator = (n: number) => ({
  name: `operator ${n}`,
  urls: [`https://${n}.example.com`],
  signers: [`0x${String(n).repeat(40)}`],
});
const operators = [operator(1), operator(2), operator(3)];

test('a quorum has 2 to 16 operators, which share nothing', async (t) => {
  t.ok(createClient({ quorum: { operators } }) instanceof QuorumClient);
  t.ok(createClient({ urls: 'https://a.example.com', signers: 'unchecked' }) instanceof Client);
  const [one, two] = operators as [ReturnType<typeof operator>, ReturnType<typeof operator>];
  const refused: readonly [Partial<QuorumOptions>, RegExp][] = [
    [{ operators: [one] }, /^quorum\.operators must name 2 to 16 operators$/],
    [{ threshold: 1 }, /^quorum\.threshold must be 2 to 3/],
    [{ maxSpreadPercent: -1 }, /^quorum\.maxSpreadPercent must be a number from 0 to 100/],
    [{ maxAgeMs: 0 }, /^quorum\.maxAgeMs must be a whole number of milliseconds above 0/],
    [{ operators: [one, { ...two, name: '' }] }, /^quorum\.operators\[1\]\.name must be text/],
    [{ operators: [one, { ...two, name: one.name }] }, /\[1\]\.name: "operator 1" belongs to .*\[0\] too/],
    [
      { operators: [one, { ...two, signers: [one.signers[0]!.toUpperCase().replace('X', 'x')] }] },
      /^quorum\.operators\[1\]\.signers: 0x1+ belongs to quorum\.operators\[0\] too/,
    ],
    [{ operators: [one, { ...two, urls: 'wss://1.EXAMPLE.com/' }] }, /\[1\]\.urls: an address belongs to/],
    [{ operators: [one, { ...two, urls: 'https://1.example.com./' }] }, /\[1\]\.urls: an address belongs to/],
    [{ operators: [one, { ...two, signers: 'unchecked' }] }, /\[1\]\.signers must name addresses/],
    [{ operators: [one, { ...two, signers: ['x'] }] }, /^quorum\.operators\[1\]: signers: x is neither/],
  ];
  for (const [options, message] of refused)
    t.throws(() => createClient({ quorum: { operators, ...options } }), { message });
  t.throws(() => createClient({ quorum: { operators }, token: 'x' } as never), {
    message: 'quorum excludes token: each operator has its own',
  });
});
