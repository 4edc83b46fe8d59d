import { test } from 'tap';
import {
  createTicketMemory,
  TICKETS_MAX,
  TICKETS_PER_TOKEN_MAX,
  TicketIssuer,
} from '../../../src/server/access/ticket_issuer.js';
import { FakeClock } from '../../clock/fake_clock.js';

const LIFETIME_MS = 30_000;

function newTickets() {
  const clock = new FakeClock();
  const tickets = new TicketIssuer(createTicketMemory(), clock);
  /** Issues tickets for token number `n`. */
  const issue = (n: number) => tickets.issue(tokenHash(n))!.text;
  const take = (text: string) => tickets.take(text);
  return { clock, tickets, issue, take };
}

function tokenHash(n: number): Buffer {
  const hash = Buffer.alloc(32, 0xee);
  hash.writeUInt32LE(n);
  return hash;
}

const hexOf = (n: number) => tokenHash(n).toString('hex');

test('a ticket stands for its token, once', async (t) => {
  const { issue, take } = newTickets();
  const [first, second] = [issue(1), issue(2)];
  t.match(first, /^[\w-]{43}$/, '256 bits');
  t.not(first, second);
  t.equal(take('x'.repeat(43)), undefined);
  t.equal(take(''), undefined);
  t.equal(take(first), hexOf(1));
  t.equal(take(first), undefined);
  t.equal(take(second), hexOf(2));
});

test('a ticket is good for 30 s, and not when the clock was stepped back', async (t) => {
  const { clock, tickets, issue, take } = newTickets();
  const nowMs = Number(clock.nowNs() / 1_000_000n);
  t.equal(tickets.issue(tokenHash(1))!.expiresMs, nowMs + LIFETIME_MS);
  const [early, late] = [issue(1), issue(2)];
  clock.advanceMs(LIFETIME_MS - 1);
  t.equal(take(early), hexOf(1));
  clock.advanceMs(1);
  t.equal(take(late), undefined);
  const ahead = issue(3);
  clock.advanceMs(-1);
  t.equal(take(ahead), undefined);
});

test('another ticket of a token replaces its oldest at its limit, and no other', async (t) => {
  const { clock, issue, take } = newTickets();
  const other = issue(2);
  const own = Array.from({ length: TICKETS_PER_TOKEN_MAX }, () => {
    clock.advanceMs(1);
    return issue(1);
  });
  own.push(issue(1));
  t.equal(take(own[0]!), undefined);
  t.same(new Set(own.slice(1).map(take)), new Set([hexOf(1)]));
  t.equal(take(other), hexOf(2));
});

test('when there is no room, a new ticket takes that of none that is good', async (t) => {
  const { clock, tickets, issue, take } = newTickets();
  const texts = Array.from({ length: TICKETS_MAX }, (_, i) => issue(Math.floor(i / TICKETS_PER_TOKEN_MAX)));
  t.equal(tickets.issue(tokenHash(1_000)), undefined);
  t.equal(take(texts[700]!), hexOf(Math.floor(700 / TICKETS_PER_TOKEN_MAX)));
  const late = issue(1_000);
  t.equal(tickets.issue(tokenHash(1_001)), undefined);
  t.equal(take(late), hexOf(1_000));
  t.equal(take(texts.at(-1)!), hexOf(TICKETS_MAX / TICKETS_PER_TOKEN_MAX - 1));
  clock.advanceMs(LIFETIME_MS);
  t.equal(take(issue(1_002)), hexOf(1_002), 'tickets that are too old make room');
});
