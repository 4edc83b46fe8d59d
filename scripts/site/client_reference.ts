/** The reference of the public API of the client. `scripts/build_reference.ts` makes it from the docstrings. */
export interface ClientReference {
  /** The entries in the order of their names. */
  readonly entries: readonly ReferenceEntry[];
}

/** An exported name of the client. */
export interface ReferenceEntry {
  readonly name: string;
  readonly kind: EntryKind;
  /** The declaration in TypeScript, without its body and its members. */
  readonly signature: string;
  readonly docstring: Docstring;
  /** The public members of a class, or the properties of an interface or of an object type. */
  readonly members: readonly ReferenceMember[];
}

export type EntryKind = 'function' | 'class' | 'interface' | 'type' | 'constant';

/** A public member of an exported class, interface or type. */
export interface ReferenceMember {
  readonly name: string;
  /** The type of a property, or the parameters and the result of a method. */
  readonly signature: string;
  readonly isOptional: boolean;
  /** The class or interface that declares this member, if the member is inherited. */
  readonly inheritedFrom?: string;
  readonly docstring: Docstring;
}

/** A doc comment, split into its tags. The texts contain code between backticks. */
export interface Docstring {
  /** The text; empty if absent. */
  readonly text: string;
  /** The sentence that begins with `Default:`, without the word `Default:`. */
  readonly fallback?: string;
  readonly parameters: readonly { readonly name: string; readonly text: string }[];
  readonly returns?: string;
  /** The texts of the `@throws` tags. */
  readonly throws: readonly string[];
}
