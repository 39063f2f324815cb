import { chromium } from "playwright-core";
import { pathToFileURL } from "node:url";
const [root, out, ...pages] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--host-resolver-rules=MAP * ~NOTFOUND"] });
const context = await browser.newContext(); const page = await context.newPage();
page.on("console", (m) => console.log(m.type(), m.text())); page.on("pageerror", (e) => console.log("ERR", e.stack));
page.on("request", (r) => { if (!r.url().startsWith("file:") && !r.url().startsWith("data:")) console.log("REQ", r.url()); });
for (const one of pages) {
  const [name, path] = one.split("=>");
  for (const [width, scheme] of [[1280, "light"], [360, "dark"]]) {
    await page.setViewportSize({ width, height: 900 }); await page.emulateMedia({ colorScheme: scheme });
    await page.goto("about:blank");
    await page.goto(pathToFileURL(root).href + "/" + path); await page.waitForTimeout(500);
    await page.screenshot({ path: `${out}/${name}-${width}.png`, fullPage: true });
  }
  console.log(name, await page.evaluate(() => document.getElementById("answer")?.textContent), await page.evaluate(() => document.scrollingElement.scrollWidth));
}
await browser.close();
