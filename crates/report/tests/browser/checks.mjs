// What holds for every page. Each check takes an open page and returns the faults that it finds, in words.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// Shows what is folded away: it is part of the page.
export const unfold = (page) =>
  page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));

// The document is no wider than the window: only regions within it scroll sideways.
export const sideways = (page) =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.scrollingElement;
    if (scrollWidth <= clientWidth) {
      return [];
    }
    // The first element that sticks out of everything around it says where to look.
    const wide = [...document.body.querySelectorAll("*")].find((element) => {
      return element.getBoundingClientRect().right > clientWidth + 1 && !element.closest(".scroll, pre, svg");
    });
    const where = wide ? `, for example ${wide.outerHTML.slice(0, 120)}` : "";
    return [`the document is ${scrollWidth} pixels wide in a window of ${clientWidth}${where}`];
  });

// Waits, within a bound, until the plots have followed a window that became narrower: they do so a moment later.
export const settled = (page, timeout = 10_000) =>
  page
    .waitForFunction(() => document.scrollingElement.scrollWidth <= document.scrollingElement.clientWidth, null, { timeout })
    .catch(() => {});

// Comes to every plot as a reader does, for they are drawn then. Ends, after a bound, at one that is not.
export const comeToPlots = (page, timeout = 60_000) =>
  page.evaluate(async (timeout) => {
    const end = performance.now() + timeout;
    const { scrollX, scrollY } = window;
    for (const box of document.querySelectorAll(".plot")) {
      box.scrollIntoView();
      while (!box.querySelector("svg.main-svg .trace") && performance.now() < end) {
        await new Promise((done) => setTimeout(done, 20));
      }
    }
    window.scrollTo(scrollX, scrollY);
  }, timeout);

// Every plot that a reader comes to shows every trace that its data holds, within its box.
export const plots = async (page, timeout) => {
  await comeToPlots(page, timeout);
  return page.evaluate(() => {
    const faults = [];
    for (const box of document.querySelectorAll(".plot")) {
      const { data } = JSON.parse(document.getElementById(`${box.id}-data`).textContent);
      const drawn = box.querySelectorAll("svg.main-svg .trace").length;
      if (data.length === 0 || drawn !== data.length) {
        faults.push(`#${box.id}: ${drawn} traces are drawn of ${data.length}`);
        continue;
      }
      const { width, height } = box.querySelector("svg.main-svg").getBoundingClientRect();
      if (width < 100 || height < 50 || width > box.clientWidth + 1) {
        faults.push(`#${box.id}: the drawing is ${width} × ${height} in a box ${box.clientWidth} wide`);
      }
    }
    return faults;
  });
};

// Takes rows out of long tables that differ from three others in nothing but text: axe asks each cell the same.
export const thin = (page) =>
  page.evaluate(() => {
    const form = (row) => [row, ...row.querySelectorAll("*")].map((part) => `${part.localName}.${part.className}`).join();
    for (const body of document.querySelectorAll("tbody")) {
      const seen = new Map();
      for (const row of [...body.rows]) {
        const alike = (seen.get(form(row)) ?? 0) + 1;
        seen.set(form(row), alike);
        if (alike > 3) {
          row.remove();
        }
      }
    }
  });

// The forms of markup that a page's file has: what axe judges an element by, but for its text. The page that is open
// serves to read it; what scripts add is left out, and is the same in every page that has what they add it to.
export const forms = (page, html) =>
  page.evaluate((html) => {
    const form = ({ localName, attributes, style }) => {
      // Names, places and numbers of rows differ from page to page and are no form.
      const values = [...attributes].map(({ name, value }) =>
        /^(id|style|href|value|for|aria-label|rowspan|colspan|data-.*)$/.test(name) ? name : `${name}=${value}`,
      );
      return [localName, ...values.sort(), style.color].join(" ");
    };
    const all = [...new DOMParser().parseFromString(html, "text/html").body.querySelectorAll("*")];
    return [...new Set(all.map((element) => `${form(element.parentElement)} > ${form(element)}`))];
  }, html.replace(/<script\b[^]*?<\/script>/g, ""));

