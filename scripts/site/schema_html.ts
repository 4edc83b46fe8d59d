import { componentName, type JsonSchema } from '../../src/server/documents/json_schema.js';
import { Html, html, joinHtml } from './html.js';
import { renderInline, tableOf } from './markdown.js';

/** Renders the values that a schema accepts in a single line. References are links to the page of the schemas. */
export function renderType(schema: JsonSchema): Html {
  const name = componentName(schema);
  if (name !== undefined) return html`<a href="schemas.html#schema-${name}">${name}</a>`;
  if (schema.oneOf) return joinHtml(schema.oneOf.map(renderType), ' or ');
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum)
    return joinHtml(
      schema.enum.map((value) => html`<code>${String(value)}</code>`),
      ' | ',
    );
  if (schema.items)
    return hasFields(schema.items) ? html`array of objects` : html`array of ${renderType(schema.items)}`;
  if (typeof schema.additionalProperties === 'object' && schema.propertyNames)
    return html`map of ${renderType(schema.propertyNames)} to ${renderMapped(schema.additionalProperties)}`;
  return html`${schema.type ?? 'anything'}${rangeOf(schema)}`;
}

/** Longer patterns stand only in the documents for programs. */
const PATTERN_LENGTH_MAX = 30;

/** Renders the description and everything that the type does not show. */
export function renderNotes({ description, default: fallback, pattern }: JsonSchema): Html {
  const notes = [
    ...(description === undefined ? [] : [renderInline(description)]),
    ...(pattern === undefined || pattern.length > PATTERN_LENGTH_MAX
      ? []
      : [html`pattern <code>${pattern}</code>`]),
    ...(fallback === undefined ? [] : [html`default <code>${String(fallback)}</code>`]),
  ];
  return joinHtml(notes, '; ');
}

/** Renders the fields of an object, and below them the fields of objects within it. Returns nothing for other schemas. */
export function renderFields(schema: JsonSchema): Html {
  const [object, prefix] = innerObject(schema);
  const rows = object ? fieldRows(object, prefix === '' ? '' : `${prefix}.`) : [];
  return rows.length === 0 ? new Html('') : tableOf(['Field', 'Type', 'Meaning'], rows);
}

function fieldRows({ properties = {}, required = [] }: JsonSchema, prefix: string): Html[][] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const optional = required.includes(name) ? undefined : html` <i>optional</i>`;
    const [inner, suffix] = innerObject(field);
    return [
      [html`<code>${prefix}${name}</code>${optional}`, renderType(field), renderNotes(field)],
      ...(inner ? fieldRows(inner, `${prefix}${name}${suffix}.`) : []),
    ];
  });
}

/**
 * Finds the object that a field contains: directly, in an array, or as the values of a record. Returns the object with the
 * notation of its fields.
 */
function innerObject(field: JsonSchema): [JsonSchema | undefined, string] {
  if (hasFields(field)) return [field, ''];
  if (field.items && hasFields(field.items)) return [field.items, '[]'];
  const { additionalProperties: mapped } = field;
  return typeof mapped === 'object' && hasFields(mapped) ? [mapped, '{}'] : [undefined, ''];
}

function hasFields({ properties }: JsonSchema): boolean {
  return properties !== undefined;
}

function renderMapped(schema: JsonSchema): Html {
  return hasFields(schema) ? html`objects` : renderType(schema);
}

function rangeOf({ format, minimum, maximum }: JsonSchema): string {
  if (minimum !== undefined && maximum !== undefined) return `, ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `, at least ${minimum}`;
  return format === undefined ? '' : ` (${format})`;
}
