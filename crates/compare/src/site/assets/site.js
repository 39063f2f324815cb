// The pages of a site. All figures and verdicts are in its data; this script chooses, combines and shows them. What a
// reader chooses is in the address, after the #, so that a link shows the same.
"use strict";

// ---------------------------------------------------------------------------------------------------------------- data

// Data arrives in scripts, because a page that is opened from a file can read no other file.
const deadheat = (() => {
  const asked = new Map();
  const get = (name) => {
    if (!asked.has(name)) {
      const entry = {};
      entry.promise = new Promise((resolve, reject) => {
        entry.resolve = resolve;
        const script = document.createElement("script");
        script.src = `${document.body.dataset.root}data/${name}.js`;
        script.onerror = () => {
          // It is asked for again with the next choice.
          asked.delete(name);
          reject(new Error(`data/${name}.js cannot be read`));
        };
        document.head.append(script);
      });
      asked.set(name, entry);
    }
    return asked.get(name).promise;
  };
  return { get, data: (name, value) => asked.get(name)?.resolve(value) };
})();

const UNITS = 1e7;
// Half widths of a ratio's logarithm that are not known are open ends.
const log = (units) => (units === null ? Infinity : units / UNITS);

// How the stack x compares with y in a ranking: the logarithm of how many times better it is, the half widths to both ends
// of its interval, the verdict on x, and whether both figures are only lower bounds. `kind` is "alone" or "together". Null:
// they cannot be compared.
const comparePair = (ranking, x, y, kind) => {
  const [one, other] = [ranking.stacks.indexOf(x), ranking.stacks.indexOf(y)];
  if (one < 0 || other < 0 || one === other) return null;
  const [better, worse] = one < other ? [one, other] : [other, one];
  const pair = (better * (2 * ranking.stacks.length - better - 1)) / 2 + worse - better - 1;
  const letter = ranking[`verdicts_${kind}`][pair];
  if (letter === "-") return null;
  const half = log(ranking[kind][pair]);
  const found = {
    log: (ranking.log[better] - ranking.log[worse]) / UNITS,
    below: ranking.is_bound[worse] ? Infinity : half,
    above: ranking.is_bound[better] ? Infinity : half,
    verdict: letter,
    heats: Math.min(ranking.heats[better], ranking.heats[worse]),
    areBounds: ranking.is_bound[better] && ranking.is_bound[worse],
  };
  return one < other ? found : reversed(found);
};

const REVERSED = { F: "S", S: "F", D: "D", U: "U" };
const reversed = (found) => ({
  ...found,
  log: -found.log,
  below: found.above,
  above: found.below,
  verdict: REVERSED[found.verdict],
});

// The ends of the ratio. A difference that a later step proved has an interval that ends at 1.
const ends = ({ log, below, above, verdict }) => {
  const low = verdict === "F" ? Math.max(log - below, 0) : log - below;
  const high = verdict === "S" ? Math.min(log + above, 0) : log + above;
  return { ratio: Math.exp(log), low: Math.exp(low), high: Math.exp(high) };
};

// Several comparisons of the same two stacks as one: the weighted mean of their logarithms. Half widths of loads that share
// their servers' starts are added, those of others as independent errors. One comparison stays as it is. A difference that is
// proven at each is proven for all, also where a later step proved it and the interval is wider.
const combined = (parts, { margin, least_heats }) => {
  if (parts.some(({ found }) => found === null)) return null;
  if (parts.length === 1) return parts[0].found;
  const all = parts.reduce((sum, { weight }) => sum + weight, 0);
  const width = (end) => {
    const shared = new Map();
    for (const { found, weight, starts } of parts) {
      shared.set(starts, (shared.get(starts) ?? 0) + (weight / all) * found[end]);
    }
    return Math.sqrt([...shared.values()].reduce((sum, one) => sum + one * one, 0));
  };
  const found = {
    log: parts.reduce((sum, { found, weight }) => sum + (weight / all) * found.log, 0),
    below: width("below"),
    above: width("above"),
    heats: Math.min(...parts.map(({ found }) => found.heats)),
  };
  const [low, high] = [found.log - found.below, found.log + found.above];
  const bound = Math.log(1 + margin);
  const isWithin = low >= -bound && high <= bound && found.heats >= least_heats;
  const isEach = (letter) => parts.every(({ found }) => found.verdict === letter);
  found.verdict = low > 0 || isEach("F") ? "F" : high < 0 || isEach("S") ? "S" : isWithin ? "D" : "U";
  return found;
};

// ------------------------------------------------------------------------------------------------------------- figures

const NONE = "–";

const figure = (value) => {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  if (value === 0) return "0";
  const rounded = Number(value.toPrecision(3));
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(rounded))));
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return rounded.toLocaleString("en-US", digits);
};

const inUnit = (value, step, units) => {
  const fits = ([size]) => Math.max(value / size, Number((value / size).toPrecision(3))) < step;
  const [size, unit] = units.find(fits) ?? units.at(-1);
  return `${figure(value / size)} ${unit}`;
};
const known = (write) => (value) => (Number.isFinite(value) ? write(value) : NONE);
const seconds = known((value) => inUnit(value, 1000, [[1e-6, "µs"], [1e-3, "ms"], [1, "s"]]));
const bytes = known((value) => inUnit(value, 1024, [[1, "B"], [1024, "KiB"], [1024 ** 2, "MiB"], [1024 ** 3, "GiB"]]));

const asRatio = (value, like) => {
  if (value < 0.00995 || value >= 9.995) return figure(value);
  if (value < 0.0995 || (like > 0.9 && like < 1.1)) return value.toFixed(3);
  return value.toFixed(2);
};
const ratio = (value) => `${asRatio(value, value)}×`;
const range = ({ low, high }) => {
  const nearest = Math.abs(low - 1) < Math.abs(high - 1) ? low : high;
  if (low > 0 && Number.isFinite(high)) return `${asRatio(low, nearest)}–${asRatio(high, nearest)}×`;
  if (low > 0) return `≥ ${asRatio(low, low)}×`;
  return Number.isFinite(high) ? `≤ ${asRatio(high, high)}×` : "any ratio";
};

