import { test } from 'tap';
import { addressOf } from '../../src/cli/keygen_command.js';
import type { PrivateKeys } from '../../src/config/private_keys.js';
import { startTestService } from './harness.js';
import { LOGGED_GENERATIONS, rotatedLog, untilLogSignedBy } from './rotated_log.js';
import {
  changing,
  checkReaders,
  nowS,
  Operator,
  ROTATION_ASSETS,
  RotationLoad,
  RotationReader,
  unannouncedKeys,
  untilFollowed,
  untilTicks,
} from './rotation.js';

const [FIRST, SECOND, THIRD] = LOGGED_GENERATIONS;

for (const threads of [1, 2]) {
  test(`keys change by their times and by reloads under load, ${threads} threads`, async (t) => {
    const dir = t.testdir({});
    const unused = { file: 'unused' };
    const sections = {
      assets: ROTATION_ASSETS,
      listen: { threads },
      keys: { evm: unused, stark: unused, stream: unused, log: unused },
      log: rotatedLog(dir),
    };
    const service = await startTestService(sections, { keys: FIRST });
    t.teardown(() => service.stop());
    const operator = await Operator.open(dir);
    const reload = (keys: PrivateKeys) => service.reconfigure(sections, keys, operator.announcements);
    /** Reloads with other keys, announces them, and reloads with the announcement. */
    const announce = async (keys: PrivateKeys) => {
      reload(keys);
      await operator.announce(service, keys.stream!);
      reload(keys);
      t.equal(await unannouncedKeys(service), '0');
    };
    await announce(FIRST);
    const load = await RotationLoad.start(t, service);
    const trust = { root: operator.root };
    const readers = [
      await RotationReader.open(t, service.url, trust),
      await RotationReader.open(t, service.url, trust),
    ];
    const away = await RotationReader.open(t, service.url, trust);
    await untilTicks([...readers, away], 10);
    const known = away.signers.place;
    await away.end();
    checkReaders(t, 'the reader that goes away', [away]);
    const fromNs = BigInt(Date.now()) * 1_000_000n;

    const atS = nowS() + 6;
    const byTime = {
      evm: changing(FIRST.evm, SECOND.evm, atS),
      stark: changing(FIRST.stark, SECOND.stark, atS + 1),
      stream: changing(FIRST.stream, SECOND.stream, atS + 2),
      log: SECOND.log,
    };
    const size = await untilLogSignedBy(service, FIRST);
    await announce(byTime);
    await untilFollowed(readers, 2);
    for (const reader of readers) await reader.untilSignedBy(SECOND);
    const sizes = [size, await untilLogSignedBy(service, SECOND)];
    t.equal(await unannouncedKeys(service), '0');

    // A key counts from a minute before its time on, so a reload may change keys a little early.
    await announce({
      evm: changing(SECOND.evm, THIRD.evm, nowS() + 50),
      stark: changing(SECOND.stark, THIRD.stark, nowS() + 50),
      stream: changing(SECOND.stream, THIRD.stream, nowS() + 50),
      log: SECOND.log,
    });
    await untilFollowed(readers, 3);
    reload(THIRD);
    for (const reader of readers) await reader.untilSignedBy(THIRD);
    await announce(THIRD);
    await untilFollowed(readers, 4);
    await untilTicks(readers, 20);
    sizes.push(await untilLogSignedBy(service, THIRD));
    t.ok(sizes[0]! < sizes[1]! && sizes[1]! < sizes[2]!, `one log under three keys: ${sizes.join()} batches`);
    checkReaders(t, 'a reader that was up', readers);
    for (const { streamKeys } of readers)
      t.same(
        [...streamKeys],
        [FIRST, SECOND, THIRD].map(({ stream }) => addressOf(stream)),
      );

    const late = await RotationReader.open(t, service.url, { ...trust, known });
    await late.untilSignedBy(THIRD);
    await untilTicks([late], 20);
    t.equal(late.signers.list.version, 4);
    const signers = await late.signersBetween(fromNs, BigInt(Date.now()) * 1_000_000n);
    t.same(
      signers,
      [FIRST, SECOND, THIRD].map(({ evm }) => addressOf(evm)),
      'the past of all keys',
    );
    checkReaders(t, 'the reader that was away', [late]);
    await load.stop();
    const ticks = readers.reduce((sum, reader) => sum + reader.ticks, 0);
    t.comment(`${load.published} prices published, ${ticks} ticks verified by ${readers.length} readers`);
  });
}
