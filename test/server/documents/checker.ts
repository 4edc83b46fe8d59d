import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import type { AsyncApiDocument } from '../../../src/server/documents/asyncapi.js';
import type { JsonSchema } from '../../../src/server/documents/json_schema.js';

/** Checks a value against a schema of a document. Returns the faults; empty for a valid value. */
export type Check = (schema: object, value: unknown) => string;

/** Makes a checker. @param document the document whose components the schemas refer to */
export function checkerOf({ components }: { readonly components: object }): Check {
  const ajv = new Ajv2020({
    strict: true,
    strictRequired: false,
    allErrors: true,
    keywords: ['components', 'discriminator'],
  });
  ajvFormats.default(ajv);
  const compiled = new Map<object, ReturnType<typeof ajv.compile>>();
  return (schema, value) => {
    const validate = compiled.get(schema) ?? ajv.compile({ ...schema, components });
    compiled.set(schema, validate);
    return validate(value) ? '' : ajv.errorsText(validate.errors);
  };
}

/** Finds the message type that matches a text on a channel. Exactly one message type of the given side must match. */
export type MessageFinder = (channel: string, from: 'client' | 'service', text: string) => string;

export function messageFinder(document: AsyncApiDocument): MessageFinder {
  const check = checkerOf(document);
  return (channel, from, text) => {
    const value: unknown = JSON.parse(text);
    const tries = messageNames(document, channel, from).map((name) => ({
      name,
      error: check(document.components.messages[name]!.payload, value),
    }));
    const fits = tries.filter(({ error }) => error === '');
    if (fits.length === 1) return fits[0]!.name;
    throw new Error(`${text} fits ${fits.length} messages: ${JSON.stringify(tries)}`);
  };
}

/** Returns the messages that a side of a channel sends. */
export function messageNames(
  { operations }: AsyncApiDocument,
  channelName: string,
  from: 'client' | 'service',
): string[] {
  const action = from === 'service' ? 'send' : 'receive';
  const references = Object.values(operations)
    .filter(({ channel }) => channel.$ref === `#/channels/${channelName}`)
    .flatMap((one) => [
      ...(one.action === action ? one.messages : []),
      ...((from === 'service' && one.reply?.messages) || []),
    ]);
  return [...new Set(references.map(({ $ref }) => $ref.split('/').at(-1)!))];
}

/** Finds each `$ref` of a document that has no target. */
export function danglingReferences(document: object): string[] {
  const dangling: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { $ref } = value as JsonSchema;
    if ($ref !== undefined && follow(document, $ref) === undefined) dangling.push($ref);
    for (const inner of Object.values(value)) visit(inner);
  };
  visit(document);
  return dangling;
}

/** Returns the target of a reference within a document. */
export function follow(document: object, reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .reduce((value: unknown, step) => (value as Record<string, unknown> | undefined)?.[step], document);
}
