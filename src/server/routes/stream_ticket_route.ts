import { z } from 'zod';
import { REST_PATHS } from '../../wire/paths.js';
import { TICKET_LIFETIME_S, TICKET_PREFIX } from '../../wire/stream_ticket.js';
import type { TicketIssuer } from '../access/ticket_issuer.js';
import { type Route, tokenRoute } from '../rest/route.js';

export interface StreamTicketRouteOptions {
  readonly tickets: Pick<TicketIssuer, 'issue'>;
}

const streamTicket = z
  .strictObject({
    ticket: z.string().describe(`The subprotocol \`${TICKET_PREFIX}<ticket>\` opens one stream with it`),
    expires_at: z.int().describe('UNIX seconds; until then it can be used'),
  })
  .meta({ id: 'StreamTicket' });

export function streamTicketRoutes({ tickets }: StreamTicketRouteOptions): [string, Route][] {
  return [
    [
      REST_PATHS.streamTicket,
      tokenRoute({
        summary: `A ticket for one stream, which a web page sends in place of the token within ${TICKET_LIFETIME_S} s; the token needs the scope \`stream\``,
        scope: 'stream',
        response: streamTicket,
        errors: [503],
        handle(_values, token) {
          const ticket = tickets.issue(token.config.sha256);
          if (ticket === undefined) return { status: 503, error: 'too many tickets are not used yet' };
          const data = { ticket: ticket.text, expires_at: Math.floor(ticket.expiresMs / 1000) };
          return { data: JSON.stringify(data satisfies z.infer<typeof streamTicket>) };
        },
      }),
    ],
  ];
}
