import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { listedSigners } from '../../src/cli/announced_signers.js';
import { withAnnouncement } from '../../src/cli/announcement_file.js';
import { addressOf } from '../../src/cli/keygen_command.js';
import { CHAIN_CRYPTO } from '../../src/client/verify/chain_crypto.js';
import { followOwnChain } from '../../src/model/announcement_chain.js';
import {
  type AnnouncedSigner,
  announcementLines,
  NO_PREVIOUS,
  NO_ROOT,
} from '../../src/wire/announcement.js';
import { get, startTestService } from './harness.js';
import {
  changing,
  checkReaders,
  generation,
  nowS,
  ROTATION_ASSETS,
  RotationLoad,
  RotationReader,
  untilFollowed,
  untilTicks,
} from './rotation.js';

const [FIRST, SECOND] = [generation(1), generation(2)];
const DAY_S = 86_400;

/** Appends a list that a key of aggregates signs, at a given time, to the text of a chain without a root. */
function announced(
  before: string,
  signers: readonly AnnouncedSigner[],
  key: Buffer,
  issuedS: number,
): string {
  const lines = announcementLines(before);
  const chain = lines.length === 0 ? undefined : followOwnChain(lines, CHAIN_CRYPTO);
  const newest = chain?.ok ? chain.list : undefined;
  const previous = newest?.digest ?? NO_PREVIOUS;
  const version = (newest?.version ?? 0) + 1;
  const list = { previous, version, issuedS, expiresS: nowS() + 90 * DAY_S, root: NO_ROOT, signers };
  return withAnnouncement({ text: before, lines, newest }, list, key);
}

test('readers that pin the first key follow keys that it announced 7 days before they sign', async (t) => {
  const sections = { assets: ROTATION_ASSETS };
  const service = await startTestService(sections, { keys: FIRST });
  t.teardown(() => service.stop());
  const listed = async (newest: Buffer) =>
    listedSigners(
      await eventually(async () => {
        const text = await (await get(`${service.url}/v1/signers`)).text();
        return text.includes(addressOf(newest)) && text;
      }),
    );
  let chain = announced('', await listed(FIRST.stream), FIRST.evm, nowS() - 9 * DAY_S);
  service.reconfigure(sections, FIRST, announcementLines(chain));
  const load = await RotationLoad.start(t, service);
  const trust = { pinned: [addressOf(FIRST.evm)] };
  const away = await RotationReader.open(t, service.url, trust);
  await untilTicks([away], 10);
  const known = away.signers.place;
  await away.end();
  checkReaders(t, 'the reader that goes away', [away]);

  const atS = nowS() + 8;
  const keys = {
    evm: changing(FIRST.evm, SECOND.evm, atS),
    stark: changing(FIRST.stark, SECOND.stark, atS),
    stream: changing(FIRST.stream, SECOND.stream, atS),
  };
  service.reconfigure(sections, keys, announcementLines(chain));
  const next = await listed(SECOND.stream);
  chain = announced(chain, next, FIRST.evm, nowS() - 8 * DAY_S);
  service.reconfigure(sections, keys, announcementLines(chain));
  const reader = await RotationReader.open(t, service.url, trust);
  t.equal(reader.signers.list.version, 2);
  await reader.untilSignedBy(SECOND);
  chain = announced(chain, next, SECOND.evm, Math.max(atS, nowS()));
  service.reconfigure(sections, keys, announcementLines(chain));
  await untilFollowed([reader], 3);
  await untilTicks([reader], 20);
  t.same(
    [...reader.streamKeys],
    [FIRST, SECOND].map(({ stream }) => addressOf(stream)),
  );

  const late = await RotationReader.open(t, service.url, { ...trust, known });
  await late.untilSignedBy(SECOND);
  await untilTicks([late], 20);
  t.equal(late.signers.list.version, 3);
  checkReaders(t, 'the readers that were up and away', [reader, late]);
  await load.stop();
});
