// Each check finds the fault that it is there for, in a page that has nothing else.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { BOUND_MS, launch, newWindow } from "./browser.mjs";
import * as checks from "./checks.mjs";

const complaints = async (page, complaints) => {
  await page.waitForFunction(() => "isDone" in window);
  return complaints;
};
const withAxe = (page) => checks.axe(page);
const keyboard = (page) => checks.keyboard(page);
const plots = (page) => checks.plots(page);
const plot = (width, series, texts = "") => `<figure style="width:300px;margin:0"><div class="plot">
  <svg aria-label="p" style="width:${width};height:200px">${series}${texts}</svg></div>
  <script type="application/json">{"names":["a"],"at":[]}</script></figure>`;
const line = '<path class="line" d="M0,0L100,100"/>';
const label = (text, x, size) => `<text x="${x}" y="50" style="font-size:${size}">${text}</text>`;
const names = "<table><tr><td>a name that is much longer than the window</td></tr></table>";
const region = (attributes, style) => `<div class="scroll" aria-label="names" ${attributes}
  style="overflow-x:auto;width:100px;white-space:nowrap;${style}">${names}</div>`;

// What is wrong, the page's body, the check, and what it says. Each check passes the page without the fault.
const FAULTS = [
  ["a warning", "<script>console.warn('no such column')</script>", complaints, /console warning: no such column/],
  ["an error", "<script>console.error('no such row')</script>", complaints, /console error: no such row/],
  ["an exception", "<script>throw new Error('no plot')</script>", complaints, /uncaught: no plot/],
  ["a picture from elsewhere", '<img alt="" src="http://picture.invalid/">', complaints, /request: http:\/\/picture/],
  ["a file beside it", '<script src="library.js"></script>', complaints, /request: file:.*library\.js/],
  ["a request of a script", "<script>fetch('http://data.invalid').catch(() => {})</script>", complaints, /request: http/],
  ["a broad table", '<div style="width:2000px">broad</div>', checks.sideways, /2008 pixels wide in a window of 360.*broad/],
  ["a missing series", plot("300px", ""), plots, /p: 0 series are drawn of 1/],
  ["a drawing beyond its figure", plot("400px", line), plots, /400 × 200 in a figure 300/],
  ["text that is too small", plot("300px", line, label("1 ms", 50, "8px")), plots, /"1 ms" cannot be read/],
  ["text over text", plot("300px", line, label("1 ms", 50, "12px") + label("2 ms", 60, "12px")), plots, /"2 ms" is over "1 ms"/],
  ["a picture without words", '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">', withAxe, /critical: image-alt/],
  ["grey on white", '<p style="color:#aaa;background:#fff">soft</p>', withAxe, /serious: color-contrast/],
  ["a region without focus", region("", ""), keyboard, /"names" has no tabindex/],
  ["a region that Tab leaves out", region('tabindex="-1"', ""), keyboard, /Tab does not come to "names"/],
  ["a focus that is not seen", region('tabindex="0"', "outline:none"), keyboard, /nothing shows that "names"/],
  [
    "a region that swallows keys",
    region('tabindex="0" onkeydown="event.preventDefault()"', ""),
    (page) => checks.keyboard(page, 1_000),
    /the arrow keys do not scroll "names"/,
  ],
  [
    "an exception when printed",
    "<script>addEventListener('beforeprint', () => { throw new Error('no paper') })</script>",
    async (page, complaints) => [...(await checks.print(page)), ...complaints],
    /uncaught: no paper/,
  ],
  ["a table broader than paper", '<div style="width:720px">broad</div>', checks.print, /728 pixels wide in a window of 718/],
];

const SOUND = [
  ["plots", plot("300px", line, label("1 ms", 50, "12px") + label("2 ms", 150, "12px")), plots],
  ["keyboard", region('tabindex="0"', ""), keyboard],
  ["print", "<p>text</p>", checks.print],
  ["axe", "<p>text</p>", withAxe],
  ["sideways", '<div style="width:340px">as broad as there is room</div>', checks.sideways],
  ["complaints", '<img alt="" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">', complaints],
];

describe("a check", { timeout: BOUND_MS }, () => {
  let browser;
  let open;
  let folder;
  before(async () => {
    browser = await launch();
    ({ open } = await newWindow(browser));
    folder = await mkdtemp(path.join(tmpdir(), "deadheat-browser-"));
  });
  after(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const found = async (name, body, check) => {
    const file = path.join(folder, `${name}.html`);
    await writeFile(
      file,
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>${name}</title><main><h1>${name}</h1>${body}</main>` +
        "<script>window.isDone = true</script></html>",
    );
    const { page, complaints } = await open(file, 360, "light");
    return check(page, complaints);
  };

  for (const [name, body, check, expected] of FAULTS) {
    test(`finds ${name}`, async () => assert.match((await found(name, body, check)).join("\n"), expected));
  }
  for (const [name, body, check] of SOUND) {
    test(`passes what is sound: ${name}`, async () => assert.deepEqual(await found(name, body, check), []));
  }

  test("keeps a row of each form, when it thins out a table", async () => {
    const rows = ["a", "b", "c", "d"].map((name) => `<tr><td>${name}</td></tr>`).join("");
    const body = `<table><tbody>${rows}<tr><td>e <span class="tag">limited</span></td></tr></tbody></table>`;
    const left = await found("rows", body, async (page) => {
      await checks.thin(page);
      return page.evaluate(() => document.querySelector("tbody").innerText.split("\n"));
    });
    assert.deepEqual(left, ["a", "b", "c", "e limited"]);
  });

  test("tells the forms of markup that a page has from those that it has not", async () => {
    const forms = (body) => found("forms", "", (page) => checks.forms(page, body));
    const first = await forms("<table><tr><td>a</td></tr><tr><td>b</td></tr></table>");
    const longer = "<table><tr><td>c</td></tr><tr><td>d</td></tr><tr><td>e</td></tr></table>";
    assert.deepEqual(await forms(longer), first);
    for (const other of ['<td class="lost">a</td>', '<th scope="row">a</th>', '<td tabindex="0">a</td>', "<td><p>a</p></td>"]) {
      const more = await forms(`<table><tr><td>b</td></tr><tr>${other}</tr></table><script>"</p>"</script>`);
      assert.ok(more.some((form) => !first.includes(form)), other);
    }
  });
});
