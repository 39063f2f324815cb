// The pages in a real browser, each for what it is there for: to open a page costs more than all that is asked of it
// (plotly's four megabytes), and most differ from others in text and figures alone.
//
// What depends on the forms of markup, and not on what they hold (axe, the keyboard, a wide window, the dark scheme, the
// document that is printed), is asked of the pages that have a form which none before them has; `checks.forms` tells.
// The others are opened once, narrow and light, where text sticks out first. Left out are
// - those in `ALIKE`, unless they have such a form: their text is no longer and no odder than that of others;
// - of the large page all but that it opens, wide and dark, with its plots: what it holds are thousands of rows of the
//   same few forms, and names and figures as long as those of `thirty`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { BOUND_MS, fileOf, launch, newWindow, pages } from "./browser.mjs";
import * as checks from "./checks.mjs";

const LARGE = "large";
// Opened and asked by ratios.test.mjs, which needs it anyway.
const ELSEWHERE = "to-choose-from";
// They have most of the forms.
const FIRST = ["plausible", "load-open-freeze", "latency"];
const ALIKE = [
  ...["ties", "lost-block", "lost-ceiling", "noisy"],
  ...["load-closed-fine", "load-interrupted", "load-one-request", "load-only-failures", "load-tls-pipelining"],
];
// axe is shown the drawings of these two, one of each kind of report.
const DRAWN = FIRST.slice(0, 2);
// Text that is long, odd or hostile, and what is not there.
const ODD = ["failures-only", "odd-names", "one-trial", "nothing", "thirty", "thirty-latency", "load-non-ascii"];

const named = (where, faults) => faults.map((fault) => `${where}: ${fault}`);

// Whatever a page holds, at a phone's width and on paper.
const narrow = async ({ page }) => {
  const faults = [...(await checks.plots(page)), ...(await checks.sideways(page))];
  await checks.unfold(page);
  faults.push(...named("unfolded", await checks.sideways(page)));
  return faults.concat(named("on paper", await checks.paper(page)));
};

// By keys alone, and all that axe finds.
const thorough = async ({ page }, name) => {
  const faults = await checks.keyboard(page);
  await checks.thin(page);
  if (!DRAWN.includes(name)) {
    await checks.empty(page);
  }
  return faults.concat(await checks.axe(page));
};

// In a wide window, opened dark. Of what axe looks at, only colours differ.
const wide = async ({ page }) => {
  const faults = [...(await checks.plots(page)), ...(await checks.sideways(page))];
  await checks.unfold(page);
  faults.push(...named("unfolded", await checks.sideways(page)));
  faults.push(...named("printed", await checks.print(page)));
  // The reader's system goes over to the other scheme and back, with the page open.
  await page.emulateMedia({ colorScheme: "light" });
  faults.push(...named("light again", await checks.plots(page)));
  await page.emulateMedia({ colorScheme: "dark" });
  await checks.thin(page);
  await checks.empty(page);
  return faults.concat(await checks.axe(page, ["color-contrast"]));
};

describe("a page", { timeout: 4 * BOUND_MS }, () => {
  let browser;
  let open;
  // The forms of each page that none before it has.
  const own = new Map();
    const order = [...FIRST, ELSEWHERE, ...ODD, ...ALIKE, LARGE];
  const rank = (name) => (order.includes(name) ? order.indexOf(name) : FIRST.length + 1);
  const ordered = pages().toSorted((one, other) => rank(one.name) - rank(other.name));

  before(async () => {
    browser = await launch();
    let page;
    ({ open, page } = await newWindow(browser));
    const seen = new Set();
    for (const { name, file } of ordered) {
      const forms = await checks.forms(page, readFileSync(file, "utf8"));
      own.set(name, forms.filter((form) => !seen.has(form)));
      forms.forEach((form) => seen.add(form));
    }
  });
  after(() => browser?.close());

  test("is there for each case, and the large one has no form of its own", () => {
    for (const name of order) {
      assert.ok(own.has(name), `${name} is not among ${[...own.keys()].join(", ")}`);
    }
    assert.deepEqual(own.get(LARGE), []);
    const asked = [...own].filter(([, forms]) => forms.length > 0).map(([name]) => name);
    assert.ok(asked.length > 3, `axe is asked of ${asked.join(", ")} alone`);
  });

  for (const { name, file } of ordered.filter(({ name }) => ![LARGE, ELSEWHERE].includes(name))) {
    test(name, async (context) => {
      const isNew = own.get(name).length > 0;
      if (!isNew && ALIKE.includes(name)) {
        context.skip("like others");
        return;
      }
      const first = await open(file, 360, "light");
      const faults = await narrow(first);
      if (isNew) {
        faults.push(...(await thorough(first, name)));
      }
      faults.push(...first.complaints);
      if (isNew) {
        const second = await open(file, 1280, "dark");
        faults.push(...named("wide", [...(await wide(second)), ...second.complaints]));
      }
      assert.deepEqual(faults, []);
    });
  }

  test(LARGE, async () => {
    const { page, complaints } = await open(fileOf(LARGE), 1280, "dark");
    const faults = [...(await checks.plots(page)), ...(await checks.sideways(page))];
    assert.deepEqual([...faults, ...complaints], []);
  });
});
