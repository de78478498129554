// Runs cases: each in a place of its own, once for each mode. Prints a line a case; a failure is a traceback and exit code 1.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Place } from './kit.mjs';

export const tell = (name) => JSON.parse(fs.readFileSync(new URL(`../stories/${name}.json`, import.meta.url), 'utf8'));

/** A case is a function of a place and a mode, or says besides in which modes it runs. */
export async function run(cases, { story, client, modes, program, component, wanted }) {
  const kept = process.env.COUNTERFOIL_TEST_CACHE;
  const cache = kept ?? fs.mkdtempSync(path.join(os.tmpdir(), 'counterfoil-cache-'));
  let failed = 0;
  let ran = 0;
  for (const [title, told] of Object.entries(cases)) {
    if (wanted.length && !wanted.includes(title)) continue;
    const test = told.test ?? told;
    for (const mode of told.modes?.(modes) ?? modes) {
      ran += 1;
      const pieces = { program: path.resolve(program), component: path.resolve(component), client, cache };
      const place = new Place(story, pieces);
      try {
        await test(place, mode);
        console.log(`ok      ${title} (${mode})`);
      } catch (error) {
        failed += 1;
        console.log(`FAILED  ${title} (${mode})`);
        console.error(error);
        console.error(place.said().join('\n'));
      } finally {
        await place.remove();
      }
    }
  }
  if (!kept) fs.rmSync(cache, { recursive: true });
  console.log(`${ran - failed} of ${ran} passed`);
  process.exitCode = failed || !ran ? 1 : 0;
}
