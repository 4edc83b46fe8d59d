import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { codeBlock, ROOT } from '../../pages.js';
import { build } from './build.js';
import { Chain } from './chain.js';
import { E18, keyOf, NS_PER_S, payloadOf } from './payloads.js';
import { KEY, START_S, TAXONOMY_ID } from './reader.js';

// The project of Foundry, without Foundry: its files compile with the contracts that they import, and its lender reads prices.

const FOLDER = 'foundry';
const read = (file: string) => readFileSync(join(ROOT, 'src/client/solidity', FOLDER, file), 'utf8');

test('the tests and the deploy script compile, and the remappings lead to the contracts', async (t) => {
  for (const [file, contract] of [
    ['test/Lender.t.sol', 'LenderTest'],
    ['script/Deploy.s.sol', 'Deploy'],
  ] as const)
    t.ok(build(`${FOLDER}/${file}`, contract).bytecode.length > 2, file);
  t.equal(read('remappings.txt'), 'tickseal-client/contracts/=../\n');
});

test('the lender is that of the tour, and takes each price once, of the signers of its verifier', async (t) => {
  const text = codeBlock('src/client/examples/README.md', 'solidity Lender.sol');
  t.equal(read('src/Lender.sol').trim(), text.trim());
  const chain = await Chain.create();
  chain.timeS = START_S;
  const signed = [TAXONOMY_ID, 60n, 30n, [KEY.address]];
  const verifier = await chain.deploy(build('TicksealVerifier.sol'), signed);
  const lender = await chain.deploy(build(`${FOLDER}/src/Lender.sol`), [verifier.address, 1]);
  const assets = [{ id: 1, value: 95_000n * E18 }];
  const content = { taxonomyId: TAXONOMY_ID, timestampNs: START_S * NS_PER_S, assets };
  t.match(await lender.call('update', [payloadOf(keyOf(2), content)]), { ok: false }, 'another signer');
  t.match(await lender.call('update', [payloadOf(KEY, content)]), { ok: true });
  t.equal(await lender.read('price'), 95_000n * E18);
  t.match(await lender.call('update', [payloadOf(KEY, content)]), { ok: false }, 'not again');
});