const list = (items) => (items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`);
const some = (items, most = 3) =>
  items.length <= most + 1 ? list(items) : list([...items.slice(0, most), `${items.length - most} more`]);
const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
const day = ({ started }) => started.slice(0, 10);
const minute = ({ started }) => started.slice(0, 16).replace("T", " ");

// ---------------------------------------------------------------------------------------------------------------- page

// Text without characters that control a terminal or turn the direction of writing.
const clean = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "\ufffd");

// An element with attributes and children; text is never read as markup.
const make = (name, attributes = {}, ...children) => {
  const isDrawn = ["svg", "g", "line", "rect", "circle", "text", "path", "title"].includes(name);
  const element = isDrawn ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  const known = children.filter((child) => child !== null && child !== undefined);
  element.append(...known.map((child) => (typeof child === "string" ? clean(child) : child)));
  return element;
};
const byId = (id) => document.getElementById(id);
const control = (name) => byId("controls").elements[name];

const state = () => new URLSearchParams(location.hash.slice(1));
const encoded = (text) => encodeURIComponent(text).replace(/%(3A|40|2C|2F)/g, (code) => decodeURIComponent(code));
const fragment = (entries) =>
  `#${entries.filter(([, value]) => value).map(([key, value]) => `${key}=${encoded(value)}`).join("&")}`;
const setState = (entries) => history.replaceState(null, "", fragment(entries));

// What the address asks for, and this site does not have.
const missing = new Set();

// What shows a page again with each choice. Data of an earlier choice may arrive after that of a later one: `isOld` says so.
const latest = (show) => {
  let turn = 0;
  return async () => {
    const own = ++turn;
    const isOld = () => own !== turn;
    missing.clear();
    try {
      await show(isOld);
    } catch (error) {
      console.error(error);
      if (!isOld()) answer("This page could not be shown", error.message);
    }
  };
};

const answer = (text, details = "") => {
  byId("answer").textContent = text;
  const lost = missing.size > 0 ? [make("strong", {}, `The link asks for ${list([...missing])}, which is not here. `)] : [];
  byId("details").replaceChildren(...lost, ...[details].flat());
  document.title = `${text} · Deadheat`;
};

// Fills a select with [value, text] pairs. Of one choice alone there is nothing to choose. `asked`: what the address has.
const choices = (select, options, chosen, { always = false, asked = chosen } = {}) => {
  if (asked && options.every(([value]) => value !== asked)) missing.add(asked);
  select.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
  select.value = options.some(([value]) => value === chosen) ? chosen : (options[0]?.[0] ?? "");
  select.closest("label").hidden = options.length < 2 && !always;
  return select.value;
};

const sessionData = async (index, place) => {
  const session = await deadheat.get(`${index.sessions[place].folder}/session`);
  return { ...session, place, folder: index.sessions[place].folder };
};
// The place of the session that is shown if the address names none: the newest one with all loads that it asks for, or with
// any figure.
const newestWith = (index, loads) => {
  const has = (session, asked) => session.loads.map((load) => index.loads[load]).some((load) => load === asked || load.split(":")[0] === asked);
  const measured = index.sessions.filter((session) => session.stacks > 0 && session.loads.length > 0);
  const fitting = measured.filter((session) => loads.every((asked) => has(session, asked)));
  return index.sessions.indexOf(fitting.at(-1) ?? measured.at(-1) ?? index.sessions.at(-1));
};
const pairsOf = (session, load) => deadheat.get(`${session.folder}/pairs-${session.loads.indexOf(load)}`);
const sameGroup = (one, other) => one.yardsticks === other.yardsticks && one.cpus === other.cpus;
const groupName = ({ yardsticks, cpus }) => `${yardsticks ? "yardsticks, " : ""}${counted(cpus, "CPU")}`;
const groupKey = ({ yardsticks, cpus }) => `${yardsticks ? "yardsticks-" : ""}${cpus}`;
// The kind of machine of a session: only sessions of one kind are compared.
const machineOf = ({ folder }) => folder.split("/")[0];
const stackLink = (index, target) => {
  const file = index.stacks.find((stack) => stack.target === target)?.file;
  return file ? make("a", { href: `stacks/${file}.html` }, target) : document.createTextNode(target);
};

// What a reader of a session's verdicts must know: the gravest warning, and where the others are.
const doubts = ({ id, warnings: [first, ...others] }) => {
  if (first === undefined) return [];
  const link = (text) => make("a", { href: `data.html#${id}` }, text);
  return [` Before you decide: ${first} `, link(others.length > 0 ? `${counted(others.length, "more warning")}.` : "Its records.")];
};

// --------------------------------------------------------------------------------------------------------------- table

const DATABASE = { raw: "driver alone", micro: "micro-mapper", orm: "ORM" };
const FILTERS = {
  language: (stack) => stack.language,
  class: (stack) => stack.class,
  database: (stack) =>
    stack.database ? `${DATABASE[stack.database.layer] ?? stack.database.layer}, ${stack.database.io}` : "none",
  processes: (stack) => stack.variant ?? "one variant",
  runtime: (stack) => stack.runtime,
};

const tablePage = async (index) => {
  let session;
  // Pairs of loads that were read, by their names.
  let pairs = new Map();

  const closed = () => session.loads.filter((load) => load.measure === "throughput");
  const tableOf = (load, group) => load.tables.findIndex((table) => sameGroup(table.group, group));

  // "users:c100*2,plaintext:c50" as names with weights.
  const namesWithWeights = (text) => (text ?? "").split(",").filter(Boolean).map((part) => part.split("*"));
  const chosenLoads = (parts) => {
    const found = parts.map(([name, weight]) => ({
      load: closed().find((load) => load.name === name || load.workload === name),
      weight: Number(weight ?? 1),
    }));
    const isValid = ({ load, weight }) => load && weight > 0 && Number.isFinite(weight);
    for (const [nth, one] of found.entries()) if (!isValid(one)) missing.add(parts[nth].join("*"));
    const valid = found.filter(isValid);
    return valid.length > 0 ? valid : closed().slice(0, 1).map((load) => ({ load, weight: 1 }));
  };

  const groupsOf = () => {
    const groups = new Map();
    for (const { group } of session.loads.flatMap((load) => load.tables)) groups.set(groupKey(group), group);
    return [...groups.values()];
  };

  // The load that cost is read from: equal work, or full load.
  const costLoads = (loads) => {
    const names = loads.map(({ load }) => load.name);
    const equal = session.loads.filter((load) => load.equal_work_of && load.offered_per_second);
    const own = equal.filter((load) => names.includes(load.equal_work_of));
    return [...own, ...equal.filter((load) => !own.includes(load)), ...loads.map(({ load }) => load)];
  };

  const show = latest(async (isOld) => {
    const params = state();
    const asked = index.sessions.findIndex(({ id }) => id === params.get("session"));
    const parts = namesWithWeights(params.get("loads"));
    const names = [...parts.map(([name]) => name), params.get("rate")].filter(Boolean);
    const place = asked < 0 ? newestWith(index, names) : asked;
    if (session?.place !== place) {
      const read = await sessionData(index, place);
      if (isOld()) return;
      session = read;
      pairs = new Map();
    }
    choices(control("session"), index.sessions.map((one) => [one.id, `${minute(one)} · ${one.machine}`]).reverse(), session.id, { always: true, asked: params.get("session") });
    const loads = chosenLoads(parts);
    const groups = groupsOf();
    if (groups.length === 0) {
      answer("No stack of this session has a figure", [`Session of ${minute(session)} on ${index.sessions[place].machine}.`, ...doubts(session)]);
      byId("stacks").replaceChildren();
      lacking(loads.map(({ load }) => load));
      return;
    }
    const group = groups.find((one) => groupKey(one) === params.get("group")) ?? groups[0];
    const costs = costLoads(loads);
    const rate = costs.find(({ name }) => name === params.get("rate")) ?? costs[0];
    for (const load of new Set([...loads.map(({ load }) => load), rate])) {
      if (!pairs.has(load.name)) {
        const read = await pairsOf(session, load);
        if (isOld()) return;
        pairs.set(load.name, read);
      }
    }
    render(params, { loads, groups, group, costs, rate });
  });

  const render = (params, { loads, groups, group, costs, rate }) => {
    const stacks = session.stacks;
    const rowsOf = (load) => load.tables[tableOf(load, group)]?.rows ?? [];
    const rowOf = (load, stack) => rowsOf(load).find((row) => row.stack === stack);
    const rankingOf = (load, name) => pairs.get(load.name)?.tables[tableOf(load, group)]?.[name];
    const members = [...new Set(loads.flatMap(({ load }) => rowsOf(load).map((row) => row.stack)))];

    // Controls show what the address says.
    choices(control("group"), groups.map((one) => [groupKey(one), groupName(one)]), groupKey(group), { asked: params.get("group") });
    choices(control("rate"), costs.map((load) => [load.name, load.offered_per_second ? load.label : `${load.label}, full load`]), rate.name, { asked: params.get("rate") });
    const filters = Object.entries(FILTERS).map(([name, of]) => {
      const values = [...new Set(members.map((stack) => of(stacks[stack])))].sort();
      const options = [["", "all"], ...values.map((value) => [value, value])];
      return [of, choices(control(name), options, params.get(name) ?? "", { always: true })];
    });
    if (document.activeElement !== control("name")) control("name").value = params.get("name") ?? "";
    if (document.activeElement !== control("price")) control("price").value = params.get("price") ?? "";
    weights(loads);

    const name = (params.get("name") ?? "").toLowerCase();
    const isShown = (stack) =>
      filters.every(([of, value]) => value === "" || of(stacks[stack]) === value) &&
      stacks[stack].target.toLowerCase().includes(name);
    const shown = members.filter(isShown);
    const ofAll = (x, y, kind) =>
      combined(
        loads.map(({ load, weight }) => ({
          found: comparePair(rankingOf(load, "main"), x, y, kind),
          weight,
          starts: load.shared_starts ?? load.name,
        })),
        session,
      );
    // A verdict together with others is the verdict alone, or undecided.
    const between = (x, y, kind) => {
      const found = ofAll(x, y, kind);
      const isKept = found === null || found.verdict === ofAll(x, y, "alone").verdict;
      return isKept ? found : { ...found, verdict: "U" };
    };
    const scored = shown.filter((stack) => loads.every(({ load }) => rowOf(load, stack)?.per_second));
    // With too few heats for a comparison, the figures alone.
    const figureOf = (stack) => loads.reduce((sum, { load, weight }) => sum + weight * Math.log(rowOf(load, stack).per_second.value), 0);
    const compareLogs = (x, y) => between(y, x, "together")?.log ?? figureOf(y) - figureOf(x);
    scored.sort((x, y) => compareLogs(x, y) || x - y);
    const first = scored[0];
    const asked = stacks.findIndex(({ target }) => target === params.get("base"));
    const base = members.includes(asked) ? asked : first;
    // The results chose the first stack; another baseline was chosen beforehand.
    const kind = base === asked ? "alone" : "together";
    choices(control("base"), [["", "the first"], ...members.map((stack) => [stacks[stack].target, stacks[stack].target])], params.get("base") ?? "");

    const price = Math.max(0, Number(params.get("price")?.replace(",", "."))) || session.price_per_cpu_hour;
    const isSingle = loads.length === 1;
    // Ranks are among the stacks that are shown. Yardsticks have none.
    const isRanked = !group.yardsticks;
    const placeAmong = (members, stack, verdictOn) => {
      if (!isRanked) return null;
      const verdicts = members.filter((other) => other !== stack).map((other) => verdictOn(stack, other)?.verdict);
      const count = (letter) => verdicts.filter((verdict) => verdict === letter).length;
      return { best: 1 + count("S"), worst: members.length - count("F") };
    };
    const placedAt = (name, key) => {
      const ranking = rankingOf(rate, name);
      const members = shown.filter((stack) => rowOf(rate, stack)?.[key] && ranking?.stacks.includes(stack));
      const verdictOn = (x, y) => comparePair(ranking, x, y, "together");
      return (stack) => {
        const figure = rowOf(rate, stack)?.[key];
        return figure && { ...figure, rank: members.includes(stack) ? placeAmong(members, stack, verdictOn) : null };
      };
    };
    const [costOf, p99Of] = [placedAt("cost", "cpu_us"), placedAt("main", "p99_seconds")];
    const rows = shown.map((stack) => {
      const isScored = scored.includes(stack);
      const cost = costOf(stack);
      const own = loads.map(({ load }) => rowOf(load, stack)).filter(Boolean);
      return {
        stack,
        target: stacks[stack].target,
        rank: isScored ? placeAmong(scored, stack, (x, y) => between(x, y, "together")) : null,
        order: isScored ? scored.indexOf(stack) : Infinity,
        perSecond: isSingle ? rowOf(loads[0].load, stack)?.per_second : null,
        beside: isScored && base !== undefined && stack !== base ? between(stack, base, kind) : null,
        isBase: stack === base,
        tie: isRanked && isScored && stack !== first ? between(first, stack, "together") : null,
        isFirst: isRanked && stack === first,
        cost,
        price: cost && price ? (cost.value * price) / 3600 : null,
        p99: p99Of(stack),
        peak: Math.max(...own.map((row) => row.peak_bytes ?? -Infinity)),
        heats: Math.min(...own.map((row) => row.heats)),
        failures: own.flatMap((row) => row.failures ?? []),
        failedRequests: own.reduce((sum, row) => sum + row.failed_requests, 0),
        start: stacks[stack].first_answer_seconds,
      };
    });
    const sort = Object.hasOwn(HEADS, params.get("sort") ?? "") ? params.get("sort") : "rank";
    const key = {
      rank: (row) => row.order,
      name: (row) => row.target,
      cost: (row) => row.cost?.value ?? Infinity,
      price: (row) => row.cost?.value ?? Infinity,
      p99: (row) => row.p99?.value ?? Infinity,
      memory: (row) => (row.peak > 0 ? row.peak : Infinity),
      start: (row) => row.start?.value ?? Infinity,
      heats: (row) => row.heats,
    }[sort] ?? ((row) => row.order);
    const descending = params.get("order") === "descending";
    const compareKeys = (one, other) => (one < other ? -1 : one > other ? 1 : 0);
    // Stacks without a figure come last in both directions.
    const isKnown = (row) => Number(key(row) !== Infinity);
    rows.sort((one, other) => isKnown(other) - isKnown(one) || (descending ? -1 : 1) * compareKeys(key(one), key(other)) || one.order - other.order);

    headline({ rows, scored, between, loads, rate, sort, rankingOf, groups, group });
    table({ rows, sort, descending, isSingle, rate, base, price, loads });
    lacking([...loads.map(({ load }) => load), rate]);
  };

  // "3 Go stacks (ORM, blocking; name with “x”)".
  const stacksInWords = (number, groups, group) => {
    const words = ["language", "class", "runtime"].map((name) => control(name).value).filter(Boolean);
    const name = control("name").value;
    const more = [
      control("database").value && `database access: ${control("database").value}`,
      control("processes").value,
      name && `name with “${name}”`,
      groups.length > 1 && !group.yardsticks && groupName(group),
    ].filter(Boolean);
    const noun = counted(number, [...words, group.yardsticks ? "yardstick" : "stack"].join(" "));
    return more.length > 0 ? `${noun} (${more.join("; ")})` : noun;
  };

  const headline = ({ rows, scored, between, loads, rate, sort, rankingOf, groups, group }) => {
    const names = (stacks) => stacks.map((stack) => session.stacks[stack].target);
    const at = `At ${list(loads.map(({ load, weight }) => (weight === 1 ? load.label : `${load.label} (×${weight})`)))}`;
    const what = (number) => stacksInWords(number, groups, group);
    const where = `Session of ${minute(session)} on ${index.sessions[session.place].machine}.`;
    const details = [where, ...doubts(session)];
    if (rows.length === 0) {
      answer("No stack matches these filters", details);
      return;
    }
    if (group.yardsticks) {
      answer(`${at}: ${what(rows.length)}, not ranked`, details);
      return;
    }
    if (["cost", "price"].includes(sort) && rows.some((row) => row.cost)) {
      const costs = rows.filter((row) => row.cost).sort((one, other) => one.cost.value - other.cost.value);
      const [least, ...others] = costs;
      const ranking = rankingOf(rate, "cost");
      const verdict = (other) => ranking && comparePair(ranking, least.stack, other.stack, "together")?.verdict;
      const equal = others.filter((other) => verdict(other) !== "F");
      const million = least.price ? `, ${figure(least.price)} for a million requests` : "";
      const tied = equal.length > 0 ? `; not proven cheaper than ${some(equal.map((row) => row.target))}` : "";
      const load = rate.offered_per_second ? rate.label : `${rate.label}, full load`;
      answer(`At ${load}, the cheapest of ${what(costs.length)} is ${least.target}: ${seconds(least.cost.value / 1e6)} of CPU time a request${million}${tied}`, details);
      return;
    }
    if (scored.length === 0) {
      answer(`${at}, no shown stack has a figure`, details);
      return;
    }
    const [first, ...rest] = scored;
    const verdicts = rest.map((stack) => [stack, between(first, stack, "together")]);
    const tied = verdicts.filter(([, found]) => found?.verdict !== "F");
    const [leader] = names([first]);
    if (rest.length === 0) {
      answer(`${at}, ${leader} is the only one shown`, details);
    } else if (loads.some(({ load }) => load.judged_heats === null)) {
      answer(`${at}, ${leader} has the best figure of ${what(scored.length)}, after too few heats for a verdict`, details);
    } else if (tied.length === 0) {
      // The results picked this pair, so the interval is the one that holds together with those of all pairs.
      const [second] = rest;
      const ratios = range(ends(between(first, second, "together")));
      answer(`${at}, ${leader} is the fastest of ${what(scored.length)}: ${ratios} as fast as ${names([second])[0]}`, details);
    } else {
      const equal = tied.filter(([, found]) => found?.verdict === "D").map(([stack]) => stack);
      const open = tied.filter(([, found]) => found?.verdict !== "D").map(([stack]) => stack);
      const parts = [
        ...(equal.length > 0 ? [`a dead heat with ${some(names(equal))}`] : []),
        ...(open.length > 0 ? [`undecided against ${some(names(open))}`] : []),
      ];
      answer(`${at}, ${leader} has the best figure of ${what(scored.length)}, and is tied: ${parts.join("; ")}`, details);
    }
  };

  const HEADS = {
    rank: "rank",
    name: "stack",
    cost: "CPU a request",
    price: "price of a million",
    p99: "p99",
    memory: "peak memory",
    start: "start to first answer",
    heats: "heats",
  };

  const table = ({ rows, sort, descending, isSingle, rate, base, price, loads }) => {
    const head = (name, title = HEADS[name], attributes = {}) => {
      const isSorted = sort === name;
      const button = make("button", { type: "button", "data-sort": name }, title);
      const order = descending ? "descending" : "ascending";
      return make("th", { scope: "col", "aria-sort": isSorted ? order : null, ...attributes }, button);
    };
    const number = { class: "number" };
    const hasP99 = rows.some((row) => row.p99);
    const baseName = base === undefined ? "" : session.stacks[base].target;
    const costTitle = rate.offered_per_second ? `CPU a request at ${rate.label}` : `CPU a request at full load`;
    const heads = [
      head("rank"),
      head("name"),
      isSingle ? make("th", { scope: "col", ...number }, "requests/s") : null,
      make("th", { scope: "col" }, `${isSingle ? "times" : "score: times"} ${baseName}`),
      make("th", { scope: "col" }, "against the first"),
      head("cost", costTitle, number),
      price ? head("price", undefined, number) : null,
      hasP99 ? head("p99", `p99 at ${rate.label}`, number) : null,
      head("memory", undefined, number),
      head("start", undefined, number),
      head("heats", undefined, number),
      make("th", { scope: "col" }, "compare"),
    ];
    const drawn = rows.filter((row) => row.beside).map((row) => ends(row.beside));
    const scale = barScale(drawn, session.margin);
    const place = (rank) => (rank === null || rank === undefined ? NONE : rank.best === rank.worst ? `${rank.best}` : `${rank.best}–${rank.worst}`);
    const placed = (figure, write) =>
      figure ? [write(figure.value), ...(figure.rank ? [" ", make("span", { class: "note" }, place(figure.rank))] : [])] : [NONE];
    // Behind the figures; of several workloads, the one with the fewest.
    const heats = ({ heats, failures, failedRequests }) => {
      const faults = [
        failures.length > 0 && `failed in ${failures.length}`,
        failedRequests > 0 && counted(failedRequests, "failed request"),
      ].filter(Boolean);
      const mark = faults.length > 0 ? [" ", make("span", { class: "note bad", title: failures.join("; ") || null }, faults.join(", "))] : [];
      return [Number.isFinite(heats) ? `${heats}` : NONE, ...mark];
    };
    const VERDICTS = { F: "slower", D: "dead heat", U: "undecided", S: "undecided" };
    const line = (row) => {
      const ratios = row.beside ? ends(row.beside) : null;
      const beside = row.isBase ? ["baseline"] : ratios ? [make("span", { class: "ratio" }, bar(scale, ratios, row.beside.verdict), make("span", {}, ratio(ratios.ratio), " ", make("span", { class: "note" }, range(ratios))))] : [NONE];
      const tie = row.isFirst ? "first" : row.tie ? VERDICTS[row.tie.verdict] : NONE;
      const other = base === row.stack ? rows.find((one) => one.isFirst && one !== row) ?? rows.find((one) => one !== row) : { target: baseName };
      // Without a chosen baseline, the results picked the pair.
      const by = control("base").value === "" ? "results" : "";
      const link = other && fragment([["a", row.target], ["b", other.target], ["sa", session.id], ["sb", session.id], ["load", isSingle ? loads[0].load.name : ""], ["by", by]]);
      const perSecond = row.perSecond ? `${row.perSecond.is_bound ? "≥ " : ""}${figure(row.perSecond.value)}` : NONE;
      return make(
        "tr",
        {},
        make("td", {}, place(row.rank)),
        make("th", { scope: "row" }, stackLink(index, row.target)),
        isSingle ? make("td", number, perSecond) : null,
        make("td", {}, ...beside),
        make("td", {}, tie),
        make("td", number, ...placed(row.cost, (value) => seconds(value / 1e6))),
        price ? make("td", number, row.price ? figure(row.price) : NONE) : null,
        hasP99 ? make("td", number, ...placed(row.p99, seconds)) : null,
        make("td", number, row.peak > 0 ? bytes(row.peak) : NONE),
        make("td", number, row.start?.is_bound ? "≤ " : "", ...placed(row.start, seconds)),
        make("td", number, ...heats(row)),
        make("td", {}, link ? make("a", { href: `compare.html${link}`, "aria-label": `compare ${row.target} with ${other.target}` }, `with ${other.target}`) : NONE),
      );
    };
    const caption = `${counted(rows.length, "stack")}. Small numbers behind figures: possible ranks among these (of the start: among all of the session). ${price ? "" : "Price: not recorded; type that of a CPU hour to see it. "}`;
    byId("stacks").replaceChildren(
      make("caption", {}, make("span", {}, caption.trim())),
      make("thead", {}, make("tr", {}, ...heads.filter(Boolean))),
      make("tbody", {}, ...rows.map(line)),
    );
  };

  const weights = (loads) => {
    const fieldset = byId("weights");
    fieldset.hidden = closed().length < 2;
    const held = document.activeElement?.name;
    const box = (load) => {
      const chosen = loads.find((one) => one.load === load);
      const check = make("input", { type: "checkbox", name: `use-${load.name}`, checked: Boolean(chosen) });
      const weight = make("input", { type: "number", name: `weight-${load.name}`, min: "0.1", step: "any", value: chosen?.weight ?? 1, "aria-label": `weight of ${load.label}` });
      return make("span", { class: "weight" }, make("label", { class: "beside" }, check, load.label), weight);
    };
    fieldset.replaceChildren(make("legend", {}, "Workloads and their weights"), ...closed().map(box));
    if (/^(use|weight)-/.test(held ?? "")) control(held)?.focus();
  };

  const lacking = (loads) => {
    const own = [...new Set(loads)].flatMap((load) => load.absent.map((one) => ({ ...one, load: load.label })));
    const items = [...session.absent, ...own].map(({ target, reason, load }) =>
      make("li", {}, make("b", {}, target), load ? ` at ${load}` : "", `: ${reason}`),
    );
    byId("absent").hidden = items.length === 0;
    byId("absent").querySelector("ul").replaceChildren(...items);
  };

  const changed = (event) => {
    const params = state();
    const { name, value } = event.target;
    // A weight counts when it is typed to its end, anything else at once.
    if ((event.type === "change") !== name.startsWith("weight-")) return;
    // The newest session is another one later, and the link must show the same.
    params.set("session", control("session").value);
    if (/^(use|weight)-/.test(name)) {
      // A weight that is not above zero removes the workload.
      const weightOf = (load) => Number(control(`weight-${load.name}`).value);
      const used = closed().filter((load) => control(`use-${load.name}`).checked && weightOf(load) > 0);
      const weighted = used.map((load) => (weightOf(load) === 1 ? load.name : `${load.name}*${weightOf(load)}`));
      params.set("loads", weighted.join(","));
    } else {
      params.set(name, value);
    }
    setState([...params]);
    show();
  };
  byId("controls").addEventListener("input", changed);
  byId("controls").addEventListener("change", changed);
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("controls").addEventListener("reset", (event) => {
    event.preventDefault();
    setState([]);
    control("name").value = "";
    control("price").value = "";
    show();
  });
  byId("stacks").addEventListener("click", (event) => {
    const name = event.target.closest("[data-sort]")?.dataset.sort;
    if (!name) return;
    const params = state();
    params.set("session", control("session").value);
    const isAgain = (params.get("sort") ?? "rank") === name && params.get("order") !== "descending";
    params.set("sort", name === "rank" && !isAgain ? "" : name);
    params.set("order", isAgain ? "descending" : "");
    setState([...params]);
    show().then(() => byId("stacks").querySelector(`[data-sort="${name}"]`)?.focus());
  });
  window.addEventListener("hashchange", show);
  await show();
};

// Ratios in a cell: from the least to the greatest, within a factor of 4 if most are.
const barScale = (drawn, margin) => {
  const near = drawn.filter(({ ratio }) => Math.abs(Math.log(ratio)) <= Math.log(4));
  const used = near.length * 2 >= drawn.length ? near : drawn;
  const values = used.flatMap(({ ratio, low, high }) => [ratio, Math.max(low, ratio / 2), Math.min(high, ratio * 2)]);
  const least = Math.log(Math.min(1 / (1 + 2 * margin), ...values));
  const most = Math.log(Math.max(1 + 2 * margin, ...values));
  const at = (value) => Math.min(100, Math.max(0, ((Math.log(value) - least) / (most - least)) * 100));
  return { at, margin };
};
const bar = ({ at, margin }, { ratio, low, high }, verdict) => {
  const percent = (value) => `${value.toFixed(1)}%`;
  const [left, right] = [at(1 / (1 + margin)), at(1 + margin)];
  const line = (kind, from, to, y1, y2) => make("line", { class: kind, x1: percent(from), x2: percent(to), y1, y2 });
  return make(
    "svg",
    { class: "bar", "aria-hidden": "true" },
    make("rect", { x: percent(left), width: percent(right - left), y: 0, height: "100%" }),
    line("one", at(1), at(1), "0%", "100%"),
    line("range", at(low), at(high), "50%", "50%"),
    make("circle", { class: verdict === "U" ? "undecided" : null, cx: percent(Math.min(97, Math.max(3, at(ratio)))), cy: "50%", r: 4 }),
  );
};

// ------------------------------------------------------------------------------------------------------- A against B

const WORDS = { F: "faster", S: "slower", D: "dead heat", U: "undecided" };
const COSTS = { ...WORDS, F: "cheaper", S: "more expensive" };
const TONES = { F: "good", S: "bad", cheaper: "good" };
const STEPS = { faster: "F", slower: "S", "dead-heat": "D", undecided: "U", "not-compared": "-" };

const comparePage = async (index) => {
  const show = latest(async (isOld) => {
    const params = state();
    const newest = newestWith(index, [params.get("load")].filter(Boolean));
    const find = (name) => index.sessions.findIndex(({ id }) => id === params.get(name));
    let [sa, sb] = [find("sa"), find("sb")];
    if (sa < 0) sa = sb < 0 ? newest : sb;
    if (sb < 0) sb = sa;
    const [one, other] = [await sessionData(index, sa), await sessionData(index, sb)];
    if (isOld()) return;
    const ranked = one.loads.flatMap((load) => load.tables[0]?.rows ?? []).map((row) => one.stacks[row.stack].target);
    const isPair = sa === sb;
    let a = params.get("a") ?? (isPair ? (ranked[0] ?? one.stacks[0].target) : "");
    let b = params.get("b") ?? (isPair ? (ranked.find((name) => name !== a) ?? one.stacks.at(-1).target) : a);
    const names = ({ stacks }) => stacks.map(({ target }) => target).sort();
    const all = [["", "all stacks"]];
    a = choices(control("a"), [...(isPair ? [] : all), ...names(one).map((name) => [name, name])], a, { always: true });
    b = choices(control("b"), [...(isPair ? [] : all), ...names(other).map((name) => [name, name])], b, { always: true });
    const sessions = index.sessions.map((session) => [session.id, `${minute(session)} · ${session.machine}`]).reverse();
    choices(control("sa"), sessions, one.id, { always: true, asked: params.get("sa") });
    choices(control("sb"), sessions, other.id, { always: true, asked: params.get("sb") });
    const kind = isPickedByResults(params) ? "together" : "alone";
    if (isPair) await stacks(one, a, b, params.get("load"), kind, isOld);
    else await dates(one, other, a, b, isOld);
  });

  // A pair that the address does not name is the one of the best figures.
  const isPickedByResults = (params) => params.get("by") === "results" || !params.get("a") || !params.get("b");
  const KINDS = {
    alone: "Verdicts are those of the pair alone, for readers who picked it before they saw results. If results picked it, the verdict with all others counts, where it is another one.",
    together: "The results picked this pair, so verdicts are those that hold together with all others.",
  };

  // Two stacks of one session. The load that a link asks for comes first. `kind` is that of the verdicts.
  const stacks = async (session, a, b, asked, kind, isOld) => {
    const isAsked = ({ name, workload }) => [name, workload].includes(asked);
    if (asked && !session.loads.some(isAsked)) missing.add(asked);
    const loads = [...session.loads.filter(isAsked), ...session.loads.filter((load) => !isAsked(load))];
    const machine = index.sessions[session.place].machine;
    const where = [`Measured together on ${minute(session)}, ${machine}. ${KINDS[kind]}`, ...doubts(session)];
    if (a === b) {
      answer("Choose two stacks, or two sessions of one stack", where);
      byId("verdicts").replaceChildren();
      byId("differences").replaceChildren();
      return;
    }
    const [x, y] = [a, b].map((name) => session.stacks.findIndex(({ target }) => target === name));
    const rows = [];
    const sentences = [];
    for (const load of loads) {
      const position = load.tables.findIndex((table) => [x, y].every((stack) => table.rows.some((row) => row.stack === stack)));
      if (position < 0) {
        const reasons = [...load.absent, ...session.absent].filter(({ target }) => [a, b].includes(target));
        const why = reasons.map(({ target, reason }) => `${target}: ${reason}`).join("; ") || "they are in no common table";
        if (load.measure === "throughput") sentences.push(`At ${load.label}, they cannot be compared`);
        rows.push({ load: load.label, what: NONE, a: NONE, b: NONE, ratio: NONE, verdict: why });
        continue;
      }
      const rankings = (await pairsOf(session, load)).tables[position];
      if (isOld()) return;
      const [rowX, rowY] = [x, y].map((stack) => load.tables[position].rows.find((row) => row.stack === stack));
      const add = (what, ranking, key, write, words) => {
        const found = ranking && comparePair(ranking, x, y, kind);
        const isJudged = found && load.judged_heats !== null;
        const isLess = isJudged && kind === "alone" && comparePair(ranking, x, y, "together")?.verdict !== found.verdict;
        if (isJudged) found.isAloneOnly = isLess;
        const shown = (row) => (row[key] ? `${row[key].is_bound ? "≥ " : ""}${write(row[key].value)}` : NONE);
        // The ratio is that of the figures; of times and costs, the smaller one is better.
        const ratios = found && ends(key === "per_second" ? found : reversed(found));
        rows.push({
          load: load.label,
          what,
          a: shown(rowX),
          b: shown(rowY),
          ratio: ratios ? `${ratio(ratios.ratio)} (${range(ratios)})` : NONE,
          verdict: isJudged ? `${words[found.verdict]}${isLess ? "; with all others undecided" : ""}` : found ? "too few heats" : "cannot be compared",
          letter: isJudged ? found.verdict : "-",
        });
        return isJudged ? found : null;
      };
      if (load.measure === "throughput") {
        const found = add("requests/s", rankings.main, "per_second", figure, WORDS);
        sentences.push(sentence(`At ${load.label}`, a, b, found));
      } else {
        add("p99 response time", rankings.main, "p99_seconds", seconds, WORDS);
        add("median response time", rankings.p50, "p50_seconds", seconds, WORDS);
      }
      add("CPU time a request", rankings.cost, "cpu_us", (value) => seconds(value / 1e6), COSTS);
      const memory = (row) => bytes(row.peak_bytes);
      if (load.measure === "throughput") rows.push({ load: load.label, what: "peak memory", a: memory(rowX), b: memory(rowY), ratio: NONE, verdict: "not judged" });
    }
    const start = (stack) => seconds(session.stacks[stack].first_answer_seconds?.value);
    rows.push({ load: "any", what: "start to first answer", a: start(x), b: start(y), ratio: NONE, verdict: "not judged" });
    headline(sentences, where);
    verdicts(rows, a, b, `Ratio: the figure of ${a} as a multiple of that of ${b}. More requests/s are better, and less time`);
    differences(stackDifferences(session.stacks[x], session.stacks[y]), a, b);
  };

  const sentence = (at, a, b, found) => {
    if (!found) return `${at}, they cannot be compared yet`;
    const { low, high } = ends(found);
    if (found.areBounds) return `${at}, it is undecided: the generator was the limit of both`;
    if (low === 0 && high === Infinity) return `${at}, it is undecided: there are too few heats for an interval`;
    const others = found.isAloneOnly ? ". With all other stacks it is undecided" : "";
    if (found.verdict === "F") return `${at}, ${a} is faster: ${range({ low, high })} as fast as ${b}${others}`;
    if (found.verdict === "S") return `${at}, ${a} is slower: ${range({ low, high })} as fast as ${b}${others}`;
    if (found.verdict === "D") return `${at}, ${a} and ${b} are a dead heat (${range({ low, high })})${others}`;
    return `${at}, it is undecided: ${a} is ${range({ low, high })} as fast as ${b}`;
  };

  const headline = (sentences, where) => {
    const [first = "No load has figures of both", ...more] = sentences;
    const rest = more.map((one) => make("li", {}, `${one}.`));
    answer(`${first}.`, [...where, ...(rest.length > 0 ? [make("ul", {}, ...rest)] : [])]);
  };

  // One stack, or all, in two sessions.
  const dates = async (one, other, a, b, isOld) => {
    const [older, newer] = one.place < other.place ? [one, other] : [other, one];
    const places = [older.place, newer.place];
    const [dayA, dayB] = [older, newer].map(minute);
    const where = `${dayB} compared with ${dayA}.`;
    const isThere = index.comparisons.some((pair) => pair.every((place, nth) => place === places[nth]));
    const clear = () => {
      byId("verdicts").replaceChildren();
    };
    if (a !== b) {
      answer("Two stacks are compared in one session", "Choose the same session for both, or the same stack.");
      clear();
      byId("differences").replaceChildren();
      return;
    }
    const machine = sessionDifferences(older, newer);
    if (!isThere) {
      const isOther = machineOf(older) !== machineOf(newer);
      const why = isOther ? "They were measured on different kinds of machines" : "These two sessions are not compared on this site";
      const command = `deadheat compare ${[older, newer].map(({ folder }) => `records/${folder}`).join(" ")}`;
      const data = make("a", { href: "data.html" }, "Data");
      const how = ["Each session is compared with the one before it and with the newest. To compare these two, run this in the site's folder, or download their records from ", data, ":", make("pre", { tabindex: "0" }, command)];
      answer(`${why}: no verdict`, [`${where} `, ...(isOther ? [] : how)]);
      clear();
      const [s, t] = [older, newer].map(({ stacks }) => stacks.find(({ target }) => target === a));
      const own = s && t ? stackDifferences(s, t) : [];
      differences([...machine, ...own], dayA, dayB, s && t ? "Settings were not compared." : "Settings and stacks were not compared.");
      return;
    }
    const found = await deadheat.get(`comparisons/${places.join("-")}`);
    if (isOld()) return;
    const isAsked = (target) => a === "" || target === a;
    const cells = found.cells.filter((cell) => isAsked(found.stacks[cell.stack]));
    const words = { F: "faster", S: "slower" };
    const sentences = cells
      .filter((cell) => words[STEPS[cell.verdict]])
      .map((cell) => {
        const [value, low, high] = cell.ratios[0].ratio;
        const interval = low === null ? "" : ` (${range({ low, high })})`;
        const what = cell.ratios[0].metric === "throughput" ? "as many requests/s" : "the median response time";
        return `At ${found.loads[cell.load]}, ${found.stacks[cell.stack]} is ${words[STEPS[cell.verdict]]}: ${ratio(value)}${interval} ${what}`;
      });
    const count = (verdict) => cells.filter((cell) => cell.verdict === verdict).length;
    const others = count("not-compared");
    const numbers = [
      [count("faster"), `${count("faster")} faster`],
      [count("slower"), `${count("slower")} slower`],
      [count("dead-heat"), counted(count("dead-heat"), "dead heat")],
      [count("undecided"), `${count("undecided")} undecided`],
      [others, `${others} without a verdict`],
    ];
    const none = sentences.length === 0 ? ["no proven change"] : [];
    const summary = [...none, ...numbers.filter(([number]) => number > 0).map(([, words]) => words)].join(", ");
    const subject = a === "" ? "Of all stacks and loads" : `Of ${a} at its loads`;
    const single = cells.length === 1 && sentences.length === 1;
    const conditions = [...new Set(found.conditions.filter(({ target }) => !target || isAsked(target)).map(({ what }) => what))];
    const text = cells.length === 0 ? `${a === "" ? "No stack has" : `${a} does not have`} figures at the same load in both: no verdict`
      : others > 0 && others === cells.length ? `Conditions differ (${some(conditions)}): no verdict` : single ? `${sentences[0]}.` : `${subject}: ${summary}.`;
    const isRelative = cells.some(({ ratios }) => ratios.some(({ ratio: [, low] }) => low !== null));
    const allows = isRelative ? " Ratios are relative to stacks that did not change." : "";
    const warnings = found.warnings.map((warning) => make("li", {}, warning));
    answer(text, [
      `${where}${allows}`,
      ...(single || sentences.length === 0 ? [] : [make("ul", {}, ...sentences.map((one) => make("li", {}, `${one}.`)))]),
      ...(warnings.length > 0 ? [make("ul", { class: "alerts" }, ...warnings)] : []),
    ]);
    const METRICS = {
      throughput: ["requests/s", figure],
      "response-time-p50": ["median response time", seconds],
      "response-time-p99": ["p99 response time", seconds],
      "cpu-per-request": ["CPU time a request", (value) => seconds(value / 1e6)],
      "memory-peak": ["peak memory", bytes],
    };
    const rows = cells.flatMap((cell) =>
      cell.ratios.map(({ metric, a, b, ratio: [value, low, high], verdict }) => {
        const [what, write] = METRICS[metric];
        const letter = STEPS[verdict];
        const betterWords = metric === "cpu-per-request" ? COSTS : metric === "memory-peak" ? { ...WORDS, F: "less", S: "more" } : WORDS;
        return {
          stack: found.stacks[cell.stack],
          load: found.loads[cell.load],
          what,
          a: write(a),
          b: write(b),
          ratio: low === null ? NONE : `${ratio(value)} (${range({ low, high })})`,
          verdict: betterWords[letter] ?? "conditions differ: no verdict",
          letter,
        };
      }),
    );
    for (const { target, load, reason } of found.not_compared.filter(({ target }) => isAsked(target))) {
      rows.push({ stack: target, load, what: NONE, a: NONE, b: NONE, ratio: NONE, verdict: reason });
    }
    verdicts(rows, dayA, dayB, `${dayB} as a multiple of ${dayA}${isRelative ? ", relative to stacks that did not change" : ""}`);
    const changes = [...found.conditions, ...found.differences].filter(({ target }) => !target || isAsked(target));
    const own = changes.map(({ what, target, before, after }) => [a === "" && target ? `${target}: ${what}` : what, before ?? NONE, after ?? NONE]);
    const [s, t] = [older, newer].map(({ stacks }) => stacks.find(({ target }) => target === a));
    // The comparison has versions and sources.
    const isNew = ([what]) => !what.startsWith("version of ") && what !== "sources";
    differences([...own, ...(s && t ? stackDifferences(s, t).filter(isNew) : [])], dayA, dayB);
  };

  const verdicts = (rows, a, b, meaning) => {
    const hasStack = rows.some((row) => row.stack);
    const head = (text, kind) => make("th", { scope: "col", class: kind }, text);
    const line = (row) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, hasStack ? stackLink(index, row.stack) : row.load),
        hasStack ? make("td", {}, row.load) : null,
        make("td", {}, row.what),
        make("td", { class: "number" }, row.a),
        make("td", { class: "number" }, row.b),
        make("td", { class: "number" }, row.ratio),
        make("td", { class: `wrap ${TONES[row.letter] ?? ""}`.trim() }, row.verdict),
      );
    const table = make(
      "table",
      {},
      make("caption", {}, make("span", {}, `${meaning}.`)),
      make("thead", {}, make("tr", {}, ...[hasStack ? head("stack") : null, head("load"), head("what"), head(a, "number"), head(b, "number"), head("ratio and interval", "number"), head("verdict")].filter(Boolean))),
      make("tbody", {}, ...rows.map(line)),
    );
    const scroll = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Verdicts" }, table);
    byId("verdicts").replaceChildren(make("h2", {}, "Verdicts"), scroll);
  };

  // What differs between two stacks, or one at two dates.
  const stackDifferences = (one, other) => {
    const facts = (stack) => {
      const versions = stack.versions.map(({ name, version }) => [`version of ${name}`, version]);
      return new Map([
        ["language", stack.language],
        ["framework", stack.framework],
        ["class", stack.class],
        ["code", stack.runtime],
        ["variant", stack.variant ?? NONE],
        ["database access", stack.database_access],
        ...versions,
        ["starts with", stack.command.join(" ") || "not recorded"],
        ["limits", stack.limits.join("; ") || "none declared"],
        ["sources", stack.sources?.slice(0, 12) ?? "not recorded"],
      ]);
    };
    const [a, b] = [facts(one), facts(other)];
    const names = [...new Set([...a.keys(), ...b.keys()])];
    return names.filter((name) => a.get(name) !== b.get(name)).map((name) => [name, a.get(name) ?? NONE, b.get(name) ?? NONE]);
  };

  const sessionDifferences = (one, other) => {
    const [a, b] = [one, other].map(({ machine, deadheat, commit }) => new Map([...machine, ["Deadheat", deadheat], ["Commit", commit ?? NONE]]));
    const names = [...new Set([...a.keys(), ...b.keys()])];
    return names.filter((name) => a.get(name) !== b.get(name)).map((name) => [name, a.get(name) ?? NONE, b.get(name) ?? NONE]);
  };

  const differences = (rows, a, b, limit = "") => {
    const head = (text) => make("th", { scope: "col" }, text);
    const line = ([what, one, other]) => make("tr", {}, make("th", { scope: "row" }, what), make("td", { class: "wrap" }, one), make("td", { class: "wrap" }, other));
    const table = make("table", {}, make("thead", {}, make("tr", {}, head("what"), head(a), head(b))), make("tbody", {}, ...rows.map(line)));
    const scroll = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "What differs" }, table);
    const text = [rows.length > 0 ? "" : "Nothing that was recorded.", limit].filter(Boolean).join(" ");
    const content = [...(rows.length > 0 ? [scroll] : []), ...(text ? [make("p", {}, text)] : [])];
    byId("differences").replaceChildren(make("h2", {}, "What differs"), ...content);
  };

  const set = () => {
    const load = ["load", state().get("load")];
    setState([...["a", "b", "sa", "sb"].map((name) => [name, control(name).value]), load]);
    show();
  };
  byId("controls").addEventListener("input", (event) => {
    // One stack at two dates: the other select follows.
    const isDates = control("sa").value !== control("sb").value;
    const follows = { a: "b", b: "a" }[event.target.name];
    if (isDates && follows) choices(control(follows), [...control(event.target.name).options].map(({ value, text }) => [value, text]), event.target.value, { always: true });
    set();
  });
  byId("swap").addEventListener("click", () => {
    const [a, b, sa, sb] = ["a", "b", "sa", "sb"].map((name) => control(name).value);
    const by = isPickedByResults(state()) ? "results" : "";
    setState([["a", b], ["b", a], ["sa", sb], ["sb", sa], ["load", state().get("load")], ["by", by]]);
    show();
  });
  window.addEventListener("hashchange", show);
  await show();
};

