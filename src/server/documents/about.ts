import { REST_PATHS } from '../../wire/paths.js';
import { SIGNATURE_TYPES, SIGNATURES } from '../../wire/signatures.js';
import { STREAM_PROTOCOL, TICKET_LIFETIME_S, TICKET_PREFIX } from '../../wire/stream_ticket.js';
import { SIGNATURE_DOCUMENTS } from '../schemas/signature_documents.js';

// Descriptions of the service in CommonMark, for the `description` fields of both documents.

/** The version of the interface description. */
export const API_VERSION = '1.0';

export const EXACT_NUMBERS = `Prices are exact: the real price times 10^18, as a decimal string. Timestamps are integers \
of nanoseconds, which a double does not hold: read them with a parser that keeps every digit.`;

const loginHeader = (name: string, description: string) =>
  ({ type: 'apiKey', in: 'header', name, description }) as const;

/** The titles of the signature types with a recovery value. */
const WITH_RECOVERY = SIGNATURE_TYPES.filter((type) => SIGNATURES[type].hasRecovery)
  .map((type) => SIGNATURES[type].title)
  .join(' and ');

function sentence(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1);
}

/** The headers of a login with a signature. A request must have all four headers. */
export const LOGIN_SCHEMES = {
  loginKey: loginHeader(
    'X-Public-Key',
    `${sentence(SIGNATURE_TYPES.map((type) => SIGNATURE_DOCUMENTS[type].loginKey).join(', or '))}, as \`0x\` hex.`,
  ),
  loginTime: loginHeader('X-Timestamp', 'UNIX nanoseconds in decimal; whole seconds are signed.'),
  loginSignature: loginHeader(
    'X-Signature',
    `r and s of 32 bytes each and for ${WITH_RECOVERY} v (1b or 1c), as \`0x\` hex: the signature of a price, as a publisher signs it, of the \
asset \`STORKAUTH\`.`,
  ),
  loginType: loginHeader('X-Signature-Type', `${SIGNATURE_TYPES.map((type) => `\`${type}\``).join(' or ')}.`),
} as const;

/** The login of a web page that opens a stream. A web page cannot set an `Authorization` header. */
export const TICKET_SCHEME = {
  in: 'header',
  name: 'Sec-WebSocket-Protocol',
  description: `The value is \`${STREAM_PROTOCOL}, ${TICKET_PREFIX}<TICKET>\`: a web page offers both as subprotocols of its WebSocket. The ticket \
comes from \`${REST_PATHS.streamTicket}\` and opens one stream within ${TICKET_LIFETIME_S} s. The service selects \`${STREAM_PROTOCOL}\`. The publisher \
paths take no tickets.`,
} as const;

/** The scheme in the `Authorization` header. */
export const TOKEN_SCHEME = {
  in: 'header',
  name: 'Authorization',
  description: 'The value is `Basic <TOKEN>`, with the access token as it was issued.',
} as const;
