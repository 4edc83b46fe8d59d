import { DOCUMENT_PATHS, PAGE_PATHS, REST_PATHS } from '../../wire/paths.js';
import { EXACT_NUMBERS } from './about.js';
import type { AsyncApiDocument } from './asyncapi.js';
import { type OpenApiDocument, operationsOf } from './openapi.js';

/**
 * Writes both documents as a short text for language models (llmstxt.org): each path with its summary and parameters. The links lead to
 * the whole description.
 */
export function writeLlmsText(rest: OpenApiDocument, sockets: AsyncApiDocument): string {
  const operations = operationsOf(rest).map(({ path, method, operation }) => {
    const { operationId, summary, parameters, security, tags } = operation;
    const names = parameters.map(({ name, required }) => (required ? name : `${name} (optional)`));
    const query = names.length === 0 ? '' : `. Query: ${names.join(', ')}`;
    const access = security?.length === 0 ? '. Needs no token' : '';
    return link(
      `${method === 'GET' ? '' : `${method} `}${path}`,
      tags[0]!,
      operationId,
      summary + query + access,
    );
  });
  const channels = Object.entries(sockets.channels).map(([name, { address, title, bindings, tags }]) => {
    const names = Object.keys(bindings.ws.query.properties ?? {});
    return link(
      address,
      tags[0]!.name,
      `channel-${name}`,
      names.length === 0 ? title : `${title}. Query: ${names.join(', ')}`,
    );
  });
  return `# tickseal

> Signed prices of assets. Publishers sign prices; the service verifies and aggregates them, signs the aggregate and serves it. Every reader can verify a price offline.

- ${EXACT_NUMBERS}
- Requests carry the header \`Authorization: Basic <TOKEN>\`. A success is \`{"data":…}\`, an error \`{"error":"…"}\`.
- \`${REST_PATHS.taxonomy}\` lists the symbols and the streaming IDs.
- A price counts as verified only when its signature was checked against a signer that the user named. \`tickseal verify\` checks one, and \`tickseal mcp\` \
serves verified prices to a language model (Model Context Protocol).
- Candles, market hours and \`unsigned\` frames are not signed.

## REST

${operations.join('\n')}

## WebSockets

${channels.join('\n')}

## Whole descriptions

- [OpenAPI](${DOCUMENT_PATHS.openApi}): REST, for programs
- [AsyncAPI](${DOCUMENT_PATHS.asyncApi}): WebSockets, for programs
- [Client](${PAGE_PATHS.documents}client.html): the client for Node and browsers
`;
}

function link(name: string, page: string, anchor: string, notes: string): string {
  return `- [${name}](${PAGE_PATHS.documents}${page}.html#${anchor}): ${notes}`;
}