// ------------------------------------------------------------------------------------------------------------ timeline

const timelinePage = async (index) => {
  const OF = [
    ["", "nothing: requests/s"],
    ["null-server", "the null server"],
    ...(index.reference ? [["reference", index.reference]] : []),
  ];
  const KEYS = { "": "per_second", "null-server": "of_null_server", reference: "of_reference" };

  const show = latest(async (isOld) => {
    const params = state();
    const stacks = index.stacks.map(({ target }) => [target, target]);
    const target = choices(control("stack"), stacks, params.get("stack") ?? index.reference ?? stacks[0]?.[0], { always: true });
    const { file } = index.stacks.find((stack) => stack.target === target);
    const timeline = await deadheat.get(`stacks/${file}`);
    if (isOld()) return;
    const longest = [...timeline.series].sort((one, other) => other.points.length - one.points.length)[0]?.load;
    const load = choices(control("load"), timeline.series.map(({ load }) => [load, load]), params.get("load") ?? longest, { always: true });
    const series = timeline.series.find((one) => one.load === load);
    const machines = new Map((series?.points ?? []).map(({ session }) => [machineAt(session), index.sessions[session].machine]));
    const machine = choices(control("machine"), [["", "all"], ...machines], params.get("machine") ?? "");
    const of = choices(control("of"), OF, params.get("of") ?? "", { always: true });
    if (!series) {
      answer(`${target} has no figure in any session`);
      byId("plot").replaceChildren();
      byId("points").replaceChildren();
      return;
    }
    const points = series.points.filter(({ session }) => machine === "" || machineAt(session) === machine);
    const steps = points.map((point, nth) => step(points, point, nth));
    headline(target, load, points, steps);
    draw(target, load, points, steps, of);
    table(target, points, steps, of);
  });
  const machineAt = (place) => machineOf(index.sessions[place]);

  // How a point compares with the one before it on the same kind of machine; the point drawn before it may be of another.
  const step = (points, point, nth) => {
    if (point.step) {
      const letter = STEPS[point.step.verdict];
      return { ...point.step, word: { ...WORDS, "-": "not compared" }[letter], letter };
    }
    const before = points[nth - 1];
    const isOther = before && machineAt(before.session) !== machineAt(point.session);
    return isOther ? { word: "another machine", letter: "M", since: before.session } : null;
  };

  const headline = (target, load, points, steps) => {
    const proven = points.map((point, nth) => [point, steps[nth]]).filter(([, step]) => ["F", "S"].includes(step?.letter));
    const when = ([point, { word, ratio: [value, low, high] }]) => {
      const also = point.changes.length > 0 ? `, when ${list([...new Set(point.changes.map(({ what }) => what))].slice(0, 3))} changed` : "";
      return `${word} on ${day(index.sessions[point.session])} (${low === null ? ratio(value) : range({ low, high })})${also}`;
    };
    const unlike = steps.filter((step) => step?.letter === "-").length;
    const among = `${counted(points.length, "session")}${unlike > 0 ? `, ${unlike} of them not compared` : ""}`;
    const measured = points.filter(({ per_second }) => per_second).length;
    const text = measured === 0
      ? `${target} at ${load} has no figure${points.at(-1)?.absent ? `: ${points.at(-1).absent}` : ""}`
      : measured === 1
      ? `${target} at ${load} was measured once, so there is nothing to compare yet`
      : steps.slice(1).every((step) => ["-", "M"].includes(step?.letter))
      ? `${target} at ${load}: ${counted(points.length, "session")} under other conditions each, or on other machines, so they are not compared`
      : proven.length === 0
      ? `${target} at ${load}: no proven change in ${among}`
      : `${target} at ${load}: ${counted(proven.length, "proven change")} in ${among}, the latest ${when(proven.at(-1))}`;
    // The table has those of other steps.
    const warnings = proven.at(-1)?.[1].warnings ?? [];
    const doubt = warnings.length > 0 ? `Before you decide: ${warnings.join(" ")} ` : "";
    answer(`${text}.`, `${doubt}Each session is compared with the one before it on the same kind of machine (processor, CPUs, memory). The stack has changed if it moved by more than 1 %, and farther than stacks that are the same in both, because machine, kernel and Deadheat move those, too. Figures are means of the stack's own heats. A session's table also allows for the heats that each stack was in, so its figures differ a little. Where a setting changed, or fewer than three stacks stayed the same, there is no verdict.`);
  };

  const draw = (target, load, points, steps, of) => {
    const key = KEYS[of];
    const known = points.map((point, nth) => ({ point, step: steps[nth], value: point[key] })).filter(({ value }) => value);
    if (known.length === 0) {
      byId("plot").replaceChildren(make("p", {}, "No session has this figure."));
      return;
    }
    const width = Math.min(1120, Math.max(300, byId("plot").clientWidth));
    const [height, left, right, top, bottom] = [320, 64, 16, 16, 36];
    const times = points.map(({ session }) => Date.parse(index.sessions[session].started));
    const [begin, end] = [Math.min(...times), Math.max(...times)];
    const x = (session) => {
      const time = Date.parse(index.sessions[session].started);
      return end === begin ? (left + width - right) / 2 : left + 12 + ((time - begin) / (end - begin)) * (width - left - right - 24);
    };
    const values = known.flatMap(({ value: [middle, low, high] }) => [middle, low ?? middle, high ?? middle]);
    const most = Math.max(...values);
    const least = Math.min(...values);
    const room = (most - least || most * 0.1) * 0.15;
    const [low, high] = [Math.max(0, least - room), most + room];
    const y = (value) => height - bottom - ((value - low) / (high - low)) * (height - top - bottom);
    const parts = [];
    const distance = [1, 2, 2.5, 5, 10].map((one) => one * 10 ** Math.floor(Math.log10((high - low) / 4))).find((one) => (high - low) / one <= 5);
    for (let tick = Math.ceil(low / distance) * distance; tick <= high; tick += distance) {
      parts.push(make("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }));
      const written = of === "" ? figure(tick) : `${Number(tick.toPrecision(3))}×`;
      parts.push(make("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, written));
    }
    const dates = end === begin ? [points[0]] : [points[0], points[Math.floor(points.length / 2)], points.at(-1)];
    new Set(dates).forEach((point, _, all) => {
      const place = [...all].indexOf(point);
      const anchor = all.size === 1 ? "middle" : ["start", "middle", "end"][place === all.size - 1 ? 2 : place];
      parts.push(make("text", { x: x(point.session), y: height - 12, "text-anchor": anchor }, day(index.sessions[point.session])));
    });
    for (const [nth, point] of points.entries()) {
      const isMachine = steps[nth]?.letter === "M";
      if (isMachine || changesInWords(point, steps[nth])) {
        const kind = isMachine ? "machine" : "change";
        const title = isMachine ? "another machine" : changesInWords(point, steps[nth]);
        parts.push(make("line", { class: kind, x1: x(point.session), x2: x(point.session), y1: top, y2: height - bottom }, make("title", {}, title)));
      }
    }
    // No line leads from one kind of machine to another.
    const paths = new Map();
    for (const { point, value } of known) {
      const own = paths.get(machineAt(point.session)) ?? "";
      paths.set(machineAt(point.session), `${own}${own ? "L" : "M"}${x(point.session).toFixed(1)} ${y(value[0]).toFixed(1)}`);
    }
    for (const d of paths.values()) parts.push(make("path", { class: "line", d }));
    for (const { point, step, value: [middle, below, above] } of known) {
      const at = x(point.session);
      // An end that a lower bound leaves open reaches the edge.
      const hasRange = below !== null || above !== null;
      if (hasRange) parts.push(make("line", { class: "range", x1: at, x2: at, y1: y(below ?? low), y2: y(above ?? high) }));
      parts.push(make("circle", { class: TONES[step?.letter], cx: at, cy: y(middle), r: ["F", "S"].includes(step?.letter) ? 6 : 4 }));
    }
    const svg = make("svg", { width, height, role: "img", "aria-label": `${target} at ${load} over time; the table has the figures` }, ...parts);
    const caption = "Bars: 95 % intervals. Large dots: proven faster or slower than the point before on the same kind of machine. Dashed lines: a version, setting or condition changed; full lines: another kind of machine.";
    byId("plot").replaceChildren(svg, make("figcaption", {}, caption));
  };

  // Of another machine, everything differs.
  const changesInWords = ({ changes }, step) =>
    changes.filter(({ aspect }) => step?.letter !== "M" || aspect !== "machine").map(({ what, before, after }) => `${what} ${shortened(before)} → ${shortened(after)}`).join("; ");
  const shortened = (text) => (!text ? NONE : text.length > 40 ? `${text.slice(0, 40)}…` : text);

  // An end is not known with too few heats, or open because of a lower bound.
  const interval = (found, of) => {
    if (!found || (found[1] === null && found[2] === null)) return NONE;
    return of === "" ? `${figure(found[1])}–${figure(found[2])}` : range({ low: found[1] ?? 0, high: found[2] ?? Infinity });
  };

  const table = (target, points, steps, of) => {
    const write = of === "" ? figure : (value) => `${asRatio(value, value)}×`;
    const head = (text, kind) => make("th", { scope: "col", class: kind }, text);
    const unit = of === "" ? "requests/s" : `times ${OF.find(([value]) => value === of)[1]}`;
    const line = (point, nth) => {
      const session = index.sessions[point.session];
      const found = point[KEYS[of]];
      const step = steps[nth];
      const [value, low, high] = step?.ratio ?? [];
      const figures = value ? ` ${low === null ? ratio(value) : range({ low, high })}` : "";
      const link = step && fragment([["a", target], ["sa", index.sessions[step.since].id], ["b", target], ["sb", session.id]]);
      const verdict = step ? [make("a", { href: `compare.html${link}` }, step.word), figures] : [NONE];
      const reasons = [changesInWords(point, step), step?.because ? `(${step.because})` : ""].filter(Boolean).join(" ");
      const changes = [reasons && `${reasons}.`, ...(step?.warnings ?? [])].filter(Boolean).join(" ");
      return make(
        "tr",
        {},
        make("th", { scope: "row" }, make("a", { href: `index.html${fragment([["session", session.id]])}` }, minute(session))),
        make("td", { class: "number" }, found ? `${point.is_bound ? "≥ " : ""}${write(found[0])}` : NONE),
        make("td", { class: "number" }, interval(found, of)),
        make("td", {}, point.rank ? `${point.rank[0] === point.rank[1] ? point.rank[0] : `${point.rank[0]}–${point.rank[1]}`} of ${point.rank[2]}` : NONE),
        make("td", { class: TONES[step?.letter] }, ...(point.absent ? [`no figure: ${point.absent}`] : verdict)),
        make("td", { class: "wrap" }, changes || NONE),
      );
    };
    byId("points").replaceChildren(
      make("thead", {}, make("tr", {}, head("session"), head(unit, "number"), head("interval", "number"), head("rank"), head("since the one before"), head("what changed"))),
      make("tbody", {}, ...points.map(line).reverse()),
    );
  };

  byId("controls").addEventListener("input", () => {
    setState(["stack", "load", "machine", "of"].map((name) => [name, control(name).value]));
    show();
  });
  window.addEventListener("resize", show);
  window.addEventListener("hashchange", show);
  await show();
};

// --------------------------------------------------------------------------------------------------------------- begin

// On a stack's page: the line that shows a badge, with the address where this site is published.
const badges = () => {
  for (const link of document.querySelectorAll("[data-badge]")) {
    if (!/^https?:$/.test(location.protocol)) continue;
    const address = `https://img.shields.io/endpoint?url=${encodeURIComponent(link.href)}`;
    link.after(" ", make("code", {}, `![](${address})`));
  }
};

const PAGES = { "index.html": tablePage, "compare.html": comparePage, "timeline.html": timelinePage };
const begin = async () => {
  badges();
  // The address keeps what was chosen.
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("main").focus();
  });
  const page = PAGES[document.body.dataset.page];
  if (!page) return;
  try {
    await page(await deadheat.get("index"));
  } catch (error) {
    answer("This page could not be shown", error.message);
    throw error;
  }
};
begin();
