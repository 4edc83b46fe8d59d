import { readFileSync } from 'node:fs';

/** What the public API of the client says of itself, as `scripts/build_reference.ts` reads it from the docstrings. */
export interface ClientReference {
  /** In the order of their names. */
  readonly entries: readonly ReferenceEntry[];
}

/** An exported name. */
export interface ReferenceEntry {
  readonly name: string;
  readonly kind: EntryKind;
  /** The declaration in TypeScript, without its body and its members. */
  readonly signature: string;
  readonly docstring: Docstring;
  /** The docstring of the same name where Node loads the client, if it is another one. */
  readonly inNode?: Docstring;
  /** The public members of a class, the properties of an interface or of an object type. */
  readonly members: readonly ReferenceMember[];
}

export type EntryKind = 'function' | 'class' | 'interface' | 'type' | 'constant';

/** A public member of an entry. */
export interface ReferenceMember {
  readonly name: string;
  /** The type of a property; a method with its parameters and its result. */
  readonly signature: string;
  readonly isOptional: boolean;
  /** The class or interface that declares an inherited member. */
  readonly inheritedFrom?: string;
  readonly docstring: Docstring;
}

/** A doc comment by its parts; texts hold code between backticks. */
export interface Docstring {
  /** Empty where there is none. */
  readonly text: string;
  /** The sentence that begins with `Default:`, without that word. */
  readonly fallback?: string;
  readonly parameters: readonly { readonly name: string; readonly text: string }[];
  readonly returns?: string;
  /** One text for each `@throws`. */
  readonly throws: readonly string[];
}

/** Where the build puts the reference: `dist/reference/client.json`. */
export const REFERENCE_FILE = new URL('../../../reference/client.json', import.meta.url);

/**
 * Reads the built reference.
 * @returns the reference; it has no entries where it was not built.
 */
export function readClientReference(file = REFERENCE_FILE): ClientReference {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ClientReference;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { entries: [] };
    throw error;
  }
}
