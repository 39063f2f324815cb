import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ejs from 'ejs';

const VIEWS = join(import.meta.dirname, '../views');

/** Compiles the template `views/<name>.ejs` to a function of its data. */
export function compileView(name) {
  const filename = join(VIEWS, `${name}.ejs`);
  return ejs.compile(readFileSync(filename, 'utf8'), { filename });
}
