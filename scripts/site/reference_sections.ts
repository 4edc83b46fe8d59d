import type { AsyncApiDocument } from '../../src/server/documents/asyncapi.js';
import type { JsonSchema } from '../../src/server/documents/json_schema.js';
import {
  type OpenApiDocument,
  type OpenApiOperation,
  operationsOf,
} from '../../src/server/documents/openapi.js';
import type { RouteGroupName } from '../../src/server/documents/route_groups.js';
import { type Html, html, joinHtml } from './html.js';
import { renderCodeBlock, renderInline, renderMarkdown, tableOf } from './markdown.js';
import { renderSamples } from './samples.js';
import { renderFields, renderNotes, renderType } from './schema_html.js';

/** Both documents of a service, from which the sections of the reference are made. */
export interface Documents {
  readonly rest: OpenApiDocument;
  readonly sockets: AsyncApiDocument;
}

/** Renders what holds for all requests: the description of the REST API, and the answers other than 200. */
export function renderRestBasics({ rest }: Documents): Html {
  const rows = Object.entries(rest.components.responses).map(([name, { description, headers }]) => [
    html`<span id="response-${name}">${name}</span>`,
    renderInline(description),
    joinHtml(
      Object.keys(headers).map((header) => html`<code>${header}</code>`),
      ' ',
    ),
  ]);
  return html`${renderMarkdown(rest.info.description)}
<h2 id="statuses">Statuses other than 200</h2>
${tableOf(['Status', 'When', 'Headers'], rows)}`;
}

/** Renders the requests of a group. */
export function renderOperations({ rest }: Documents, group: RouteGroupName): Html {
  const listed = operationsOf(rest).filter(({ operation }) => operation.tags.includes(group));
  return html`<h2 id="requests">Requests</h2>\n${listed.map(renderOperation)}`;
}

function renderOperation(listed: ReturnType<typeof operationsOf>[number]): Html {
  const { path, method, operation } = listed;
  const { operationId, summary, parameters, responses, security } = operation;
  const failures = Object.entries(responses).flatMap(([status, response]) =>
    '$ref' in response
      ? [html`<a href="requests.html#response-${response.$ref.split('/').at(-1)}">${status}</a>`]
      : [],
  );
  return html`<section class="operation">
<h3 id="${operationId}"><span class="tag">${method}</span> ${path}${accessTag(security)}</h3>
<p>${renderInline(summary)}.</p>
${parameters.length > 0 ? parameterTable(parameters) : undefined}
${renderSamples(listed)}
<h4>Answer</h4>
${renderBody(responses)}
<p>Otherwise ${joinHtml(failures, ', ')}.</p>
</section>
`;
}

/** Renders the mark next to the paths that take no token. */
function accessTag(security: OpenApiOperation['security']): Html | undefined {
  if (security === undefined) return undefined;
  const text = security.length === 0 ? 'no token' : 'login by signature';
  return html` <span class="tag">${text}</span>`;
}

function parameterTable(parameters: OpenApiOperation['parameters']): Html {
  const rows = parameters.map(({ name, required, description, schema }) => [
    html`<code>${name}</code>${required ? undefined : html` <i>optional</i>`}`,
    renderType(schema),
    renderNotes({ ...schema, description }),
  ]);
  return tableOf(['Parameter', 'Type', 'Meaning'], rows);
}

function renderBody(responses: OpenApiOperation['responses']): Html {
  const ok = responses['200']!;
  if ('$ref' in ok) return html``;
  return html`${Object.entries(ok.content).map(
    ([contentType, { schema }]) =>
      html`<p><code>${contentType}</code>: ${renderType(schema)}</p>${renderFields(schema)}`,
  )}`;
}

/** Renders the WebSockets of a group. */
export function renderChannels({ sockets }: Documents, group: RouteGroupName): Html {
  const listed = Object.entries(sockets.channels).filter(([, { tags }]) =>
    tags.some(({ name }) => name === group),
  );
  return html`<h2 id="websockets">WebSockets</h2>
${renderMarkdown(sockets.info.description)}
${listed.map(([name, channel]) => renderChannel(name, channel, sockets))}`;
}

type ChannelDocument = AsyncApiDocument['channels'][string];

function renderChannel(channelName: string, channel: ChannelDocument, document: AsyncApiDocument): Html {
  const { address, title, description, messages, bindings } = channel;
  const sent = new Set(
    Object.values(document.operations).flatMap(({ action, messages: listed, reply }) =>
      [...(action === 'send' ? listed : []), ...(reply?.messages ?? [])].map(({ $ref }) => $ref),
    ),
  );
  return html`<section>
<h3 id="channel-${channelName}"><span class="tag">WS</span> ${address}: ${title}</h3>
${renderMarkdown(description)}
<h4>Query</h4>
${renderFields(bindings.ws.query)}
${Object.keys(messages).map((name) =>
  renderMessage(
    `${channelName}-${name}`,
    document.components.messages[name]!,
    sent.has(`#/channels/${channelName}/messages/${name}`) ? 'from the service' : 'to the service',
  ),
)}
</section>
`;
}

function renderMessage(
  id: string,
  { title, summary, description, payload, examples }: AsyncApiDocument['components']['messages'][string],
  direction: string,
): Html {
  return html`<section>
<h4 id="message-${id}">${title} <span class="tag">${direction}</span></h4>
<p>${renderInline(summary)}: ${renderType(payload)}.</p>
${description === undefined ? undefined : renderMarkdown(description)}
${examples.map((example) => renderCodeBlock(JSON.stringify(example.payload, undefined, 2)))}
</section>
`;
}

/** Renders the schemas of both documents, in the order of their names. */
export function renderSchemas({ rest, sockets }: Documents): Html {
  const schemas = { ...rest.components.schemas, ...sockets.components.schemas };
  return html`${Object.keys(schemas)
    .sort()
    .map((name) => renderSchema(name, schemas[name]!))}`;
}

function renderSchema(name: string, schema: JsonSchema): Html {
  const { description } = schema;
  return html`<section>
<h2 id="schema-${name}">${name}</h2>
<p>${renderType(schema)}${description === undefined ? undefined : html`. ${renderNotes(schema)}`}</p>
${renderFields(schema)}
</section>
`;
}
