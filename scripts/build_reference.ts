import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

// Makes the reference of the client from its docstrings. `scripts/build_site.ts` runs this code.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const INDEX = join(ROOT, 'src/client/index.ts');
const PRINTER = ts.createPrinter({ removeComments: true });

export type EntryKind = 'function' | 'class' | 'interface' | 'type' | 'constant';

/** The reference of the public API of the client: its exported names, in their order. */
export interface ClientReference {
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

/** A public member of an exported class, interface or type. */
export interface ReferenceMember extends Pick<ReferenceEntry, 'name' | 'signature' | 'docstring'> {
  readonly isOptional: boolean;
}

/** A doc comment. The texts contain code between backticks. */
export interface Docstring {
  /** The text; empty if absent. */
  readonly text: string;
  /** The texts of its tags, with the name of each parameter. */
  readonly tags: readonly { readonly name: string; readonly text: string }[];
}

/** Reads the exports of the client, with their docstrings. */
export function readReference(): ClientReference {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile) as { config: object };
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [] }, ts.sys, ROOT);
  const program = createProgram({ ...options, types: [], noEmit: true });
  const entries = new ReferenceReader(program.getTypeChecker()).exportsOf(program.getSourceFile(INDEX)!);
  return { entries: entries.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

/** Creates a program without the types of packages. No public declaration needs these types, and they take most of the time. */
function createProgram(options: ts.CompilerOptions): ts.Program {
  const host = ts.createCompilerHost(options);
  host.resolveModuleNameLiterals = (literals, file) =>
    literals.map(({ text }) =>
      text.startsWith('.') ? ts.resolveModuleName(text, file, options, host) : { resolvedModule: undefined },
    );
  return ts.createProgram([INDEX], options, host);
}

/** Counts the exported names and public members, and how many of these have a docstring. */
export function coverageOf({ entries }: ClientReference) {
  const all = entries.flatMap(({ name, docstring, members }) => [
    { name, docstring },
    ...members.map((member) => ({ name: `${name}.${member.name}`, docstring: member.docstring })),
  ]);
  const missing = all.filter(({ docstring }) => docstring.text === '').map(({ name }) => name);
  return { total: all.length, documented: all.length - missing.length, missing };
}

type Declared =
  | ts.FunctionDeclaration
  | ts.ClassDeclaration
  | ts.InterfaceDeclaration
  | ts.TypeAliasDeclaration
  | ts.VariableDeclaration;

class ReferenceReader {
  readonly #checker: ts.TypeChecker;

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker;
  }

  exportsOf(file: ts.SourceFile): ReferenceEntry[] {
    const symbols = this.#checker.getExportsOfModule(this.#checker.getSymbolAtLocation(file)!);
    return symbols.flatMap((symbol) => {
      const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
      return this.#entryOf(symbol.name, isAlias ? this.#checker.getAliasedSymbol(symbol) : symbol);
    });
  }

  #entryOf(name: string, symbol: ts.Symbol): ReferenceEntry[] {
    const declaration = symbol.declarations?.[0] as Declared | undefined;
    const kind = declaration && kindOf(declaration);
    if (declaration === undefined || kind === undefined) return [];
    const signature = this.#headOf(declaration);
    return [
      { name, kind, signature, docstring: this.#docstringOf(symbol), members: this.#membersOf(symbol, kind) },
    ];
  }

  /** Returns the declaration without its body. */
  #headOf(declaration: Declared): string {
    if (ts.isFunctionDeclaration(declaration)) return `function ${this.#callOf(declaration)}`;
    if (ts.isVariableDeclaration(declaration)) return `const ${print(declaration)}`;
    if (ts.isTypeAliasDeclaration(declaration)) {
      const values = this.#literalsOf(declaration.type);
      if (values !== undefined) return `type ${declaration.name.text} = ${values}`;
      return print(declaration).replace(/^export (?:declare )?|;$/g, '');
    }
    const word = ts.isClassDeclaration(declaration) ? 'class' : 'interface';
    const generics = declaration.typeParameters?.map(print).join(', ');
    const bases = declaration.heritageClauses?.map(print).join(' ');
    return `${word} ${declaration.name!.text}${generics ? `<${generics}>` : ''}${bases ? ` ${bases}` : ''}`;
  }

  #membersOf(symbol: ts.Symbol, kind: EntryKind): ReferenceMember[] {
    if (kind === 'function' || kind === 'constant') return [];
    const type = this.#checker.getDeclaredTypeOfSymbol(symbol);
    const [declaration] = symbol.declarations!;
    const literals = ts.isTypeAliasDeclaration(declaration!) ? objectTypesIn(declaration.type) : undefined;
    const properties = literals
      ? literals.flatMap((one) => this.#checker.getTypeAtLocation(one).getProperties())
      : type.getProperties();
    const own = symbol.members?.get(ts.InternalSymbolName.Constructor);
    const members = [...(own ? [own] : []), ...properties].flatMap((one) => this.#memberOf(one, symbol));
    const byName = new Map<string, ReferenceMember>();
    // A property of several members of a union appears only once, with the first docstring.
    for (const member of members) {
      const known = byName.get(member.name);
      if (known === undefined || known.docstring.text === '') byName.set(member.name, member);
    }
    return [...byName.values()];
  }

  #memberOf(member: ts.Symbol, owner: ts.Symbol): ReferenceMember[] {
    const declaration = member.declarations?.[0];
    if (declaration === undefined || !isPublic(declaration)) return [];
    // The members of TypeScript's own libraries and of packages are not described.
    if (/node_modules\//.test(declaration.getSourceFile().fileName)) return [];
    const docstring = this.#docstringOf(member);
    const isOptional = (member.flags & ts.SymbolFlags.Optional) !== 0;
    const name = ts.isConstructorDeclaration(declaration)
      ? `new ${owner.name}`
      : ((declaration as ts.NamedDeclaration).name?.getText() ?? member.name);
    return [{ name, signature: this.#signatureOf(name, declaration, isOptional), isOptional, docstring }];
  }

  #signatureOf(name: string, declaration: ts.Declaration, isOptional: boolean): string {
    if (ts.isConstructorDeclaration(declaration))
      return `${name}(${declaration.parameters.map(print).join(', ')})`;
    if (ts.isMethodDeclaration(declaration) || ts.isMethodSignature(declaration))
      return this.#callOf(declaration);
    const { type } = declaration as ts.PropertySignature;
    if (type === undefined) {
      const found = this.#checker.getTypeAtLocation(declaration);
      return this.#checker.typeToString(found, declaration, ts.TypeFormatFlags.NoTruncation);
    }
    const text = this.#literalsOf(type) ?? print(type);
    return isOptional ? text.replace(/^\((.*)\) \| undefined$/, '$1').replace(/ \| undefined$/, '') : text;
  }

  #callOf(declaration: ts.SignatureDeclaration): string {
    const generics = declaration.typeParameters?.map(print).join(', ');
    const parameters = declaration.parameters.map(print).join(', ');
    const result = declaration.type ? `: ${print(declaration.type)}` : '';
    return `${declaration.name!.getText()}${generics ? `<${generics}>` : ''}(${parameters})${result}`;
  }

  /** Returns the values of a named type that consists only of texts or numbers; `undefined` for other types. */
  #literalsOf(node: ts.TypeNode): string | undefined {
    const type = this.#checker.getNonNullableType(this.#checker.getTypeFromTypeNode(node));
    const isChoice = type.isUnion() && type.types.every((one) => one.isLiteral());
    if (!isChoice || /^[\w-]+ is /.test(print(node))) return undefined;
    return type.types
      .map((one) => JSON.stringify((one as ts.LiteralType).value).replaceAll('"', "'"))
      .join(' | ');
  }

  #docstringOf(symbol: ts.Symbol): Docstring {
    const text = plain(symbol.getDocumentationComment(this.#checker));
    const tags = symbol.getJsDocTags(this.#checker).flatMap((tag) => {
      const name = SHOWN_TAGS[tag.name];
      return name === undefined ? [] : [{ name, text: plain(tag.text) }];
    });
    // A docstring may contain only `@returns`.
    const returns = tags.find(({ name }) => name === SHOWN_TAGS['returns'])?.text;
    return { text: text || (returns === undefined ? '' : `Returns ${returns}`), tags };
  }
}

