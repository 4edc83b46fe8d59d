import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { CheckpointPublisher } from '../../../src/cluster/node/checkpoint_publisher.js';
import { CheckpointSigner } from '../../../src/publiclog/ledger/checkpoint_signer.js';
import { Ledger, LedgerStopped } from '../../../src/publiclog/ledger/ledger.js';
import { startLog } from '../../../src/publiclog/ledger/log_start.js';
import { parsePolicy } from '../../../src/tlog/log_policy.js';
import type { Cosigned, WitnessFault, WitnessState } from '../../../src/tlog/witness_submitter.js';
import { LOG, LOG_ORIGIN, policyText, SECOND_NS } from '../../tlog/witnessed_log.js';
import { ledgerFolders } from './ledger_folders.js';

const NO_SIZES = { read: () => undefined, write: async () => {} };

/** Makes a checkpoint publisher. The test controls the publisher's clock and the answers of the witnesses. */
async function publisherOf(
  t: Test,
  options: { readonly quorum?: string; readonly requireQuorum?: boolean; readonly isCopy?: boolean } = {},
) {
  const { quorum = 'group G 2 W1 W2 W3\nquorum G', requireQuorum = false, isCopy = false } = options;
  const folders = ledgerFolders(t);
  await startLog({ ...folders, origin: LOG_ORIGIN, sizes: NO_SIZES, mustExist: false });
  const ledger = await Ledger.open({ ...folders, origin: LOG_ORIGIN, onMismatch: t.fail });
  t.teardown(() => ledger.close());
  const faults = new Map<string, WitnessFault>();
  const sizes = new Map<string, bigint>();
  const asked: string[] = [];
  const answers: ((cosigned: Cosigned) => void)[] = [];
  let [nowMs, inFlight] = [0, 0];
  const publisher = new CheckpointPublisher({
    ...folders,
    signer: new CheckpointSigner({ ...folders, origin: LOG_ORIGIN, key: LOG }),
    policy: parsePolicy(policyText(quorum)),
    submitter: () => ({
      get witnesses(): WitnessState[] {
        return ['W1', 'W2', 'W3'].map((name) => ({
          name,
          url: '',
          size: sizes.get(name),
          timeS: undefined,
          fault: faults.get(name),
        }));
      },
      submit: (note, signal, onCosigned) => {
        inFlight += 1;
        t.equal(inFlight, 1, 'one submission at a time');
        asked.push(note.split('\n')[1]!);
        answers.push((cosigned) => onCosigned?.(cosigned));
        return new Promise((resolve) => {
          const end = () => {
            inFlight -= 1;
            resolve({ note, isQuorum: false });
          };
          signal.addEventListener('abort', end, { once: true });
        });
      },
    }),
    graceMs: 60_000,
    requireQuorum,
    isCopy,
    onConfirmed: async () => {},
    nowMs: () => nowMs,
  });
  t.teardown(() => publisher.stopAsking());
  return {
    publisher,
    faults,
    sizes,
    asked,
    answers,
    advance: (ms: number) => {
      nowMs += ms;
    },
    /** Closes a batch, and passes the tree to the publisher. */
    offer: async () => {
      const fromNs = ledger.last?.toNs ?? 0n;
      await ledger.apply(await ledger.nextEntry(0n, fromNs, fromNs + SECOND_NS));
      await publisher.offer(await ledger.seal());
    },
    /** Publishes the checkpoint that is due. */
    publish: async () => t.ok(await publisher.show(publisher.due!, ledger.sealed)),
    served: () => readFileSync(join(folders.publicFolder, 'checkpoint'), 'utf8'),
  };
}

/** Returns a checkpoint of one batch with a signature of each of these names. */
function signedBy(names: string): string {
  const root = Buffer.alloc(32).toString('base64');
  const lines = names.split(' ').map((name) => `— ${name} ${Buffer.alloc(68).toString('base64')}\n`);
  return `${LOG_ORIGIN}\n1\n${root}\n\n${lines.join('')}`;
}

