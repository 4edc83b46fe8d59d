import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EVM, PrecompileInput } from '@ethereumjs/evm';
import { createAddressFromString, hexToBytes } from '@ethereumjs/util';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { test } from 'tap';
import { type Abi, decodeFunctionData, encodeFunctionResult } from 'viem';
import { secp256k1 } from '../../../src/crypto/secp256k1/secp256k1.js';
import { toHex } from '../../../src/model/hex.js';
import { codeBlock, ROOT } from '../../pages.js';
import { build } from './build.js';
import { Chain, type Hex } from './chain.js';
import { keyOf } from './payloads.js';

// The project of Foundry, without Foundry: its tests and its deploy script run on the chain of the tests, with the cheat codes that
// they use.

const FOLDER = 'foundry';
const CHEATS = `0x${Buffer.from(keccak_256(Buffer.from('hevm cheat code'))).toString('hex', 12)}`;
const OWNER = `0x${'0c'.repeat(20)}`;
const ENVIRONMENT: Readonly<Record<string, unknown>> = {
  TAXONOMY: 7n,
  ASSET: 3n,
  SIGNERS: [keyOf(1).address, keyOf(2).address],
  OWNER: [OWNER],
};

const abi = build(`${FOLDER}/src/Vm.sol`, 'Vm').abi;

/** Returns the result of a cheat code. */
function cheat(name: string, args: readonly unknown[], setTime: (timeS: bigint) => void): unknown {
  const secret = (key: unknown) => Buffer.from((key as bigint).toString(16).padStart(64, '0'), 'hex');
  if (name === 'warp') return setTime(args[0] as bigint);
  if (name === 'addr') {
    const publicKey = secp256k1.publicKey(secret(args[0])).subarray(1);
    return `0x${Buffer.from(keccak_256(publicKey)).toString('hex', 12)}`;
  }
  if (name === 'sign') {
    const { signature, recovery } = secp256k1.sign(hexToBytes(args[1] as Hex), secret(args[0]));
    return [recovery + 27, toHex(signature.subarray(0, 32)), toHex(signature.subarray(32))];
  }
  return name.startsWith('env') ? ENVIRONMENT[args[0] as string] : undefined;
}

async function chainWithCheats(): Promise<Chain> {
  const answer = ({ data, _EVM }: PrecompileInput) => {
    const { functionName, args = [] } = decodeFunctionData({ abi, data: toHex(data) as Hex });
    const setTime = (timeS: bigint) => {
      chain.timeS = timeS;
      // The running call has its own copy of the block.
      (_EVM as EVM & { _block: { header: { timestamp: bigint } } })._block.header.timestamp = timeS;
    };
    const result = cheat(functionName, args as readonly unknown[], setTime);
    const returnValue = hexToBytes(encodeFunctionResult({ abi, functionName, result } as never));
    return { executionGasUsed: 0n, returnValue };
  };
  const chain: Chain = await Chain.create(
    [{ address: createAddressFromString(CHEATS), function: answer }],
    true,
  );
  // Solidity calls only addresses with code.
  await chain.putCode(CHEATS, Uint8Array.of(0));
  return chain;
}

test('the example tests pass', async (t) => {
  const code = build(`${FOLDER}/test/Lender.t.sol`, 'LenderTest');
  const names = testsIn(code.abi);
  t.equal(names.length, 3);
  for (const name of names) {
    const contract = await (await chainWithCheats()).deploy(code);
    t.match(await contract.call('setUp'), { ok: true });
    t.match(await contract.call(name), { ok: true }, name);
  }
});

function testsIn(abi: Abi): string[] {
  return abi.flatMap((entry) =>
    entry.type === 'function' && entry.name.startsWith('test') ? [entry.name] : [],
  );
}

test('the deploy script deploys a reader and a feed from the environment', async (t) => {
  const chain = await chainWithCheats();
  const script = await chain.deploy(build(`${FOLDER}/script/Deploy.s.sol`, 'Deploy'));
  const [reader, feed] = await script.read<[string, string]>('run');
  const [readerCode, feedCode] = [build('TicksealReader.sol'), build('TicksealFeed.sol')];
  const deployed = script.as(readerCode, reader);
  t.equal(await deployed.read('taxonomyId'), 7);
  for (const n of [1, 2]) t.equal(await deployed.read('isSigner', keyOf(n).address), true);
  t.equal(String(await deployed.read('pendingOwner')).toLowerCase(), OWNER);
  t.equal(await script.as(feedCode, feed).read('assetId'), 3);
});

test('the lender is that of the tour, and the remappings lead to the contracts', async (t) => {
  const read = (file: string) => readFileSync(join(ROOT, 'src/client/solidity', FOLDER, file), 'utf8');
  t.equal(
    read('src/Lender.sol').trim(),
    codeBlock('src/client/examples/README.md', 'solidity Lender.sol').trim(),
  );
  t.equal(read('remappings.txt'), 'tickseal-client/contracts/=../\n');
});
