import { DOCUMENT_PATHS } from '../../wire/paths.js';
import type { AsyncApiDocument } from './asyncapi.js';
import { type Html, html, joinHtml } from './html.js';
import type { JsonSchema } from './json_schema.js';
import { renderInline, renderMarkdown, tableOf } from './markdown.js';
import { type OpenApiDocument, type OpenApiOperation, operationsOf } from './openapi.js';
import { framePage } from './page_frame.js';
import { renderFields, renderNotes, renderType } from './schema_html.js';
import { renderTrust } from './trust_table.js';

/** Renders both documents as a single page that needs no script and loads no other file. */
export function renderPage(rest: OpenApiDocument, sockets: AsyncApiDocument): string {
  const schemas = { ...rest.components.schemas, ...sockets.components.schemas };
  const operations = operationsOf(rest);
  const channels = Object.entries(sockets.channels);
  const names = Object.keys(schemas).sort();
  const main = html`<h1>API reference</h1>
<p>Version ${rest.info.version}. For programs: <a href="${DOCUMENT_PATHS.openApi}">${DOCUMENT_PATHS.openApi}</a> and
<a href="${DOCUMENT_PATHS.asyncApi}">${DOCUMENT_PATHS.asyncApi}</a>. In JavaScript: <a href="${DOCUMENT_PATHS.clientPage}">the client</a>.</p>
<h2>REST</h2>
${renderMarkdown(rest.info.description)}
<h3>Statuses other than 200</h3>
${failureTable(rest.components.responses)}
${operations.map(renderOperation)}
<h2>WebSockets</h2>
${renderMarkdown(sockets.info.description)}
${channels.map(([name, channel]) => renderChannel(name, channel, sockets))}
${renderTrust()}
<h2>Schemas</h2>
${names.map((name) => renderComponent(name, schemas[name]!))}`;
  const contents = html`<b>REST</b>
<ul>${operations.map(({ path, operation }) => html`<li><a href="#${operation.operationId}">${path}</a></li>\n`)}</ul>
<b>WebSockets</b>
<ul>${channels.map(([name, { address }]) => html`<li><a href="#channel-${name}">${address}</a></li>\n`)}</ul>
<b>Schemas</b>
<ul>${names.map((name) => html`<li><a href="#schema-${name}">${name}</a></li>\n`)}</ul>`;
  return framePage(main, contents);
}

function renderOperation({ path, method, operation }: ReturnType<typeof operationsOf>[number]): Html {
  const { operationId, summary, parameters, responses, security } = operation;
  const failures = Object.entries(responses).flatMap(([status, response]) =>
    '$ref' in response ? [html`<a href="#response-${response.$ref.split('/').at(-1)}">${status}</a>`] : [],
  );
  return html`<section id="${operationId}">
<h3><span class="tag">${method}</span> ${path}${accessTag(security)}</h3>
<p>${renderInline(summary)}.</p>
${parameters.length > 0 ? parameterTable(parameters) : undefined}
<h4>200</h4>
${renderBody(responses)}
<p>Otherwise ${joinHtml(failures, ', ')}.</p>
</section>
`;
}

/** Renders the mark next to the paths that take a token. */
function accessTag(security: OpenApiOperation['security']): Html | undefined {
  if (security === undefined) return undefined;
  const text = security.length === 0 ? 'no token' : 'login by signature';
  return html` <span class="tag">${text}</span>`;
}

function failureTable(responses: OpenApiDocument['components']['responses']): Html {
  const rows = Object.entries(responses).map(([name, { description, headers }]) => [
    html`<span id="response-${name}">${name}</span>`,
    renderInline(description),
    joinHtml(
      Object.keys(headers).map((header) => html`<code>${header}</code>`),
      ' ',
    ),
  ]);
  return tableOf(['Status', 'When', 'Headers'], rows);
}

function parameterTable(parameters: readonly (QueryParameter & { readonly required: boolean })[]): Html {
  const rows = parameters.map(({ name, required, description, schema }) => [
    html`<code>${name}</code>${required ? undefined : html` <i>optional</i>`}`,
    renderType(schema),
    renderNotes({ ...schema, description }),
  ]);
  return html`<h4>Query</h4>\n${tableOf(['Parameter', 'Type', 'Meaning'], rows)}`;
}

interface QueryParameter {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
}

function renderBody(responses: OpenApiOperation['responses']): Html {
  const ok = responses['200']!;
  if ('$ref' in ok) return html``;
  return html`${Object.entries(ok.content).map(
    ([contentType, { schema }]) =>
      html`<p><code>${contentType}</code>: ${renderType(schema)}</p>${renderFields(schema)}`,
  )}`;
}

type ChannelDocument = AsyncApiDocument['channels'][string];

function renderChannel(channelName: string, channel: ChannelDocument, document: AsyncApiDocument): Html {
  const { address, title, description, messages, bindings } = channel;
  const sent = new Set(
    Object.values(document.operations).flatMap(({ action, messages: listed, reply }) =>
      [...(action === 'send' ? listed : []), ...(reply?.messages ?? [])].map(({ $ref }) => $ref),
    ),
  );
  return html`<section id="channel-${channelName}">
<h3><span class="tag">WS</span> ${address}: ${title}</h3>
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
  return html`<section id="message-${id}">
<h3>${title} <span class="tag">${direction}</span></h3>
<p>${renderInline(summary)}: ${renderType(payload)}.</p>
${description === undefined ? undefined : renderMarkdown(description)}
${examples.map((example) => html`<pre tabindex="0">${JSON.stringify(example.payload, undefined, 2)}</pre>`)}
</section>
`;
}

function renderComponent(name: string, schema: JsonSchema): Html {
  const { description } = schema;
  return html`<section id="schema-${name}">
<h3>${name}</h3>
<p>${renderType(schema)}${description === undefined ? undefined : html`. ${renderNotes(schema)}`}</p>
${renderFields(schema)}
</section>
`;
}