test('a checkpoint is published with the quorum, and again with each later cosignature', async (t) => {
  const { publisher, answers, asked, offer, publish, served, advance } = await publisherOf(t);
  await offer();
  t.notOk(publisher.due);
  t.notOk(publisher.mayReplace, 'the witnesses have time to answer');
  answers[0]!({ note: signedBy('one'), isQuorum: false });
  t.notOk(publisher.due);
  answers[0]!({ note: signedBy('one two'), isQuorum: true });
  t.ok(publisher.due && publisher.mayReplace);
  await publish();
  t.equal(served(), signedBy('one two'));
  t.notOk(publisher.due);
  answers[0]!({ note: signedBy('one two three'), isQuorum: true });
  await publish();
  t.equal(served(), signedBy('one two three'));
  await offer();
  t.same(asked, ['1', '2']);
  t.notOk(publisher.due, 'the older one stays until the next one has the quorum');
  advance(10_000);
  t.ok(publisher.mayReplace, 'slow witnesses do not hold the next one up for longer');
});

test('a checkpoint that lacks the quorum is published after the grace, or never', async (t) => {
  const { publisher, offer, publish, served, advance } = await publisherOf(t);
  await offer();
  for (let i = 0; i < 6; i += 1) {
    t.notOk(publisher.due);
    advance(10_000);
    await offer();
  }
  t.ok(publisher.isGraceOver && publisher.due, 'the grace counts from the first that lacks it');
  await publish();
  t.match(served(), /^prices\.example\.com\/tlog\n7\n/);
  t.equal(served().match(/^— /gm)?.length, 1, 'the signature of the log alone');
  const strict = await publisherOf(t, { requireQuorum: true });
  await strict.offer();
  strict.advance(600_000);
  t.ok(strict.publisher.isGraceOver);
  t.notOk(strict.publisher.due);
});

test('a log that lacks what witnesses have cosigned stops, and one witness alone does not stop it', async (t) => {
  const { publisher, faults, offer, asked } = await publisherOf(t);
  await offer();
  faults.set('W1', { kind: 'larger', size: 1_000n });
  await offer();
  faults.set('W3', { kind: 'forked', reason: 'it answers 422' });
  await t.rejects(offer(), LedgerStopped);
  t.throws(() => publisher.requireNoLoss(), { message: /W1 has cosigned 1000 batches.*W3.*another tree/ });
  t.same(asked, ['1', '2'], 'and signs nothing more');
  const open = await publisherOf(t, { quorum: 'quorum none' });
  for (const name of ['W1', 'W2', 'W3']) open.faults.set(name, { kind: 'larger', size: 9n });
  t.throws(() => open.publisher.requireNoLoss(), LedgerStopped, 'all witnesses together stop the log');
});

test('after a start nothing new is signed before a quorum has said that it knows no more', async (t) => {
  const again = await publisherOf(t);
  t.notOk(await again.publisher.confirm());
  t.same(again.asked, ['0'], 'the question is about the empty tree');
  again.answers[0]!({ note: 'cosigned', isQuorum: true });
  t.notOk(again.publisher.due, 'and is never published');
  again.sizes.set('W1', 0n);
  t.notOk(await again.publisher.confirm(), 'one witness is no quorum');
  again.faults.set('W2', { kind: 'refused', status: 404, reason: 'it answers 404' });
  t.ok(await again.publisher.confirm());
  const lost = await publisherOf(t);
  await lost.publisher.confirm();
  lost.faults.set('W3', { kind: 'larger', size: 9n });
  lost.sizes.set('W1', 0n).set('W2', 0n);
  await t.rejects(lost.publisher.confirm(), /W3 has cosigned 9 batches: the log has lost batches/);
  const silent = await publisherOf(t);
  t.notOk(await silent.publisher.confirm());
  silent.advance(60_000);
  t.ok(await silent.publisher.confirm(), 'without answers the grace counts');
  const copy = await publisherOf(t, { isCopy: true });
  await copy.publisher.confirm();
  copy.advance(600_000);
  t.notOk(await copy.publisher.confirm(), 'for a copy no grace counts');
  copy.sizes.set('W1', 0n).set('W2', 0n);
  t.ok(await copy.publisher.confirm());
});
