// How long the page of a large session takes to open, in a window of 1280 pixels: from the start of the navigation until
// the page can be used, which it tells with `performance.mark("usable")`. Nothing is judged: it depends on the machine.
import { statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { BOUND_MS, fileOf, launch } from "./browser.mjs";

const OPENINGS = 7;
const NAME = "heats-thirty";

const file = fileOf(NAME);
const browser = await launch();

// In a context of its own, so that nothing is kept from one opening to the next.
const opening = async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(BOUND_MS);
  const page = await context.newPage();
  await page.goto(pathToFileURL(file).href, { waitUntil: "commit" });
  const handle = await page.waitForFunction(
    () => {
      const [mark] = performance.getEntriesByName("usable");
      return mark && { ms: mark.startTime };
    },
    null,
    { polling: "raf" },
  );
  const { ms } = await handle.jsonValue();
  await context.close();
  return ms;
};

// The first one starts the browser's processes, too.
await opening();
const times = [];
for (let count = 0; count < OPENINGS; count += 1) {
  times.push(await opening());
}
await browser.close();
const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;
const told = (values) => {
  values.sort((a, b) => a - b);
  return `median ${seconds(values[OPENINGS >> 1])}, from ${seconds(values[0])} to ${seconds(values.at(-1))}`;
};
const size = (statSync(file).size / 2 ** 20).toFixed(1);
console.log(`${file} (${size} MiB), opened ${OPENINGS} times:`);
console.log(`usable: ${told(times)}`);
