// What a reader can do with a plot: see its values where the pointer is, or where the arrow keys go, and save it as a
// picture, which says by itself what it shows: with title, legend and origin, on the page's ground.
for (const box of document.querySelectorAll(".plot")) {
  const figure = box.closest("figure");
  const svg = box.firstElementChild;
  const { names, at } = JSON.parse(figure.querySelector("script").textContent);
  const { of } = figure.dataset;
  const title = figure.querySelector("figcaption").firstChild.textContent.trim();

  const element = (name, attributes, ...children) => {
    const made = document.createElementNS(svg.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  const cursor = element("line", { class: "cursor", y1: 8, y2: 252, visibility: "hidden" });
  const values = document.createElement("output");
  svg.append(cursor);
  box.append(values);
  let chosen = -1;
  const show = (index) => {
    chosen = index;
    const [place, where, ...texts] = at[index]?.flat() ?? [0];
    cursor.setAttribute("visibility", where ? "visible" : "hidden");
    for (const end of ["x1", "x2"]) cursor.setAttribute(end, `${place / 10}%`);
    const lines = texts.map((text, series) => text && `${names[series]}: ${text}`);
    values.textContent = [where, ...lines].filter(Boolean).join("\n");
    // On the side that has more room.
    const { left, width } = svg.getBoundingClientRect();
    const x = left - box.getBoundingClientRect().left + (width * place) / 1000;
    values.style.left = place < 500 ? `${x + 8}px` : "auto";
    values.style.right = place < 500 ? "auto" : `${box.clientWidth - x + 8}px`;
  };
  const nearest = ({ clientX }) => {
    const { left, width } = svg.getBoundingClientRect();
    const far = ([place]) => Math.abs(place - (1000 * (clientX - left)) / width);
    return at.reduce((best, one, index) => (far(one) < far(at[best]) ? index : best), 0);
  };
  svg.addEventListener("pointermove", (event) => show(nearest(event)));
  svg.addEventListener("pointerdown", (event) => show(nearest(event)));
  svg.addEventListener("pointerleave", () => show(-1));
  svg.addEventListener("blur", () => show(-1));
  svg.addEventListener("keydown", (event) => {
    const last = at.length - 1;
    const next = { ArrowRight: Math.min(chosen + 1, last), ArrowLeft: Math.max(chosen - 1, 0), Home: 0, End: last, Escape: -1 };
    if (!(event.key in next)) return;
    event.preventDefault();
    show(next[event.key]);
  });
  svg.setAttribute("tabindex", "0");

  // A picture has no style sheet: what it says about the drawing is written into the copy.
  const LOOKS = ["display", "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap",
    "stroke-linejoin", "vector-effect", "font-size", "text-anchor", "overflow", "visibility"];
  const copied = (original) => {
    const copy = original.cloneNode(true);
    const [all, copies] = [original, copy].map((one) => [one, ...one.querySelectorAll("*")]);
    all.forEach((one, index) => {
      const style = getComputedStyle(one);
      for (const look of LOOKS) copies[index].style.setProperty(look, style.getPropertyValue(look));
    });
    return copy;
  };

  const EDGE = 16;
  const picture = () => {
    const { color, backgroundColor, fontFamily } = getComputedStyle(document.body);
    const { paddingLeft, paddingRight } = getComputedStyle(box);
    const width = Math.max(640, box.clientWidth);
    const root = element("svg", { xmlns: svg.namespaceURI, width, "font-family": fontFamily, fill: color });
    root.append(element("title", {}, `${of}: ${title}`));
    root.append(element("rect", { width: "100%", height: "100%", fill: backgroundColor }));
    let y = EDGE;
    // Long lines are broken where about that many characters fit.
    const write = (text, size, x = EDGE) => {
      const most = Math.floor((width - x - EDGE) / (0.55 * size));
      for (const line of text.match(new RegExp(`.{1,${most}}(?=\\s|$)|.{1,${most}}`, "gu")) ?? []) {
        y += 1.35 * size;
        root.append(element("text", { x, y: y - 0.35 * size, "font-size": size }, line.trim()));
      }
    };
    write(of, 13);
    write(title, 16);
    for (const name of figure.querySelectorAll(".legend > span")) {
      const swatch = copied(name.firstElementChild);
      root.append(swatch);
      for (const [key, value] of Object.entries({ x: EDGE, y: y + 4 })) swatch.setAttribute(key, value);
      write(name.textContent, 13, EDGE + 30);
    }
    show(-1);
    const drawing = copied(svg);
    const [left, right] = [paddingLeft, paddingRight].map(parseFloat);
    const place = { x: EDGE + left, y: y + 8, width: width - 2 * EDGE - left - right };
    for (const [key, value] of Object.entries(place)) drawing.setAttribute(key, value);
    root.append(drawing);
    y += 8 + svg.clientHeight;
    write(document.querySelector("main").dataset.told, 11);
    root.setAttribute("height", Math.ceil(y + EDGE));
    return root;
  };

  const textOf = (root) => new XMLSerializer().serializeToString(root);
  const kinds = {
    PNG: async (root) => {
      // Lines that keep their width would keep it in a picture of twice the size, too.
      for (const { style } of root.querySelectorAll('[style*="non-scaling"]')) {
        for (const name of ["stroke-width", "stroke-dasharray"]) {
          style.setProperty(name, style.getPropertyValue(name).replace(/[\d.]+/g, (length) => 2 * length));
        }
      }
      const image = new Image();
      image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(textOf(root))}`;
      await image.decode();
      const canvas = document.createElement("canvas");
      // A screen with twice the pixels, or print, should not show steps.
      [canvas.width, canvas.height] = ["width", "height"].map((name) => 2 * root.getAttribute(name));
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      return new Promise((done) => canvas.toBlob(done, "image/png"));
    },
    SVG: (root) => new Blob([textOf(root)], { type: "image/svg+xml" }),
  };

  const inFileName = (text) => text.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60);
  const buttons = document.createElement("span");
  buttons.className = "saves";
  for (const [kind, make] of Object.entries(kinds)) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = kind;
    button.setAttribute("aria-label", `${kind}: save “${title}”, ${of}`);
    onPress(button, async () => {
      const name = [document.querySelector("main").dataset.name, of, title].map(inFileName).join("-");
      save(await make(picture()), `${name}.${kind.toLowerCase()}`);
    });
    buttons.append(button);
  }
  figure.querySelector("figcaption").append(buttons);
}
