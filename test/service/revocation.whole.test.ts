import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { addressOf, starkKeyOf } from '../../src/cli/keygen_command.js';
import { startTestService } from './harness.js';
import {
  changing,
  checkReaders,
  generation,
  nowS,
  Operator,
  ROTATION_ASSETS,
  RotationLoad,
  RotationReader,
  unannouncedKeys,
  untilFollowed,
  untilTicks,
} from './rotation.js';

const [STOLEN, NEXT] = [generation(1), generation(2)];

test('stolen keys are cut off in one command, and the readers of the next keys refuse nothing', async (t) => {
  const sections = { assets: ROTATION_ASSETS };
  const operator = await Operator.open(t.testdir());
  const service = await startTestService(sections, { keys: STOLEN });
  t.teardown(() => service.stop());
  await operator.announce(service, STOLEN.stream);
  service.reconfigure(sections, STOLEN, operator.announcements);
  // The thief serves prices that the stolen keys sign, and shows the announcements of that time for ever.
  const options = { keys: STOLEN, announcements: operator.announcements };
  const thief = await startTestService(sections, options);
  t.teardown(() => thief.stop());
  const loads = [await RotationLoad.start(t, service), await RotationLoad.start(t, thief)];
  const fromNs = BigInt(Date.now()) * 1_000_000n;
  const trust = { root: operator.root };
  const reader = await RotationReader.open(t, service.url, trust);
  const urls = [service.url, thief.url];
  const deceived = await RotationReader.open(t, thief.url, trust, urls);
  await untilTicks([reader, deceived], 20);
  const atNs = BigInt(Date.now()) * 1_000_000n;
  checkReaders(t, 'before', [reader, deceived]);

  const soonS = nowS() + 50;
  const changed = {
    evm: changing(STOLEN.evm, NEXT.evm, soonS),
    stark: changing(STOLEN.stark, NEXT.stark, soonS),
    stream: changing(STOLEN.stream, NEXT.stream, soonS),
  };
  service.reconfigure(sections, changed, operator.announcements);
  await operator.announce(service, changed.stream);
  service.reconfigure(sections, changed, operator.announcements);
  await untilFollowed([reader, deceived], 2);
  service.reconfigure(sections, NEXT, operator.announcements);
  await reader.untilSignedBy(NEXT);
  const believed = deceived.ticks;
  await untilTicks([deceived], 20);
  t.ok(deceived.ticks > believed, 'until the revocation the thief is believed');
  const rolledBack = (reason: string) => /announcement 1: rolled back/.test(reason);
  t.same(
    deceived.refused.filter((reason) => !rolledBack(reason)),
    [],
  );

  const stolen = [addressOf(STOLEN.evm), starkKeyOf(STOLEN.stark), addressOf(STOLEN.stream)];
  const out = await operator.revoke(...stolen);
  t.equal(out.match(/REVOKED/g)?.length, 3);
  service.reconfigure(sections, NEXT, operator.announcements);
  t.equal(await unannouncedKeys(service), '0');
  await untilFollowed([reader, deceived], 3);
  const { ticks } = deceived;
  const refused = () => deceived.refused.filter((reason) => !rolledBack(reason));
  await eventually(() => refused().length > 20);
  t.equal(deceived.ticks, ticks, 'no tick of a revoked key');
  t.same(
    refused().filter((reason) => !/signed by 0x/.test(reason)),
    [],
    'each refusal names the signer',
  );
  await untilTicks([reader], 20);
  checkReaders(t, 'a reader of the service', [reader]);
  await t.rejects(reader.signersBetween(fromNs, atNs), /signed by/, 'nor what they signed before');

  const known = reader.signers.place;
  await t.rejects(RotationReader.open(t, thief.url, { ...trust, known }), /rolled back/);
  await t.rejects(operator.announce(thief, STOLEN.stream), /is revoked, and the service still has it/);
  await t.rejects(operator.revoke(`0x${'01'.repeat(20)}`), /is not in the last list/);
  service.reconfigure(sections, STOLEN, operator.announcements);
  t.equal(await unannouncedKeys(service), '3', 'an alert, if the service signs with them again');
  for (const load of loads) await load.stop();
});
