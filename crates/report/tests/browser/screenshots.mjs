// Pictures of every page for people to look at: 1280 and 400 pixels wide, light and dark, in the folder that is named.
import { mkdirSync } from "node:fs";
import path from "node:path";
import { launch, newWindow, pages } from "./browser.mjs";
import { comeToPlots } from "./checks.mjs";

// Chromium draws no longer pictures than this.
const LONGEST = 16_000;

const [folder, ...only] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await launch();
const { open } = await newWindow(browser);
for (const { name, file } of pages().filter(({ name }) => only.length === 0 || only.includes(name))) {
  for (const width of [1280, 400]) {
    const { page } = await open(file, width, "light");
    await comeToPlots(page);
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({
        path: path.join(folder, `${name}-${width}-${colorScheme}.png`),
        fullPage: true,
        clip: { x: 0, y: 0, width, height: Math.min(height, LONGEST) },
      });
    }
  }
}
await browser.close();
console.log(`the pictures are in ${folder}`);
