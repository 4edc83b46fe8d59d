import { test } from 'tap';
import { Token } from '../../../src/server/access/tokens.js';
import { streamTicketRoutes } from '../../../src/server/routes/stream_ticket_route.js';
import { REST_PATHS } from '../../../src/wire/paths.js';
import { sampleToken } from '../access/sample_tokens.js';

test('a ticket is for the token that asks, and its end is rounded down to seconds', async (t) => {
  const asked: Buffer[] = [];
  const routes = new Map(
    streamTicketRoutes({
      tickets: {
        issue(tokenHash) {
          asked.push(tokenHash);
          return asked.length === 1 ? { text: 'x', expiresMs: 1_999 } : undefined;
        },
      },
    }),
  );
  const alice = new Token(sampleToken('alice'));
  const ask = () => routes.get(REST_PATHS.streamTicket)!.handle(new Map(), alice);
  t.same(ask(), { data: '{"ticket":"x","expires_at":1}' });
  t.same(ask(), { status: 503, error: 'too many tickets are not used yet' }, 'there is no room');
  t.same(asked, [alice.config.sha256, alice.config.sha256]);
});
