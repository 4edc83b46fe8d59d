import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { registerCheckConfig } from '../../src/cli/check_config_command.js';
import { addressOf, starkKeyOf } from '../../src/cli/keygen_command.js';
import { verifyPayload } from '../../src/client/index.js';
import { makeCertificate } from '../certificate.js';
import { run } from '../cli/run_command.js';
import { ServeProcess, writeConfig } from '../service/child.js';
import { Feed, units } from '../service/feed.js';
import { get, SERVICE_KEYS, TestSocket } from '../service/harness.js';
import { latestOf } from '../service/publishing.js';

const NEW_KEYS = { evm: Buffer.alloc(32, 0x23), stark: Buffer.alloc(32, 0x02) };
const OPEN_MODES = [0o640, 0o604, 0o660, 0o666, 0o601];

test('SIGHUP replaces a signing key: the new one signs from then on', async (t) => {
  const dir = t.testdir();
  const service = new ServeProcess(['--config', writeConfig(dir)]);
  t.teardown(() => service.kill());
  const { url, socketUrl } = await service.ready();
  const feeds = {
    evm: await Feed.open({ socketUrl }),
    stark: await Feed.open({ socketUrl }, { type: 'stark' }),
  };
  const queries = ['channel=100ms', 'channel=real_time', 'channel=10ms&addtl_attrs=ms'];
  const streams = await Promise.all(
    queries.map((query) => TestSocket.open(`${socketUrl}/ws?message_type=signed_ecdsa&${query}`)),
  );
  for (const stream of streams) stream.send({ type: 'subscribe', assets: [1] });
  let price = 0;
  const publish = async () => {
    await feeds.evm.accept({ symbol: 'BTCUSD', price: units(++price) });
    await feeds.stark.accept({ symbol: 'DYDXUSD', price: units(price) });
  };
  const signers = async (stream: TestSocket) => {
    const { p } = JSON.parse(await stream.next()) as { p: string };
    return verifyPayload(p, { signers: 'unchecked' }).signer;
  };
  await publish();
  for (const stream of streams) t.equal(await signers(stream), addressOf(SERVICE_KEYS.evm));

  for (const type of ['evm', 'stark'] as const)
    writeFileSync(join(dir, `${type}.hex`), NEW_KEYS[type].toString('hex'));
  service.child.kill('SIGHUP');
  await service.line(/was read again/);
  await publish();
  for (const [i, stream] of streams.entries()) {
    // Frames that were sent before the signal may still arrive first.
    const signer = await eventually(async () =>
      (await signers(stream)) === addressOf(NEW_KEYS.evm) ? true : undefined,
    );
    t.ok(signer, `${queries[i]} is signed by the new key`);
    t.equal(await publish().then(() => signers(stream)), addressOf(NEW_KEYS.evm), 'and by no other again');
  }
  const newcomer = await TestSocket.open(`${socketUrl}/ws?message_type=signed_ecdsa`);
  newcomer.send({ type: 'subscribe', assets: [1] });
  t.equal(await signers(newcomer), addressOf(NEW_KEYS.evm), 'a snapshot');
  const shown = await eventually(async () => {
    const latest = await latestOf({ url }, 'BTCUSD', 'DYDXUSD');
    const keys = Object.values(latest).map((one) => one.service_signed_price.public_key);
    return keys[0] === addressOf(NEW_KEYS.evm) && keys[1] === starkKeyOf(NEW_KEYS.stark) ? keys : undefined;
  });
  t.equal(shown.length, 2, 'REST shows the new keys of both types');
  const { data } = (await (await get(`${url}/v1/taxonomy`)).json()) as { data: object };
  const { signers: named } = data as { signers: readonly { address: string; role: string }[] };
  const addresses = (role: string) => named.filter((one) => one.role === role).map((one) => one.address);
  const former = [addressOf(SERVICE_KEYS.evm), starkKeyOf(SERVICE_KEYS.stark)];
  t.same(addresses('aggregate'), [...shown, ...former], 'the former keys after those that sign');
  t.same(addresses('stream'), [shown[0], former[0]]);
  t.equal(service.child.exitCode, null);
  t.notMatch(service.stdout + service.stderr, NEW_KEYS.evm.toString('hex'));
});

/** The secret files of the configuration. Each has the key of the configuration that an error about the file names. */
const SECRET_FILES = [
  ['evm.hex', 'keys.evm.file'],
  ['stark.hex', 'keys.stark.file'],
  ['tls.key', 'listen.tls.key_file'],
] as const;

function writeWithTls(t: Test, dir: string): string | undefined {
  const missing = makeCertificate(dir, 'tls');
  if (missing !== undefined) {
    t.comment(`skipped: ${missing}`);
    return undefined;
  }
  const tls = { cert_file: join(dir, 'tls.pem'), key_file: join(dir, 'tls.key') };
  return writeConfig(dir, { listen: { port: 0, tls } });
}

test('a secret file that others can read is refused by check-config and at the start', async (t) => {
  const dir = t.testdir();
  const file = writeWithTls(t, dir);
  if (file === undefined) return;
  for (const [name, path] of SECRET_FILES) {
    const refusal = new RegExp(`${path.replaceAll('.', '\\.')}: .*${name} is open to its group or to others`);
    for (const mode of OPEN_MODES) {
      chmodSync(join(dir, name), mode);
      t.match(await run(registerCheckConfig, 'check-config', file), { exitCode: 2, err: refusal }, name);
    }
    const service = new ServeProcess(['--config', file]);
    t.teardown(() => service.kill());
    t.match(await service.exited, { code: 2 });
    t.match(service.stderr, refusal);
    t.equal(service.stdout, '');
    chmodSync(join(dir, name), 0o600);
  }
  t.match(await run(registerCheckConfig, 'check-config', file), { exitCode: 0, out: /ok/ });
});

test('a reload that finds a secret file open to others changes nothing', async (t) => {
  const dir = t.testdir();
  const file = writeWithTls(t, dir);
  if (file === undefined) return;
  const service = new ServeProcess(['--config', file]);
  t.teardown(() => service.kill());
  await service.ready();
  for (const [name, path] of SECRET_FILES) {
    const secret = join(dir, name);
    const before = readFileSync(secret);
    if (name !== 'tls.key') writeFileSync(secret, NEW_KEYS.evm.toString('hex'));
    chmodSync(secret, 0o644);
    service.child.kill('SIGHUP');
    const line = JSON.parse(await service.line(new RegExp(`${path}: .*open to its group or to others`)));
    t.match(line, { level: 50, msg: 'the configuration is not valid; nothing was changed' });
    writeFileSync(secret, before);
    chmodSync(secret, 0o600);
  }
  t.notMatch(service.stdout, 'was read again');
  service.child.kill('SIGHUP');
  await service.line(/was read again/);
});