// Takes the drawings out of the plots, which are one picture with a label to axe: it does not look at their text, and
// takes twice as long.
export const empty = (page) =>
  page.evaluate(() => document.querySelectorAll(".plot").forEach((box) => box.replaceChildren()));

// axe finds nothing that it calls serious or critical. `rules`: those alone; `within`: the part of the page.
export const axe = async (page, rules = null, within = "html") => {
  if (!(await page.evaluate(() => "axe" in window))) {
    await page.evaluate(AXE);
  }
  const ask = async ([rules, within]) => {
    const options = { resultTypes: ["violations"], ...(rules && { runOnly: { type: "rule", values: rules } }) };
    return (await window.axe.run(within, options)).violations;
  };
  const violations = await page.evaluate(ask, [rules, within]);
  const grave = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
  return grave.map(({ id, impact, nodes }) => {
    const [first] = nodes;
    const why = first.failureSummary.replace(/\s+/g, " ");
    return `axe, ${impact}: ${id}, ${nodes.length} times, for example ${first.target.join(" ")}: ${why}`;
  });
};

// Tab comes to every region that may scroll, shows where it is, and the arrow keys scroll there, within a bound.
export const keyboard = async (page, timeout = 30_000) => {
  const stops = await page.evaluate(() => {
    window.scrollTo(0, 0);
    const regions = [...document.querySelectorAll(".scroll, pre")].filter((region) => region.checkVisibility());
    regions.forEach((region) => region.setAttribute("data-not-reached", ""));
    return document.querySelectorAll("a, button, input, select, summary, [tabindex], .scroll, pre").length;
  });
  let scrolls = 0;
  const faults = [];
  for (let stop = 0; stop <= stops; stop += 1) {
    await page.keyboard.press("Tab");
    const { isRegion, isWide, isShown, name } = await page.evaluate(() => {
      const element = document.activeElement;
      const isRegion = element.hasAttribute("data-not-reached");
      element.removeAttribute("data-not-reached");
      return {
        isRegion,
        isWide: isRegion && element.scrollWidth > element.clientWidth + 1,
        isShown: getComputedStyle(element).outlineStyle !== "none",
        name: element.getAttribute("aria-label") ?? element.textContent.slice(0, 40),
      };
    });
    if (isRegion && !isShown) {
      faults.push(`nothing shows that "${name}" has the focus`);
    }
    // One of them shows that the keys work.
    if (isWide && scrolls === 0) {
      scrolls += 1;
      await page.keyboard.press("ArrowRight");
      const moved = page.waitForFunction(() => document.activeElement.scrollLeft > 0, null, { timeout });
      await moved.catch(() => faults.push(`the arrow keys do not scroll "${name}"`));
    }
  }
  const missed = await page.evaluate(() => {
    const name = (region) => `"${region.getAttribute("aria-label") ?? region.textContent.slice(0, 40)}"`;
    const all = (selector) => [...document.querySelectorAll(selector)].map(name);
    return [
      ...all("[data-not-reached]").map((name) => `Tab does not come to ${name}`),
      // Chromium lets Tab stop at any region that scrolls, but not every browser does.
      ...all(":is(.scroll, pre):not([tabindex])").map((name) => `${name} has no tabindex`),
    ];
  });
  return faults.concat(missed);
};

// No line is cut off at the edge of A4 paper (with margins of 1 cm, at 96 pixels to the inch).
export const paper = async (page) => {
  const size = page.viewportSize();
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize({ width: 718, height: 1047 });
  const faults = await sideways(page);
  await page.emulateMedia({ media: null });
  await page.setViewportSize(size);
  return faults;
};

// It can be printed, and fits the paper.
export const print = async (page) => {
  const faults = await paper(page);
  const margin = { top: "1cm", right: "1cm", bottom: "1cm", left: "1cm" };
  const pdf = await page.pdf({ format: "A4", margin });
  if (pdf.subarray(0, 5).toString() !== "%PDF-" || pdf.length < 5_000) {
    faults.push(`${pdf.length} bytes that are no document`);
  }
  return faults;
};
