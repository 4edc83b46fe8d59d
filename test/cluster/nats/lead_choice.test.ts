import { test } from 'tap';
import { LeadChoice, type LogCopies } from '../../../src/cluster/nats/lead_choice.js';

const NONE: ReadonlySet<string> = new Set();
const SILENT_MS = 2_000;

/** Returns the state of three servers, of which some are silent or lack records. */
function copies(
  leader: string,
  ownServer: string,
  silent: readonly string[] = [],
  lagging = silent,
): LogCopies {
  const others = ['n1', 'n2', 'n3']
    .filter((server) => server !== leader)
    .map((server) => ({
      server,
      isCurrent: !lagging.includes(server),
      silentMs: silent.includes(server) ? SILENT_MS : 100,
    }));
  return { leader, ownServer, others };
}

/** Asks for the next server, and moves the lead there. */
function move(choice: LeadChoice, state: LogCopies, nowMs: number): string | undefined {
  const to = choice.next(state, NONE, nowMs);
  if (to !== undefined) choice.moved(nowMs);
  return to;
}

test('the lead stays apart from the writing node', async (t) => {
  const choice = new LeadChoice();
  t.equal(choice.next(copies('n1', 'n2'), NONE, 0), undefined);
  t.equal(choice.next(copies('n1', 'n1'), NONE, 0), 'n2');
  t.equal(choice.next(copies('n1', 'n1'), new Set(['n2']), 0), 'n3', 'n2 is damaged');
  t.equal(choice.next(copies('n1', 'n1', [], ['n2']), NONE, 0), 'n3', 'n2 lacks records');
  t.equal(choice.next(copies('n1', 'n1', [], ['n2', 'n3']), NONE, 0), undefined, 'no other copy is complete');
  t.equal(choice.next({ ...copies('n1', 'n1'), leader: undefined }, NONE, 0), undefined, 'nobody leads');
});

test('the lead moves to the server that reaches both others, and stays there while the link may be broken', async (t) => {
  const choice = new LeadChoice();
  t.equal(move(choice, copies('n1', 'n3', ['n2']), 0), 'n3', 'also if it is the server of the writing node');
  t.equal(move(choice, copies('n3', 'n3'), 1_000), undefined);
  t.equal(move(choice, copies('n3', 'n3'), 59_000), undefined);
  t.equal(move(choice, copies('n3', 'n3'), 60_000), 'n1', 'it tries again');
  t.equal(move(choice, copies('n1', 'n3', ['n2']), 62_000), 'n3');
});

test('the lead is moved again when it could not be moved', async (t) => {
  const choice = new LeadChoice();
  t.equal(choice.next(copies('n1', 'n3', ['n2']), NONE, 0), 'n3');
  t.equal(move(choice, copies('n1', 'n3', ['n2']), 1_000), 'n3');
  t.equal(move(choice, copies('n1', 'n3', ['n2']), 2_000), undefined);
});

test('the lead moves once for a dead server', async (t) => {
  const choice = new LeadChoice();
  t.equal(move(choice, copies('n1', 'n3', ['n2']), 0), 'n3');
  t.equal(move(choice, copies('n3', 'n3', ['n2']), 1_000), 'n1', 'away from the writing node again');
  for (let ms = 2_000; ms < 100_000; ms += 1_000)
    t.equal(move(choice, copies('n1', 'n3', ['n2']), ms), undefined);
  t.equal(move(choice, copies('n1', 'n3'), 100_000), undefined, 'it is back');
  t.equal(move(choice, copies('n1', 'n2', ['n2']), 200_000), 'n3', 'it is gone again');
});

test('the lead does not move to a server that is silent, lacks records or is damaged', async (t) => {
  t.equal(new LeadChoice().next(copies('n1', 'n2', ['n2', 'n3'], []), NONE, 0), undefined);
  t.equal(new LeadChoice().next(copies('n1', 'n2', ['n2'], ['n3']), NONE, 0), undefined);
  t.equal(new LeadChoice().next(copies('n1', 'n2', ['n2']), new Set(['n3']), 0), undefined);
});
