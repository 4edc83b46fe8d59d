/** The wait before the page loads again. A random part of it spreads the tabs of an address whose requests were refused. */
const WAIT_MS = 2_000;
const SPREAD_MS = 1_000;

let isWaiting = false;

/** Loads the page again after a pause, because a file of the page did not arrive. The files that did arrive are in the browser's cache. */
export function loadAgain(): void {
  if (isWaiting) return;
  isWaiting = true;
  setTimeout(() => location.reload(), WAIT_MS + Math.random() * SPREAD_MS);
  if (document.body === null) addEventListener('DOMContentLoaded', showReload);
  else showReload();
}

function showReload(): void {
  const line = document.createElement('p');
  line.className = 'login';
  line.role = 'alert';
  line.textContent =
    'The service did not send all files of this page. The page loads again in a few seconds.';
  document.body.prepend(line);
}
