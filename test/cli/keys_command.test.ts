import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { addressOf, publicKeyText } from '../../src/cli/keygen_command.js';
import { registerKeys } from '../../src/cli/keys_command.js';
import { run } from './run_command.js';

/** Returns the answer of `/v1/signers` of a service with these keys. */
function signers(evm: number, stark: number): string {
  const entry = { role: 'aggregate', state: 'present' };
  const data = [
    { ...entry, address: addressOf(Buffer.alloc(32, evm)), signature_type: 'evm' },
    { ...entry, address: publicKeyText('stark', Buffer.alloc(32, stark)), signature_type: 'stark' },
  ];
  return JSON.stringify({ data });
}

test('an operator announces keys, and cuts off stolen keys in one command', async (t) => {
  const dir = t.testdir({ 'first.json': signers(0x21, 0x01), 'next.json': signers(0x22, 0x02) });
  const [root, chain] = [join(dir, 'root.hex'), join(dir, 'announcements.txt')];
  const keys = (...args: string[]) => run(registerKeys, 'keys', ...args, '--chain', chain, '--root', root);
  const made = await run(registerKeys, 'keys', 'root', '--out', root);
  const [, address] = /root: (0x\w{40})/.exec(made.out)!;
  t.match(await keys('announce'), { exitCode: 1, err: /--signers is needed for the first announcement/ });
  for (const [i, name] of ['first.json', 'next.json'].entries()) {
    const { out, err, exitCode } = await keys('announce', '--signers', join(dir, name));
    t.same([err, exitCode], ['', 0]);
    t.match(out, new RegExp(`announcement ${i + 1}: `));
  }
  const stolen = [addressOf(Buffer.alloc(32, 0x21)), publicKeyText('stark', Buffer.alloc(32, 0x01))];
  const revoked = await keys('revoke', ...stolen);
  t.equal(revoked.out.match(/REVOKED/g)?.length, stolen.length);
  t.match(await run(registerKeys, 'keys', 'show', chain), { out: /REVOKED/, exitCode: 0 });
  t.match(readFileSync(chain, 'utf8').toLowerCase(), `signed by the root ${address!.toLowerCase()}`);
  t.match(await keys('announce', '--signers', join(dir, 'first.json')), {
    exitCode: 1,
    err: /is revoked, and the service still has it/,
  });
  t.match(await keys('revoke', `0x${'01'.repeat(20)}`), { exitCode: 1, err: /is not in the last list/ });
  writeFileSync(root, 'no key');
  t.match(await keys('announce'), { exitCode: 1, err: /does not hold 32 bytes of hex/ });
});
