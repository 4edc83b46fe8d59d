// The login of a web page to a stream. The login uses the list of subprotocols, because browsers let a page set no other header for a
// WebSocket.

/** The subprotocol of the streams. The server selects no other subprotocol. */
export const STREAM_PROTOCOL = 'tickseal.v1';

/** The prefix of the second subprotocol that the client offers. The ticket follows the prefix. */
export const TICKET_PREFIX = 'ticket.';

/** The time for which a ticket is valid. A ticket opens a single stream. */
export const TICKET_LIFETIME_S = 30;
