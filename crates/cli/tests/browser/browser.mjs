// The browser, and the pages that are opened in it. `cargo xtask browser` says where both are.
import { readdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

// Ends what is broken; nothing here takes as long on any machine.
export const BOUND_MS = 180_000;

const fromEnvironment = (name, what) => {
  const value = process.env[name];
  if (!value) {
    throw new Error(`the variable ${name} does not say where ${what}; start this with \`cargo xtask browser\``);
  }
  return value;
};

// Starts the installed Chromium. It gets no network, whatever a page asks for.
export const launch = () =>
  chromium.launch({
    executablePath: fromEnvironment("CHROMIUM", "Chromium is"),
    args: ["--host-resolver-rules=MAP * ~NOTFOUND"],
    timeout: BOUND_MS,
  });

// Every page, as the test `look` of this crate wrote them: `{ name, file }`.
export const pages = () => {
  const folder = fromEnvironment("PAGES", "the pages are");
  const files = readdirSync(folder).filter((file) => file.endsWith(".html"));
  return files.sort().map((file) => ({ name: path.basename(file, ".html"), file: path.join(folder, file) }));
};

// The file of one page.
export const fileOf = (name) => {
  const found = pages().find((page) => page.name === name);
  if (!found) {
    throw new Error(`there is no page ${name} in ${process.env.PAGES}: write the pages with \`cargo xtask browser\``);
  }
  return found.file;
};

// A window in which one page after the other is opened. `options` are more of Playwright's for a context. `open` opens a file
// `width` pixels wide, in the colour scheme "light" or "dark", waits for its `load` event and tells the `complaints`:
// they grow with all that the page or the browser finds fault with until the next page.
export const newWindow = async (browser, options = {}) => {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(BOUND_MS);
  const page = await context.newPage();
  let complaints = [];
  let address;
  let isAskedFor = false;
  page.on("console", (message) => {
    if (["error", "warning", "assert"].includes(message.type())) {
      complaints.push(`console ${message.type()}: ${message.text()}`);
    }
  });
  page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
  page.on("crash", () => complaints.push("the page crashed"));
  page.on("request", (request) => {
    // The page itself, once. What a page makes of its own data leaves no machine.
    if (request.url() === address && request.isNavigationRequest() && !isAskedFor) {
      isAskedFor = true;
    } else if (!/^(data|blob):/.test(request.url())) {
      complaints.push(`request: ${request.url()}`);
    }
  });
  page.on("websocket", (socket) => complaints.push(`request: ${socket.url()}`));
  const open = async (file, width, colorScheme, height = 900) => {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ media: null, colorScheme });
    complaints = [];
    address = pathToFileURL(file).href;
    isAskedFor = false;
    await page.goto(address);
    return { page, complaints };
  };
  return { page, open, close: () => context.close() };
};
