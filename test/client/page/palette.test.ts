import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { ROOT } from '../../pages.js';

const PALETTE = readFileSync(join(ROOT, 'src/client/page/palette.css'), 'utf8');
/** The smallest contrast of text by WCAG 2.2, level AA. */
const CONTRAST_MIN = 4.5;
const TEXTS = ['text', 'soft', 'faint', 'accent', 'up', 'down', 'warn', 'bad'];
/** The background colours of text: the panel, and selected rows. */
const GROUNDS = ['panel', 'raised'];

test('every colour of texts can be read by day and night', async (t) => {
  for (const mode of [0, 1] as const)
    for (const ground of GROUNDS)
      for (const text of TEXTS) {
        const [light = 0, dark = 0] = [luminance(text, mode), luminance(ground, mode)].sort((a, b) => b - a);
        const contrast = (light + 0.05) / (dark + 0.05);
        t.ok(
          contrast >= CONTRAST_MIN,
          `${text} on ${ground}, ${['day', 'night'][mode]}: ${contrast.toFixed(2)}`,
        );
      }
});

/** Returns the relative luminance of a colour by WCAG. */
function luminance(name: string, mode: 0 | 1): number {
  const [, ...colours] = new RegExp(`--${name}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(PALETTE) ?? [];
  const digits = colours[mode]!.slice(1).replace(/^(.)(.)(.)$/, '$1$1$2$2$3$3');
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const part = Number.parseInt(digits.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
