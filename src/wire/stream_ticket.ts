// How a web page logs in to a stream. The only header of such a request that browsers let a page set is the list of subprotocols.

/** The subprotocol of the streams: the only one that the server selects. */
export const STREAM_PROTOCOL = 'tickseal.v1';

/** The ticket stands behind it, as a second subprotocol that the client offers. */
export const TICKET_PREFIX = 'ticket.';

/** A ticket opens one stream, within this time. */
export const TICKET_LIFETIME_S = 30;
