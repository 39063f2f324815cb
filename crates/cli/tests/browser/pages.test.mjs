// The pages in a real browser, each for what it is there for: most differ from others in text and figures alone.
//
// What depends on the forms of markup, and not on what they hold (axe, the keyboard, a wide window, the dark scheme, the
// document that is printed), is asked of the pages that have a form which none before them has; `checks.forms` tells.
// The others are opened once, narrow and light, where text sticks out first. Left out are those in `ALIKE`, unless they
// have such a form: their text is no longer and no odder than that of others.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { BOUND_MS, fileOf, launch, newWindow, pages } from "./browser.mjs";
import * as checks from "./checks.mjs";

// They have most of the forms.
const FIRST = ["heats-usual", "load-open-freeze"];
const ALIKE = ["load-closed-fine", "load-interrupted", "load-one-request", "load-only-failures", "load-tls-pipelining"];
// Text that is long, odd or hostile, and what is not there.
const ODD = ["heats-hostile", "heats-all-failed", "heats-no-heats", "heats-thirty", "load-non-ascii"];

const named = (where, faults) => faults.map((fault) => `${where}: ${fault}`);

// Whatever a page holds, at a phone's width and on paper.
const narrow = async ({ page }) => {
  const faults = [...(await checks.plots(page)), ...(await checks.sideways(page))];
  await checks.unfold(page);
  faults.push(...named("unfolded", await checks.sideways(page)));
  return faults.concat(named("on paper", await checks.paper(page)));
};

// By keys alone, and all that axe finds.
const thorough = async ({ page }) => {
  const faults = await checks.keyboard(page);
  await checks.thin(page);
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
  return faults.concat(await checks.axe(page, ["color-contrast"]));
};

describe("a page", { timeout: 4 * BOUND_MS }, () => {
  let browser;
  let open;
  // The forms of each page that none before it has.
  const own = new Map();
  const order = [...FIRST, ...ODD, ...ALIKE];
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

  test("is there for each case", () => {
    for (const name of order) {
      assert.ok(own.has(name), `${name} is not among ${[...own.keys()].join(", ")}`);
    }
    const asked = [...own].filter(([, forms]) => forms.length > 0).map(([name]) => name);
    assert.ok(asked.length > 1, `axe is asked of ${asked.join(", ")} alone`);
  });

  for (const { name, file } of ordered) {
    test(name, async (context) => {
      const isNew = own.get(name).length > 0;
      if (!isNew && ALIKE.includes(name)) {
        context.skip("like others");
        return;
      }
      const first = await open(file, 360, "light");
      const faults = await narrow(first);
      if (isNew) {
        faults.push(...(await thorough(first)));
      }
      faults.push(...first.complaints);
      if (isNew) {
        const second = await open(file, 1280, "dark");
        faults.push(...named("wide", [...(await wide(second)), ...second.complaints]));
      }
      assert.deepEqual(faults, []);
    });
  }
});
