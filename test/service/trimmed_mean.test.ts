import { test } from 'tap';
import { registerVerify } from '../../src/cli/verify_command.js';
import { verifyAggregate } from '../../src/client/index.js';
import { runCommand } from '../cli/run_command.js';
import { Feed, units } from './feed.js';
import { publisherSigner, startTestService } from './harness.js';
import { latestText, latestWhen } from './publishing.js';

test('a trimmed mean goes the whole way, and the client and the command verify it', async (t) => {
  const numbers = [1, 2, 3, 4];
  const service = await startTestService({
    assets: [{ id: 1, symbol: 'BTCUSD', aggregation: 'trimmed mean', min_publishers: 4 }],
    publishers: numbers.map((one) => ({ key: publisherSigner(one).publicKey, signature_type: 'evm' })),
  });
  t.teardown(() => service.stop());
  const feed = await Feed.open(service);
  for (const publisher of numbers)
    await feed.accept({ symbol: 'BTCUSD', price: units([500, 10, 13, -90][publisher - 1]!), publisher });
  await latestWhen(service, 'BTCUSD', ({ price }) => price === String(units(23) / 2n));
  const text = await latestText(service, 'BTCUSD');
  const signers = [service.evmAddress];
  const verdictOf = (aggregate: string) => verifyAggregate(aggregate, { signers })[0];
  t.match(verdictOf(text), { verdict: 'verified' });
  const other = text.replaceAll(`"price":"${units(23) / 2n}"`, `"price":"${units(12)}"`);
  t.not(other, text);
  t.ok(verdictOf(other)!.checks.some(({ name, status }) => name === 'price' && status === 'failed'));
  const { stdout, exitCode } = await runCommand(registerVerify, ['verify', '--signer', service.evmAddress], {
    stdin: [`${text}\n`],
  });
  t.equal(exitCode, 0, stdout.join('\n'));
  t.ok(
    stdout.some((line) => /^ok +checksum$/.test(line)),
    'the command knows the definition',
  );
});
