import { test } from 'tap';
import { NS_PER_SECOND } from '../../../src/model/time.js';
import { offersTicket } from '../../../src/server/access/logins.js';
import { createTicketMemory, TicketIssuer } from '../../../src/server/access/ticket_issuer.js';
import { Token, TokenDirectory } from '../../../src/server/access/tokens.js';
import type { RestRequest } from '../../../src/server/http/rest_exchange.js';
import { STREAM_PROTOCOL } from '../../../src/wire/stream_ticket.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { sampleLogins, sampleRequest, sampleToken } from './sample_tokens.js';

/** An origin that `sampleLogins` allows. */
const PAGE = 'https://app.example';

function newLogins(failuresPerMinute = 3) {
  const clock = new FakeClock();
  const refused: string[] = [];
  const limited: string[] = [];
  const logins = sampleLogins(new TokenDirectory([sampleToken('alice'), sampleToken('bob')]), {
    clock,
    failuresPerMinute,
    onRefused: (reason) => refused.push(reason),
    onLimited: (client) => limited.push(client),
  });
  const login = (token: string | undefined, address = '198.51.100.1') => {
    const authorization = token === undefined ? [] : [`Basic ${token}`];
    const result = logins.authorize(sampleRequest({ authorization, address }), 'rest');
    return result instanceof Token ? result.name : result.status;
  };
  return { clock, refused, limited, logins, login };
}

test('failed logins of an address are limited and counted', async (t) => {
  const { login, refused, limited, logins, clock } = newLogins();
  t.same([login('x'), login(undefined), login('y y')], [401, 401, 401]);
  t.equal(login('x'), 429);
  const request = sampleRequest({ authorization: ['Basic x'], address: '198.51.100.1' });
  t.match(logins.authorize(request, 'rest'), {
    body: '{"error":"too many failed logins from this address"}',
    headers: [
      ['RateLimit-Limit', '3'],
      ['RateLimit-Remaining', '0'],
      ['RateLimit-Reset', '60'],
      ['Retry-After', '20'],
    ],
  });
  t.equal(login(undefined), 429, 'also without a token');
  t.same(refused, ['unknown', 'missing', 'malformed', 'limited', 'limited', 'limited']);
  t.same(limited, ['198.51.100.1'], 'reported once');
  t.equal(login('x', '198.51.100.2'), 401, 'another address');
  clock.advance(20n * NS_PER_SECOND);
  t.same([login('x'), login('x')], [401, 429]);
  t.same(limited, ['198.51.100.1', '198.51.100.1']);
});

test('past the limit a token comes in where it was used before, and no other is looked up', async (t) => {
  const { login, clock } = newLogins();
  t.equal(login('alice'), 'alice');
  for (let i = 0; i < 100; i++) login(`guess${i}`);
  t.equal(login('alice'), 'alice', 'who shares the address of an attacker is not locked out');
  t.equal(login('bob'), 429, 'a guess that is right looks like one that is wrong');
  t.equal(login('bob', '198.51.100.2'), 'bob');
  t.equal(login('alice', '198.51.100.2'), 'alice', 'another address is not limited');
  clock.advance(20n * NS_PER_SECOND);
  t.equal(login('bob'), 'bob');
});

function newTicketLogins() {
  const clock = new FakeClock();
  const refused: string[] = [];
  const directory = new TokenDirectory([sampleToken('alice'), sampleToken('bob')]);
  const tickets = new TicketIssuer(createTicketMemory(), clock);
  const logins = sampleLogins(directory, {
    clock,
    tickets,
    failuresPerMinute: 3,
    onRefused: (reason) => refused.push(reason),
  });
  const ticketOf = (name: string) => tickets.issue(sampleToken(name).sha256)!.text;
  const login = (overrides: Partial<RestRequest>) =>
    logins.authorizeTicket(sampleRequest({ origin: PAGE, ...overrides }));
  const loginBy = (ticket: string, overrides: Partial<RestRequest> = {}) =>
    login({ protocols: [STREAM_PROTOCOL, `ticket.${ticket}`], ...overrides });
  return { clock, directory, logins, refused, ticketOf, login, loginBy };
}

test('a ticket logs in the token that it was issued to, once', async (t) => {
  const { loginBy, ticketOf, refused } = newTicketLogins();
  const ticket = ticketOf('alice');
  t.match(loginBy(ticket), { name: 'alice' });
  t.match(loginBy(ticket), {
    status: 401,
    headers: [['WWW-Authenticate', 'Ticket realm="tickseal"']],
    body: /not known, was used, or is older than 30 s/,
  });
  t.match(loginBy('x'.repeat(43)), { status: 401 });
  t.match(loginBy(''), { status: 401 });
  t.match(loginBy(''), { status: 429 }, 'they count as failed logins');
  t.match(loginBy(ticketOf('bob')), { name: 'bob' }, 'nobody guesses one that is right');
  t.same(refused, ['ticket', 'ticket', 'ticket', 'limited']);
});

test('a ticket is worth what its token is worth when it is used', async (t) => {
  const { clock, directory, loginBy, ticketOf } = newTicketLogins();
  const tickets = { alice: ticketOf('alice'), bob: ticketOf('bob') };
  directory.reload([sampleToken('bob', { scopes: new Set(['rest']) })]);
  t.match(loginBy(tickets.alice), { status: 401 });
  t.match(loginBy(tickets.bob), { status: 403, body: /no scope .*stream/ });
  directory.reload([sampleToken('bob')]);
  const late = ticketOf('bob');
  clock.advance(30n * NS_PER_SECOND);
  t.match(loginBy(late), { status: 401 });
});

test('pages of other origins are refused before their ticket is looked at', async (t) => {
  const { loginBy, ticketOf, refused } = newTicketLogins();
  const ticket = ticketOf('alice');
  for (const origin of ['https://evil.example', 'null'])
    t.match(loginBy(ticket, { origin }), { status: 403, body: /listen.allowed_origins/ });
  t.same(refused, ['origin', 'origin']);
  t.match(loginBy(ticket, { origin: undefined }), { name: 'alice' }, 'what is no browser sends none');
});

test('headers that do not fit together are 400, and use up no ticket', async (t) => {
  const { login, loginBy, ticketOf, refused } = newTicketLogins();
  const ticket = ticketOf('alice');
  const offer = `ticket.${ticket}`;
  t.match(loginBy(ticket, { authorization: ['Basic alice'] }), { status: 400, body: /Authorization/ });
  t.match(login({ protocols: [offer] }), { status: 400, body: /tickseal\.v1/ });
  t.match(login({ protocols: [STREAM_PROTOCOL, offer, offer] }), { status: 400, body: /2 tickets/ });
  t.same(refused, []);
  t.match(login({ protocols: [offer, 'other', STREAM_PROTOCOL] }), { name: 'alice' });
  t.notOk(offersTicket(sampleRequest()));
  t.notOk(offersTicket(sampleRequest({ protocols: [STREAM_PROTOCOL, 'tickets.x'] })));
  t.ok(offersTicket(sampleRequest({ protocols: [offer] })));
});
