// Pictures of every page for people to look at, in the folder that is named: the first screen at 1280 × 800, whole pages
// 1280 and 360 pixels wide, light and dark, and what is printed.
import { mkdirSync } from "node:fs";
import path from "node:path";
import { launch, newWindow, pages } from "./browser.mjs";

// Chromium draws no longer pictures than this.
const LONGEST = 16_000;

const [folder, ...only] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await launch();
const { open } = await newWindow(browser);
for (const { name, file } of pages().filter(({ name }) => only.length === 0 || only.includes(name))) {
  for (const width of [1280, 360]) {
    const { page } = await open(file, width, "light", 800);
    if (width === 1280) await page.screenshot({ path: path.join(folder, `${name}-first.png`) });
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({
        path: path.join(folder, `${name}-${width}-${colorScheme}.png`),
        fullPage: true,
        clip: { x: 0, y: 0, width, height: Math.min(height, LONGEST) },
      });
    }
    if (width === 1280) await page.pdf({ path: path.join(folder, `${name}.pdf`), format: "A4" });
  }
}
await browser.close();
console.log(`the pictures are in ${folder}`);