const SHOWN_TAGS: Readonly<Record<string, string>> = {
  param: 'Parameter',
  returns: 'Returns',
  throws: 'Throws',
};

function kindOf(declaration: Declared): EntryKind | undefined {
  if (ts.isFunctionDeclaration(declaration)) return 'function';
  if (ts.isClassDeclaration(declaration)) return 'class';
  if (ts.isInterfaceDeclaration(declaration)) return 'interface';
  if (ts.isTypeAliasDeclaration(declaration)) return 'type';
  return ts.isVariableDeclaration(declaration) ? 'constant' : undefined;
}

/** Finds the object types of a type alias: the type itself, or the members of a union or an intersection. */
function objectTypesIn(node: ts.TypeNode): ts.TypeLiteralNode[] {
  if (ts.isTypeLiteralNode(node)) return [node];
  if (ts.isParenthesizedTypeNode(node)) return objectTypesIn(node.type);
  return ts.isUnionTypeNode(node) || ts.isIntersectionTypeNode(node) ? node.types.flatMap(objectTypesIn) : [];
}

/** Recognises declarations that a caller may use. Such a declaration is not private, not protected, and not marked `@internal`. */
function isPublic(declaration: ts.Declaration): boolean {
  const flags = ts.getCombinedModifierFlags(declaration);
  const { name } = declaration as ts.NamedDeclaration;
  const isHidden = ts.getJSDocTags(declaration).some(({ tagName }) => tagName.text === 'internal');
  return (
    (flags & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) === 0 &&
    !isHidden &&
    !(name !== undefined && ts.isPrivateIdentifier(name))
  );
}

/** Returns the text of a doc comment with one line for each paragraph. Links become code. */
function plain(parts: readonly ts.SymbolDisplayPart[] | undefined): string {
  return ts
    .displayPartsToString(parts as ts.SymbolDisplayPart[] | undefined)
    .replace(/\{@link ([\w.]+) *\}/g, '`$1`')
    .replace(/(?<!\n)\n(?![\n-])\s*/g, ' ')
    .trim();
}

function print(node: ts.Node): string {
  const text = PRINTER.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile());
  return text.replaceAll(/\breadonly (?=\w+\??:)/g, '').replaceAll(/^ {4}/gm, '  ');
}
