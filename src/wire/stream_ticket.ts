// The login of a web page to a stream. The only header of such a request that browsers let a page set is the list of
// subprotocols.

/** The subprotocol of the streams: the only one that the server selects. */
export const STREAM_PROTOCOL = 'tickseal.v1';

/** The prefix of the ticket, which the client offers as a second subprotocol. */
export const TICKET_PREFIX = 'ticket.';

/** The time within which a ticket opens one stream. */
export const TICKET_LIFETIME_S = 30;
