// Each plot as a picture, PNG or SVG, that says by itself what it shows: title and legend, which stand beside the plot in
// the page, are in it, and where it comes from, on the page's ground as it is shown.
{
  const LEAST_WIDTH = 640;
  const EDGE = 16;
  const FAMILY = "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', sans-serif";
  // A screen with twice the pixels, or print, should not show steps.
  const SCALE = 2;

  const pen = document.createElement("canvas").getContext("2d");
  const widthOf = (text, font) => {
    pen.font = font;
    return pen.measureText(text).width;
  };
  const element = (name, attributes, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  // Lines of words, as wide as there is room; a word that is wider is broken.
  const wrapped = (text, font, room) => {
    const lines = [""];
    for (const word of text.split(/\s+/)) {
      const longer = `${lines.at(-1)} ${word}`.trim();
      if (widthOf(longer, font) <= room) {
        lines[lines.length - 1] = longer;
        continue;
      }
      let line = "";
      if (lines.at(-1) !== "") lines.push(line);
      for (const character of word) {
        if (widthOf(line + character, font) > room) {
          lines[lines.length - 1] = line;
          lines.push((line = ""));
        }
        line += character;
      }
      lines[lines.length - 1] = line;
    }
    return lines;
  };

  // A growing column of text. `leave` makes room in it, and returns where that begins.
  const column = (svg, width, ink) => {
    let height = EDGE;
    const add = (text, size, weight, colour) => {
      for (const line of wrapped(text, `${weight} ${size}px ${FAMILY}`, width - 2 * EDGE)) {
        height += Math.round(1.35 * size);
        const place = { x: EDGE, y: height - Math.round(0.35 * size), "font-size": size, "font-weight": weight };
        svg.append(element("text", { ...place, fill: colour }, line));
      }
    };
    const legend = (entries) => {
      const font = `400 13px ${FAMILY}`;
      let x = EDGE;
      height += 22;
      for (const { mark, name } of entries) {
        const markWidth = mark.glyph ? widthOf(mark.glyph, `700 13px ${FAMILY}`) + 5 : 36;
        const [first, ...more] = wrapped(name, font, width - 2 * EDGE - markWidth);
        const entryWidth = markWidth + Math.max(...[first, ...more].map((line) => widthOf(line, font)));
        if (x > EDGE && x + entryWidth > width - EDGE) {
          x = EDGE;
          height += 18;
        }
        svg.append(mark.at(x, height - 5));
        const attributes = { x: x + markWidth, y: height - 5, "font-size": 13, fill: ink };
        svg.append(element("text", attributes, first));
        for (const line of more) {
          height += 18;
          svg.append(element("text", { ...attributes, y: height - 5 }, line));
        }
        x += entryWidth + 16;
      }
    };
    const leave = (room) => ((height += room), height - room);
    return { add, legend, leave };
  };

  // What stands before a name in the page's legend: a glyph, or a piece of a line.
  const markOf = (shown) => {
    if (shown.localName === "svg") {
      const at = (x, y) => {
        const mark = shown.cloneNode(true);
        mark.setAttribute("x", x);
        mark.setAttribute("y", y - 9);
        return mark;
      };
      return { at };
    }
    const { color } = getComputedStyle(shown);
    const glyph = shown.textContent;
    if (glyph) {
      const attributes = { "font-size": 13, "font-weight": 700, fill: color };
      return { glyph, at: (x, y) => element("text", { x, y, ...attributes }, glyph) };
    }
    const is = (name) => shown.classList.contains(name);
    if (is("area")) {
      const attributes = { width: 13, height: 13, fill: color, "fill-opacity": 0.3 };
      return { at: (x, y) => element("rect", { x: x + 5, y: y - 11, ...attributes }) };
    }
    const dash = is("dashed") ? "9 5" : is("dotted") ? "3 3" : "none";
    const attributes = { stroke: color, "stroke-width": 3, "stroke-dasharray": dash };
    return { at: (x, y) => element("path", { d: `M${x},${y - 4.5}h24`, ...attributes }) };
  };

  const drawing = async (box, size, colours) => {
    await plotlyCame;
    if (!hasPlotly()) throw new Error("plotly's script is not there");
    const { data, layout } = plotOf(box);
    const { ink, soft, rule, ground } = colours;
    const shown = { ...layout, ...size, paper_bgcolor: ground, plot_bgcolor: ground };
    shown.font = { ...layout.font, color: ink };
    for (const name of Object.keys(layout).filter((name) => /^[xy]axis/.test(name))) {
      const axis = layout[name];
      shown[name] = { ...axis, zerolinecolor: rule };
      if (name.startsWith("x")) shown[name].tickfont = { ...axis.tickfont, color: soft };
    }
    const options = { format: "svg", imageDataOnly: true, ...size };
    // As it is shown: a reader may have brought something out.
    const text = await Plotly.toImage({ data: box.data ?? data, layout: shown }, options);
    return new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  };

  const about = (box) => {
    const figure = box.closest("figure");
    // What a reader has chosen stands elsewhere.
    const of = figure.dataset.of ?? document.getElementById(figure.dataset.ofWhat).textContent;
    return { of, title: figure.querySelector("figcaption").firstChild.textContent.trim() };
  };

  const picture = async (box) => {
    const { of, title } = about(box);
    const page = document.querySelector("main").dataset;
    const style = getComputedStyle(document.body);
    const colours = { ink: style.color, ground: style.backgroundColor };
    for (const name of ["soft", "rule"]) colours[name] = style.getPropertyValue(`--${name}`).trim();
    const size = { width: Math.max(LEAST_WIDTH, box.clientWidth), height: box.clientHeight };
    const svg = element("svg", { "font-family": FAMILY }, element("title", {}, `${of}: ${title}`));
    const ground = element("rect", { fill: colours.ground, width: "100%", height: "100%" });
    svg.append(ground);
    const text = column(svg, size.width, colours.ink);
    text.add(of, 13, 400, colours.soft);
    text.add(title, 16, 600, colours.ink);
    const names = [...box.closest("figure").querySelectorAll(".legend > span")];
    text.legend(names.map((name) => ({
      mark: markOf(name.firstElementChild),
      name: name.lastChild.textContent.trim(),
    })));
    const plot = await drawing(box, size, colours);
    plot.setAttribute("y", text.leave(size.height + 6) + 6);
    svg.append(plot);
    text.add(page.told, 11, 400, colours.soft);
    const height = text.leave(EDGE) + EDGE;
    const all = { width: size.width, height, viewBox: `0 0 ${size.width} ${height}` };
    for (const [key, value] of Object.entries(all)) svg.setAttribute(key, value);
    return { text: new XMLSerializer().serializeToString(svg), width: size.width, height };
  };

  const kinds = {
    PNG: async ({ text, width, height }) => {
      const image = new Image();
      image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [SCALE * width, SCALE * height];
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      return new Promise((done) => canvas.toBlob(done, "image/png"));
    },
    SVG: ({ text }) => new Blob([text], { type: "image/svg+xml" }),
  };

  const inFileName = (text) => text.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60);

  for (const box of document.querySelectorAll(".plot")) {
    const { of, title } = about(box);
    const nameOf = ({ of, title }) =>
      [document.querySelector("main").dataset.name, of, title].map(inFileName).join("-");
    const buttons = document.createElement("span");
    buttons.className = "saves";
    for (const [kind, make] of Object.entries(kinds)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = kind;
      button.setAttribute("aria-label", `${kind}: save “${title}”, ${of}`);
      onPress(button, async () => save(await make(await picture(box)), `${nameOf(about(box))}.${kind.toLowerCase()}`));
      buttons.append(button);
    }
    box.closest("figure").querySelector("figcaption").append(buttons);
  }
}
