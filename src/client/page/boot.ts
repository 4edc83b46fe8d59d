import { loadAgain } from './load_again.js';

// The first script of the page. A script or style sheet that is refused or missing would otherwise leave the page empty, and a page without
// its program cannot say so. The preloaded worker is not watched, because the program starts it again.

addEventListener(
  'error',
  ({ target }) => {
    const isStyle = target instanceof HTMLLinkElement && target.rel === 'stylesheet';
    if (isStyle || target instanceof HTMLScriptElement) loadAgain();
  },
  true,
);
