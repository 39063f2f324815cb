// How long the page of a large session takes to open, in a window of 1280 pixels: from the start of the navigation until
// the frame after the one that shows the last plot, or, where the page tells it with `performance.mark("usable")`,
// until it can be used. Nothing is judged: it depends on the machine.
import { statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { BOUND_MS, fileOf, launch } from "./browser.mjs";

const OPENINGS = 7;
const NAME = "large";

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
      if (mark) {
        return { ms: mark.startTime };
      }
      const boxes = [...document.querySelectorAll(".plot")];
      const isDrawn = boxes.every((box) => box.querySelector("svg.main-svg .trace"));
      return document.readyState === "complete" && isDrawn && { ms: performance.now() };
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
times.sort((a, b) => a - b);
const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;
const size = (statSync(file).size / 2 ** 20).toFixed(1);
console.log(`${file} (${size} MiB), opened ${OPENINGS} times:`);
console.log(`median ${seconds(times[OPENINGS >> 1])}, from ${seconds(times[0])} to ${seconds(times.at(-1))}`);
