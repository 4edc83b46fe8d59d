import { byId } from './elements.js';

/**
 * Opens the page of several operators for a file of operators that the reader chooses, or drops anywhere on the page. The file becomes
 * the part of the address after `#`, so the page can be shared and opened again.
 * @param onProblem called with the reason, as a sentence, when the file cannot be used
 */
export function followFiles(onProblem: (reason: string) => void): void {
  const open = async (file: File | undefined) => {
    if (file === undefined) return;
    // Few readers have a file, so only they load its reader.
    const { importQuorum } = await import('./quorum_import.js');
    const imported = importQuorum(await file.text());
    if (imported.ok) location.hash = imported.fragment;
    else onProblem(imported.reason);
  };
  const input = byId<HTMLInputElement>('quorum-file');
  input.addEventListener('change', () => {
    const [file] = input.files ?? [];
    // The same file can be chosen again after it was changed.
    void open(file).finally(() => {
      input.value = '';
    });
  });
  addEventListener('dragover', (event) => event.preventDefault());
  addEventListener('drop', (event) => {
    event.preventDefault();
    void open(event.dataTransfer?.files[0]);
  });
}
