/** The place of a value in the file: the keys of mappings and the indexes of sequences, from the top to the value. */
export type Path = readonly (string | number)[];

/** An error in the file, and its place. */
export interface Problem {
  readonly path: Path;
  readonly message: string;
  /** The offset in the text, in characters. Present when it differs from the place of `path`. */
  readonly offset?: number;
}

/** The data of a text in YAML. */
export interface YamlData {
  /** The data; `undefined` when the text is not YAML. `problems` then contains the reason. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Finds the place of the key or item at `path`. If the text has no such place, the function finds the nearest parent. */
  locate(path: Path): Place;
}

export interface Place {
  readonly found: boolean;
  /** The offset in the text, in characters. */
  readonly offset: number;
}
