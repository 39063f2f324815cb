// Follows the session: the server tells when the report was drawn anew, and this page then loads it, as it was left.
{
  const bar = document.getElementById("live");
  const status = document.getElementById("live-status");
  const pause = document.getElementById("live-pause");
  const kept = "deadheat-live";
  let source = null;

  // What a reader has made of the page. Elements without an id are found again by their place below one with an id.
  const place = (element, selector) => {
    const owner = element.parentElement.closest("[id]") ?? document.body;
    return [owner.id, [...owner.querySelectorAll(selector)].indexOf(element)];
  };
  const at = ([id, index], selector) =>
    (id ? document.getElementById(id) : document.body)?.querySelectorAll(selector)[index];
  const OPEN = "details[open]", DETAILS = "details", CONTROLS = "main select, main input, main textarea", SORTED = "th[aria-sort]", HEAD = "th";
  const all = (selector) => [...document.querySelectorAll(selector)];

  // What is not laid out, such as the plots' data, is nowhere.
  const isShown = (element) => element.getClientRects().length > 0;

  // A notice has nothing to keep, and comes between two reports.
  const isReport = bar.dataset.version !== "0";
  const keep = () => {
    if (!isReport) return;
    const above = all("main [id]").filter((one) => isShown(one) && one.getBoundingClientRect().top <= bar.offsetHeight + 1);
    const anchor = above.at(-1);
    sessionStorage.setItem(kept, JSON.stringify({
      scroll: scrollY,
      anchor: anchor && { id: anchor.id, top: anchor.getBoundingClientRect().top },
      open: all(OPEN).map((one) => place(one, DETAILS)),
      controls: all(CONTROLS).map((one) => [place(one, "select, input, textarea"), one.value, one.checked]),
      sorted: all(SORTED).map((one) => [place(one, HEAD), one.getAttribute("aria-sort")]),
      focus: document.activeElement?.id,
    }));
  };

  const scroll = ({ scroll, anchor }) => {
    const element = anchor && document.getElementById(anchor.id);
    scrollTo({ top: element && isShown(element) ? scrollY + element.getBoundingClientRect().top - anchor.top : scroll, behavior: "instant" });
  };

  const restore = (state) => {
    for (const one of state.open) at(one, DETAILS)?.setAttribute("open", "");
    for (const [one, value, checked] of state.controls) {
      const control = at(one, "select, input, textarea");
      if (!control || (control.value === value && control.checked === checked)) continue;
      control.value = value;
      control.checked = checked;
      control.dispatchEvent(new Event("input", { bubbles: true }));
      control.dispatchEvent(new Event("change", { bubbles: true }));
    }
    for (const [one, order] of state.sorted) {
      const head = at(one, HEAD);
      for (let clicks = 0; clicks < 3 && head && head.getAttribute("aria-sort") !== order; clicks++) {
        head.querySelector("button")?.click();
      }
    }
    if (state.focus) document.getElementById(state.focus)?.focus({ preventScroll: true });
    scroll(state);
  };

  const held = () => sessionStorage.getItem(`${kept}-held`) === "yes";
  const leave = () => { source?.close(); source = null; };
  const follow = () => {
    if (source || document.hidden || held() || bar.dataset.is === "lost") return;
    // Said with the version that is on the screen by now, this tells the server that it need not wait any longer.
    source = new EventSource(`/events?seen=${bar.dataset.version}`);
    source.addEventListener("refresh", () => { keep(); leave(); location.reload(); });
    source.addEventListener("status", (event) => {
      const { status: text, heats } = JSON.parse(event.data);
      status.textContent = text;
      const progress = bar.querySelector("progress");
      if (progress) progress.value = heats;
    });
    source.onerror = () => {
      leave();
      if (bar.dataset.is === "ended") return;
      bar.dataset.is = "lost";
      status.textContent = "Deadheat does not answer any more: the session has ended, and its terminal says how. This page keeps its last state.";
    };
  };

  if (pause) {
    const words = status.textContent;
    const show = () => {
      pause.textContent = held() ? "Go on" : "Hold this page still";
      status.textContent = held() ? `${words}, when this page was held still; the session goes on` : words;
    };
    pause.addEventListener("click", () => {
      sessionStorage.setItem(`${kept}-held`, held() ? "no" : "yes");
      show();
      held() ? leave() : follow();
    });
    show();
    pause.hidden = false;
  }
  // A page that nobody sees is not drawn anew, and the session does not wait for it.
  document.addEventListener("visibilitychange", () => (document.hidden ? leave() : follow()));

  history.scrollRestoration = "manual";
  const state = JSON.parse(sessionStorage.getItem(kept));
  if (state && isReport) {
    sessionStorage.removeItem(kept);
    restore(state);
    addEventListener("load", () => scroll(state), { once: true });
  }
  const drawn = () => ("requestIdleCallback" in window ? requestIdleCallback(follow, { timeout: 2000 }) : setTimeout(follow, 300));
  addEventListener("load", drawn, { once: true });
}
