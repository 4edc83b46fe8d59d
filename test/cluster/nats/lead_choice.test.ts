import { test } from 'tap';
import { LeadChoice, type LogCopies } from '../../../src/cluster/nats/lead_choice.js';

const NONE: ReadonlySet<string> = new Set();
const MINUTE_MS = 60_000;

/** Returns the state of three servers, of which some are silent or lack records. */
function copies(
  leader: string,
  ownServer: string,
  silent: readonly string[] = [],
  { lagging = silent, silentMs = 2_000 }: { lagging?: readonly string[]; silentMs?: number } = {},
): LogCopies {
  const others = ['n1', 'n2', 'n3']
    .filter((server) => server !== leader)
    .map((server) => ({
      server,
      isCurrent: !lagging.includes(server),
      silentMs: silent.includes(server) ? silentMs : 100,
    }));
  return { leader, ownServer, others };
}

test('the lead stays apart from the writing node', async (t) => {
  const choice = new LeadChoice();
  t.equal(choice.next(copies('n1', 'n2'), NONE, 0), undefined);
  t.equal(choice.next(copies('n1', 'n1'), NONE, 0), 'n2');
  t.equal(choice.next(copies('n1', 'n1'), new Set(['n2']), 0), 'n3', 'n2 is damaged');
  t.equal(choice.next(copies('n1', 'n1', [], { lagging: ['n2'] }), NONE, 0), 'n3', 'n2 lacks records');
  t.equal(choice.next(copies('n1', 'n1', [], { lagging: ['n2', 'n3'] }), NONE, 0), undefined);
  t.equal(choice.next({ ...copies('n1', 'n1'), leader: undefined }, NONE, 0), undefined, 'nobody leads');
});

test('the lead moves to the server that reaches both others, and stays while the link may be broken', async (t) => {
  const choice = new LeadChoice();
  t.equal(choice.next(copies('n1', 'n3', ['n2'], { silentMs: 1_400 }), NONE, 0), undefined, 'not yet');
  t.equal(choice.next(copies('n1', 'n3', ['n2']), NONE, 0), 'n3', 'also the server of the writing node');
  t.equal(choice.next(copies('n1', 'n3', ['n2']), NONE, 1_000), 'n3', 'again if it was not moved');
  t.equal(choice.next(copies('n3', 'n3'), NONE, 2_000), undefined);
  t.equal(choice.next(copies('n3', 'n3'), NONE, 10 * MINUTE_MS), undefined);
  t.equal(choice.next(copies('n3', 'n3'), NONE, 11 * MINUTE_MS), 'n1', 'apart again');
});

test('the lead moves to the server of another node, if there is a choice', async (t) => {
  const five = copies('n1', 'n2', ['n3']);
  const state = { ...five, others: [...five.others, { server: 'n4', isCurrent: true, silentMs: 0 }] };
  t.equal(new LeadChoice().next(state, NONE, 0), 'n4');
});

test('the lead stays after an election, although the server that led before is silent', async (t) => {
  for (const silentMs of [4_000, 9_000, 0])
    t.equal(new LeadChoice().next(copies('n1', 'n3', ['n2'], { silentMs }), NONE, 0), undefined);
});

test('the lead does not move to a server that is silent, lacks records or is damaged', async (t) => {
  const next = (state: LogCopies, damaged = NONE) => new LeadChoice().next(state, damaged, 0);
  t.equal(next(copies('n1', 'n2', ['n2', 'n3'], { lagging: [] })), undefined);
  t.equal(next(copies('n1', 'n2', ['n2'], { lagging: ['n3'] })), undefined);
  t.equal(next(copies('n1', 'n2', ['n2']), new Set(['n3'])), undefined);
});
