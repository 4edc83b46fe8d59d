/**
 * Returns the files whose coverage tap measures in a test, as globs: all files, or `null` for no file. The fast tests alone reach
 * the thresholds in `.taprc`. Measuring takes a fifth of a test's CPU time, so the whole tests, which use other programs, are not
 * measured.
 *
 * @param test the path of a compiled test
 */
export default function coveredBy(test: string): string[] | null {
  return /\.whole\.test\.js$/.test(test) ? null : [];
}
