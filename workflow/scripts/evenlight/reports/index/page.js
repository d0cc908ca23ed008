"use strict";
// The address names the view: every choice is written behind its #, and whatever stands there is shown.
(() => {
const at = (id) => document.getElementById(id);
const study = JSON.parse(at("study").textContent);
const UNDEFINED = 65535, FULL = 127, SEVERAL = 255, STEP = 20, MOST_BINS = 40;
// So many words of two answers are compared: the work is their product.
const MOST_COMPARED = 4000;
const ORDERS = { differ: "differ most", first: "first group higher", second: "second group higher" };
const ALONE = { differ: "farthest from the mean", first: "highest score", second: "lowest score" };
const WORD_ORDERS = { strongest: "strongest in a group", difference: "groups differ most", first: "highest in the first group",
                      second: "highest in the second group", often: "most frequent" };
const DEFAULTS = { order: "differ", share: "100", find: "", "word-order": "strongest", least: "5", word: "" };

// Parts of the page ------------------------------------------------------------------------------------------------
const ARRAYS = { int8: Int8Array, uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, float32: Float32Array };
const unpacked = new Map();

/** An array or a JSON value of the page, by its number; each is unpacked once. */
function part(number) {
  if (!unpacked.has(number)) unpacked.set(number, unpack(at(`part-${number}`)));
  return unpacked.get(number);
}

async function unpack(element) {
  const text = atob(element.textContent), bytes = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place++) bytes[place] = text.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const whole = await new Response(stream).arrayBuffer();
  const kind = element.dataset.kind;
  return kind === "json" ? JSON.parse(new TextDecoder().decode(whole)) : new ARRAYS[kind](whole);
}

/** An element with attributes and children; text never becomes markup. */
function made(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** A number for readers, with three digits and a typographic minus. */
const digits = (signDisplay) => new Intl.NumberFormat("en", { minimumSignificantDigits: 3, maximumSignificantDigits: 3, signDisplay });
const PLAIN = digits("auto"), SIGNED = digits("exceptZero");
const said = (value, format = PLAIN) => !Number.isFinite(value) ? "–" :
  (value && Math.abs(value) < 1e-4 ? value.toExponential(2) : format.format(value)).replaceAll("-", "−");
const signed = (value) => said(value, SIGNED);
const share = (value) => Number.isFinite(value) ? value.toFixed(2).replace(/^-(?=.*[1-9])/, "−").replace("-", "") : "–";
const count = (value, one, many = `${one}s`) => `${value.toLocaleString("en")} ${value === 1 ? one : many}`;

// The view ---------------------------------------------------------------------------------------------------------
// Of scores that were made elsewhere nobody says that units are texts, that repetitions are runs, or what groups differ by.
const elsewhere = "scores" in study.modalities, [UNIT, RUN] = elsewhere ? ["unit", "repetition"] : ["text", "run"];
const groupsName = ([factor, a, b]) => [factor, a, ...(b === null ? [] : [b])].join(" / ");
const groupsLabel = ([factor, a, b]) => `${a}${b === null ? "" : ` against ${b}`}${factor && !elsewhere ? ` (${factor})` : ""}`;

// What an explainer's explanations are, with the metrics that score these.
const modalityOf = (explainer) => Object.keys(study.modalities).find((name) => study.modalities[name].explainers.includes(explainer));
const metricsOf = (explainer) => study.modalities[modalityOf(explainer)].metrics;
const several = Object.keys(study.modalities).length > 1;
const capital = (word) => word[0].toUpperCase() + word.slice(1);
/** The explainers of a model on a dataset: some are for other datasets only. */
const explainersOf = (model) => Object.keys(study.explainers).filter((name) => model[modalityOf(name)]?.explainers[name] !== undefined);

/** The choices that the address names; what it does not name, or what is not there, is the first or the default. */
function chosen() {
  const given = new URLSearchParams(location.hash.slice(1));
  const first = (name, names) => [given.get(name), study.first[name]].find((each) => names.includes(each)) ?? names[0];
  const state = { dataset: first("dataset", Object.keys(study.content)) };
  const dataset = study.content[state.dataset];
  state.model = first("model", Object.keys(dataset.models));
  state.explainer = first("explainer", explainersOf(dataset.models[state.model]));
  state.modality = modalityOf(state.explainer);
  state.metric = first("metric", metricsOf(state.explainer));
  state.groups = first("groups", dataset.comparisons.map(groupsName));
  for (const [name, value] of Object.entries(DEFAULTS)) state[name] = given.get(name) ?? value;
  if (!(state.order in ORDERS)) state.order = DEFAULTS.order;
  if (!(state["word-order"] in WORD_ORDERS)) state["word-order"] = DEFAULTS["word-order"];
  if (![1, 5, 10, 100].includes(Number(state.share))) state.share = DEFAULTS.share;
  if (!(Number(state.least) >= 1)) state.least = DEFAULTS.least;
  for (const name of ["pair", "left", "right"]) state[name] = given.get(name);
  return state;
}

/** Let the edge of a region fade where more is to the right. */
function fading(region) {
  const look = () => region.classList.toggle("more", region.scrollLeft + region.clientWidth < region.scrollWidth - 1);
  const resized = new ResizeObserver(look);
  for (const element of [region, ...region.children]) resized.observe(element);
  region.addEventListener("scroll", look);
}

/** Write choices into the address, which shows them. */
function choose(changes) {
  const next = { ...chosen(), ...changes };
  if (!metricsOf(next.explainer).includes(next.metric)) next.metric = metricsOf(next.explainer)[0];
  const named = Object.entries(next).filter(([name, value]) => name !== "modality" && value !== null && value !== DEFAULTS[name]);
  location.hash = new URLSearchParams(named);
}

function fill(select, options, value) {
  select.replaceChildren(...options.map(([name, label]) => made("option", { value: name }, label)));
  select.value = value;
}

// Every question ---------------------------------------------------------------------------------------------------
const address = ({ dataset, model, explainer, metric, groups }) => `#${new URLSearchParams({ dataset, model, explainer, metric, groups })}`;

/** What is asked of a dataset: each comparison of its effects, or else the mean scores of the groups. */
async function questionsOf(name) {
  const dataset = study.content[name], models = Object.keys(dataset.models), effects = await part(dataset.effects);
  if (effects.length) return effects.filter((cell) => models.includes(cell.model)).map((cell) => ({ ...cell, dataset: name, groups: [cell.factor, cell.level_a, cell.level_b] }));
  const found = await Promise.all(models.flatMap((model) => Object.values(dataset.models[model]).map(async (of) => Object.entries(await part(of.means)).flatMap(
    ([explainer, metrics]) => Object.entries(metrics).map(([metric, means]) => ({ model, explainer, metric, means }))))));
  return dataset.comparisons.flatMap((groups) => found.flat().map(({ means, ...cell }) => {
    const [factor, ...levels] = groups, values = levels.filter((level) => level !== null).map((level) => means[factor]?.[level]);
    return { ...cell, dataset: name, groups, values, counts: values.map((value) => said(value)).join(" / ") };
  }).filter(({ values }) => values.some(Number.isFinite)));
}

// Verdicts that name a group first, then the others as the legend has them; of each the smallest p.
const openness = (cell) => cell.side ? 0 : 1 + study.legend.findIndex((entry) => cell.sign === entry.sign);
const SORTS = {
  verdict: (a, b) => openness(a) - openness(b) || a.p - b.p,
  wins: (a, b) => (b.benefit ?? -2) - (a.benefit ?? -2),
  question: (a, b) => questionName(a).localeCompare(questionName(b)),
};
// What one question of a family is called.
const ONE = { primary: "primary question", exploratory: "exploratory question", control: "control, no question" };
/** Labels one after the other, without those that say nothing, as of scores that were made elsewhere. */
const joined = (by, ...labels) => labels.filter((label) => label && label !== "–").join(by);
const questionName = ({ metric, explainer }) => joined(" of ", metricLabel({ metric }), study.explainers[explainer]);
const placeName = ({ dataset, model, groups }) => joined(": ", joined(" on ", study.models[model], study.content[dataset].label), groupsLabel(groups));
// What the questions may be filtered by: a name of each, and what it is called.
const FILTERS = {
  dataset: [({ dataset }) => dataset, (name) => study.content[name].label],
  model: [({ model }) => model, (name) => study.models[name]],
  explainer: [({ explainer }) => explainer, (name) => study.explainers[name]],
  metric: [({ metric }) => metric, (name) => metricLabel({ metric: name })],
  groups: [({ groups }) => groupsName(groups), (_, { groups }) => groupsLabel(groups)],
  verdict: [({ verdict }) => verdict, (name) => name],
  family: [({ family }) => family, (name) => study.families[name]],
};
let questions = [], sorted = "verdict", seen = STEP, printing = false;

/** Every question of the study in a table, those of controls where they are asked for. */
async function showQuestions() {
  questions = (await Promise.all(Object.keys(study.content).map(questionsOf))).flat();
  const pairs = [...new Set(questions.map(({ groups }) => groups.slice(1).join("/")))], [first, second] = pairs.length === 1 ? questions[0].groups.slice(1) : ["the first group", "the second"];
  at("legend").replaceChildren(...study.legend.map((entry) => made("li", {}, chip(entry, entry.sign), ` ${entry.meaning}`)),
    ...(study.legend.length ? [made("li", {}, made("i", { class: "key second" }), `${second} wins, to the left`), made("li", {}, made("i", { class: "key first" }), `${first} wins, to the right`)] : []));
  for (const [name, [of, label]] of Object.entries(FILTERS)) {
    const there = new Map(questions.filter((cell) => of(cell) !== undefined).map((cell) => [of(cell), label(of(cell), cell)]));
    const select = at(`of-${name}`);
    select.parentElement.hidden = there.size < 2;
    fill(select, [["", "all"], ...there], name === "family" && there.size > 1 ? Object.keys(study.families).find((family) => there.has(family)) : "");
    select.addEventListener("change", () => { seen = STEP; listQuestions(); });
  }
  if (!study.legend.length) { sorted = "question"; for (const head of document.querySelectorAll("#questions .verdicts")) head.remove(); }
  listQuestions();
}

function listQuestions() {
  // On paper nothing can be asked for: it has every question, of every kind.
  const wanted = printing ? [] : Object.entries(FILTERS).map(([name, [of]]) => [at(`of-${name}`).value, of]);
  const most = printing ? Infinity : seen, asked = questions.filter((cell) => wanted.every(([value, of]) => !value || of(cell) === value)).sort(SORTS[sorted]);
  at("questions-found").textContent = `${count(asked.length, "question")} of ${questions.length.toLocaleString("en")}.`;
  for (const head of document.querySelectorAll("#questions th[data-sort]")) head.setAttribute("aria-sort", head.dataset.sort === sorted ? "ascending" : "none");
  at("questions").tBodies[0].replaceChildren(...asked.slice(0, most).map(questionRow));
  at("more-questions").hidden = asked.length <= most;
  mark();
}

function questionRow(cell) {
  const name = made("th", { scope: "row" }, made("a", { href: address({ ...cell, groups: groupsName(cell.groups) }), class: "question" }, questionName(cell)), made("small", {}, placeName(cell) + (cell.units ? `; ${cell.units}` : "")));
  if (cell.family !== "study" && cell.family) name.append(made("small", {}, ONE[cell.family]));
  if (!cell.said) return made("tr", {}, name, made("td", {}, cell.counts));
  name.append(made("details", {}, made("summary", {}, "In words"), ...cell.said.map((text) => made("p", {}, text))));
  return made("tr", {}, name, made("td", {}, barOf(cell)), made("td", { "data-name": "won, lost, tied" }, cell.counts),
    made("td", {}, chip(cell, `${cell.sign} ${cell.verdict}`)),
    ...[["of 100", cell.won], ["mean difference", cell.mean]].map(([name, text]) => made("td", { "data-name": name }, text)));
}

/** Wins of the first group to the right, of the second to the left, ties between; of texts without pairs the limits of a share. */
function barOf({ wins, losses, ties, share, family_low, family_high, counts }) {
  const bar = made("span", { class: "bar", role: "img", "aria-label": counts }), all = wins + losses + ties;
  const piece = (kind, from, width) => { const part = made("i", { class: kind }); part.style.left = `${from}%`; part.style.width = `${width}%`; bar.append(part); };
  if (wins === null) {
    if (share === null) return bar;
    piece("limits", 100 * family_low, 100 * (family_high - family_low));
    piece("point", 100 * share, 0);
    return bar;
  }
  const from = 50 - 50 * (losses + ties / 2) / all;
  piece("second", from, 50 * losses / all);
  piece("ties", from + 50 * losses / all, 50 * ties / all);
  piece("first", from + 50 * (losses + ties) / all, 50 * wins / all);
  return bar;
}

function chip({ colour }, text) {
  const part = made("span", { class: "chip" }, text);
  // Letters are black on the colours of verdicts.
  if (colour) part.style.background = colour; else part.style.color = "inherit";
  return part;
}

/** Show which row is the chosen question, where it is listed; its link. */
function mark() {
  for (const row of document.querySelectorAll("#questions [aria-current]")) row.removeAttribute("aria-current");
  const hash = address(chosen());
  const link = [...document.querySelectorAll(".question")].find((each) => each.hash === hash);
  link?.closest("tr").setAttribute("aria-current", "true");
  return link;
}

let arriving = location.hash !== "";
/** Where a question was chosen in the table, or by the address, the reader is led to it. */
function arrive(focus = true) {
  arriving = false;
  if (focus) at("verdict-title").focus({ preventScroll: true });
  at("cell").scrollIntoView();
}

// What a view is made of -------------------------------------------------------------------------------------------
/** The scores of the units of one level, in their order; NaN where undefined. */
async function levelScores(model, state, level) {
  const explainer = model.explainers[state.explainer], codes = await part(explainer.scores);
  const [low, high] = explainer.ranges[state.metric];
  const units = await part(level.units), metrics = metricsOf(state.explainer);
  const row = codes.length / metrics.length * metrics.indexOf(state.metric) + level.start;
  const decoded = (code) => code === UNDEFINED ? NaN : low + code / (UNDEFINED - 1) * (high - low);
  // Scores of answers stand there as they are.
  const scores = Float64Array.from(codes.subarray(row, row + units.length), codes instanceof Float32Array ? undefined : decoded);
  return { units, scores, first: await part(level.first), all: await part(level.all ?? level.first), counts: "counts" in level ? await part(level.counts) : null };
}

/** Pairs of one unit's scores where at least two units have both, else each unit alone, as one list. */
function rowsOf(sides) {
  const [a, b] = sides;
  if (!b) return { paired: false, rows: Array.from(a.units, (unit, place) => alone(unit, a, place, 0)) };
  const places = new Map(Array.from(b.units, (unit, place) => [unit, place]));
  const common = Array.from(a.units.keys()).filter((place) => places.has(a.units[place]));
  if (common.length < 2) {
    return { paired: false, rows: sides.flatMap((side, number) => Array.from(side.units, (unit, place) => alone(unit, side, place, number))) };
  }
  const rows = common.map((place) => {
    const other = places.get(a.units[place]);
    return { unit: a.units[place], scores: [a.scores[place], b.scores[other]], items: [a.first[place], b.first[other]],
             counts: [a.counts?.[place] ?? 1, b.counts?.[other] ?? 1], difference: a.scores[place] - b.scores[other] };
  });
  return { paired: true, rows };
}

const alone = (unit, side, place, number) => ({
  unit, scores: [NaN, NaN].with(number, side.scores[place]), items: [null, null].with(number, side.first[place]),
  counts: [1, 1].with(number, side.counts?.[place] ?? 1), difference: NaN });

const defined = (values) => Array.from(values).filter((value) => !Number.isNaN(value));
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The value below which a share of sorted values lies, between two of them in proportion. */
function quantile(sorted, part) {
  const place = part * (sorted.length - 1), below = Math.floor(place);
  return sorted[below] + (place - below) * ((sorted[below + 1] ?? sorted[below]) - sorted[below]);
}

/** Shares of values in bins of equal width from the least to the largest of all, for each side (as many as Rice's rule says). */
function bins(sides) {
  const low = sides.flat().reduce((a, b) => Math.min(a, b), Infinity), high = sides.flat().reduce((a, b) => Math.max(a, b), -Infinity);
  if (!(low <= high)) return [];
  const number = Math.min(MOST_BINS, Math.ceil(2 * Math.cbrt(sides.flat().length / sides.length)));
  const width = (high - low || 1) / number, from = low === high ? low - 0.5 : low;
  return sides.flatMap((values, side) => {
    const counts = new Array(number).fill(0);
    for (const value of values) counts[Math.min(number - 1, Math.floor((value - from) / width))]++;
    const rows = counts.map((size, bin) => ({ side, from: from + bin * width, to: from + (bin + 1) * width,
                                                share: size / (values.length || 1) }));
    return side ? [...rows, { side, from: high, to: high, share: 0 }] : rows;
  });
}

/** The texts of a dataset: its words by number, and where each text's begin. */
const texts = new Map();
function textsOf(dataset) {
  if (!texts.has(dataset)) texts.set(dataset, (async () => {
    const [vocabulary, words, lengths] = await Promise.all([dataset.vocabulary, dataset.words, dataset.lengths].map(part));
    const second = "second" in dataset ? await part(dataset.second) : null;
    return { vocabulary, folded: vocabulary.map((word) => word.toLowerCase()), words, starts: starting(lengths), second };
  })());
  return texts.get(dataset);
}

function starting(lengths) {
  const starts = new Uint32Array(lengths.length + 1);
  lengths.forEach((length, place) => { starts[place + 1] = starts[place] + length; });
  return starts;
}

/** The explanations of a model's texts: where the shares of each begin, the shares, and the classes. */
async function explained(dataset, model, explainer) {
  const { starts } = await textsOf(dataset);
  const [items, shares, classes] = await Promise.all([model.items, model.explainers[explainer].shares, model.explained].map(part));
  const numbered = model.explainers[explainer].together, together = numbered === undefined ? null : await part(numbered);
  return { items, shares, classes, together, starts: starting(Array.from(items, (item) => starts[item + 1] - starts[item])) };
}

// Charts -----------------------------------------------------------------------------------------------------------
const charts = new Map();

/** Draw a chart: the first time from its specification, later from other rows. */
async function draw(name, rows, means = []) {
  const datasets = { rows, ...(name === "effects" ? {} : { means }) };
  if (!charts.has(name)) {
    const options = { ast: true, renderer: "svg", actions: false, tooltip: false };
    charts.set(name, vegaEmbed(`#${name}`, { ...study.charts[name], datasets: { ...study.charts[name].datasets, ...datasets } }, options).then((embedded) => embedded.view));
    await charts.get(name);
    return;
  }
  const view = await charts.get(name);
  for (const [dataset, values] of Object.entries(datasets)) view.data(dataset, values);
  await view.resize().runAsync();
}

async function save(name) {
  const text = await (await charts.get(name)).toSVG();
  const address = URL.createObjectURL(new Blob([text.replaceAll("currentColor", "#000000")], { type: "image/svg+xml" }));
  made("a", { href: address, download: `${name}.svg` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

function files(place, path) {
  at(place).replaceChildren(...(path && study.formats.length ? ["as the target `figures` of the workflow draws it, beside this page: ", ...study.formats.flatMap((form) =>
    [made("a", { href: `figures/${path}.${form}` }, form.toUpperCase()), " "])] : []));
}

// Showing ----------------------------------------------------------------------------------------------------------
let latest = 0, shown = null, listed = null;

async function show() {
  const turn = ++latest, state = chosen(), dataset = study.content[state.dataset], model = dataset.models[state.model][state.modality];
  showChoices(state, dataset);
  listed ??= showQuestions();
  const groups = dataset.comparisons.find((entry) => groupsName(entry) === state.groups);
  const [factor, a, b] = groups, names = [a, b].filter((name) => name !== null);
  const levels = names.map((name) => model.levels[factor]?.[name]);
  const missing = levels.includes(undefined);
  const sides = missing ? [] : await Promise.all(levels.map((level) => levelScores(model, state, level)));
  const { paired, rows } = missing ? { paired: false, rows: [] } : rowsOf(sides);
  const [units, effects] = await Promise.all([dataset.units, dataset.effects].map(part));
  if (turn !== latest) return;
  const before = shown;
  shown = { state, dataset, model, names, sides, paired, rows, units, pairs: STEP, words: STEP, listed: [], wordRows: [] };
  at("view").textContent = joined(" · ", study.content[state.dataset].label, modelName(state.model),
    study.explainers[state.explainer], metricLabel(state), groupsLabel(groups));
  const rest = [showVerdict(effects, groups), showScores(sides)];
  if (study.texts && state.modality !== "text") rest.push(showWords(before));
  await showPairs();
  await Promise.all([...rest, listed]);
  mark();
  if (arriving) arrive(before !== null);
  // What is shown, and after how many milliseconds the first view was: for those who measure.
  document.body.dataset.milliseconds ??= Math.round(performance.now());
  document.body.dataset.ready = location.hash;
}

/** A model and how many repetitions it has; a table of scores need not have any. */
const modelName = (model) => elsewhere ? joined(" · ", study.models[model], study.runs[model] > 1 ? count(study.runs[model], RUN) : "") :
  `${study.models[model]} (${count(study.runs[model], RUN)})`;

const metricLabel = ({ metric }) => `${study.metrics[metric].label} ${study.metrics[metric].better === "higher" ? "↑" : "↓"}`;

function showChoices(state, dataset) {
  fill(at("dataset"), Object.entries(study.content).map(([name, entry]) => [name, entry.label]), state.dataset);
  fill(at("model"), Object.keys(dataset.models).map((name) => [name, study.models[name]]), state.model);
  fill(at("explainer"), explainersOf(dataset.models[state.model]).map((name) => [name, study.explainers[name]]), state.explainer);
  if (several) at("explainer").replaceChildren(...Object.values(study.modalities).map(({ label, explainers }) =>
    made("optgroup", { label }, ...[...at("explainer").options].filter((option) => explainers.includes(option.value)))));
  at("explainer").value = state.explainer;
  // A table of scores need not say what it is of.
  for (const name of ["dataset", "model", "explainer"]) at(name).parentElement.hidden = [...at(name).options].every(({ text }) => text === "–");
  fill(at("metric"), metricsOf(state.explainer).map((name) => [name, study.metrics[name].label]), state.metric);
  const answers = state.modality === "text", there = { texts: study.texts, tokens: study.texts && !answers, answers: study.texts && answers };
  for (const [look, shows] of Object.entries(there)) for (const element of document.querySelectorAll(`.${look}`)) element.hidden = !shows;
  fill(at("groups"), dataset.comparisons.map((entry) => [groupsName(entry), groupsLabel(entry)]), state.groups);
  fill(at("word-order"), Object.entries(WORD_ORDERS), state["word-order"]);
  for (const name of ["share", "find", "least", "word"]) at(name).value = state[name];
}

async function showVerdict(effects, [factor, a, b]) {
  const { state } = shown;
  const cells = effects.filter((cell) => cell.model === state.model && cell.metric === state.metric &&
    cell.factor === factor && cell.level_a === a && cell.level_b === b);
  const cell = cells.find((row) => row.explainer === state.explainer);
  const badge = made("strong", {}, cell ? cell.verdict : "no verdict");
  if (cell) { badge.style.background = cell.colour; badge.style.color = "#000000"; }
  at("badge").replaceChildren(badge, cell ? ` ${cell.counts}` : "");
  const [first, ...parts] = cell ? cell.said : ["The study compares nothing between these groups by this metric."];
  at("meaning").textContent = first;
  at("numbers").hidden = !parts.length;
  at("said").replaceChildren(...parts.map((text) => made("li", {}, text)));
  at("status").textContent = `${at("view").textContent}: ${cell ? cell.verdict : "no verdict"}`;
  const drawn = cells.filter((row) => row.share !== null);
  at("effects-figure").hidden = !drawn.length;
  if (!drawn.length) return;
  at("effects-caption").textContent = `How many of 100 ${drawn[0].wins === null ? `draws of two ${UNIT}s` : "decided pairs"} ${a} wins${drawn.length > 1 ? ", for all explainers" : ""}: a point, with the limits ` +
    "of this comparison alone (thick), and with all comparisons considered (thin). At 50 both win as often." +
    (drawn.length > 1 ? " The chosen explainer has a ◂ and is orange." : "");
  files("effects-files", `effects/${state.dataset}`);
  const order = Object.keys(study.explainers);
  await draw("effects", drawn.map((row) => {
    const of = (name) => 100 * (row[name] ?? row.share);
    return { place: order.indexOf(row.explainer), explainer: joined(" ", study.explainers[row.explainer], row.explainer === state.explainer && drawn.length > 1 ? "◂" : ""),
             share: of("share"), low: of("low"), high: of("high"), family_low: of("family_low"), family_high: of("family_high"),
             chosen: row.explainer === state.explainer };
  }));
}


async function showScores(sides) {
  const { state, names, paired, rows } = shown, values = sides.map((side) => defined(side.scores));
  const keys = names.flatMap((name, side) => [made("span", { class: `key ${side ? "second" : "first"}` }), `${name}  `]);
  at("scores-caption").replaceChildren(`${joined(", ", metricLabel(state), study.explainers[state.explainer])}${study.runs[state.model] > 1 ? `, mean over the ${RUN}s` : ""}; upright lines are means. `, ...keys);
  files("scores-files", `panels/${state.dataset}/${state.model}`);
  const table = values.map((list, side) => {
    const sorted = Float64Array.from(list).sort();
    const numbers = list.length ? [mean(list), ...[0.25, 0.5, 0.75].map((share) => quantile(sorted, share))] : [NaN, NaN, NaN, NaN];
    return made("tr", {}, made("th", { scope: "row" }, names[side]), made("td", {}, list.length.toLocaleString("en")),
      ...numbers.map((number) => made("td", {}, said(number))));
  });
  at("summary").tBodies[0].replaceChildren(...table);
  await draw("scores", bins(values), values.map((list, side) => ({ side, mean: mean(list) })).filter((row) => Number.isFinite(row.mean)));
  const differences = defined(rows.map((row) => row.difference));
  at("differences-figure").hidden = !paired || !differences.length;
  if (!at("differences-figure").hidden) {
    at("differences-caption").textContent = `${names[0]} less ${names[1]}, within ${count(differences.length, "pair")}: ` +
      `mean ${signed(mean(differences))}, the upright solid line.`;
    await draw("differences", bins([differences]), [{ mean: mean(differences) }]);
  }
}

// Pairs ------------------------------------------------------------------------------------------------------------
async function showPairs() {
  const { state, dataset, names, paired, rows } = shown;
  // As the section is called.
  at("pairs-title").hidden = !paired;
  fill(at("order"), Object.entries(paired ? ORDERS : ALONE).map(([name, label]) => [name, label.replace("first group", names[0]).replace("second group", names[1])]), state.order);
  const center = mean(defined(rows.flatMap((row) => row.scores)));
  const size = paired ? (row) => row.difference : (row) => defined(row.scores)[0] - center;
  const keys = { differ: (row) => Math.abs(size(row)), first: (row) => size(row), second: (row) => -size(row) };
  const key = keys[state.order], known = rows.filter((row) => !Number.isNaN(size(row) ?? NaN));
  let listed = known.map((row) => [key(row), row]).sort(([x], [y]) => y - x).map(([, row]) => row);
  listed = listed.slice(0, Math.ceil(listed.length * Number(state.share) / 100));
  if (study.texts && state.find) {
    const has = await (state.modality === "text" ? hasInAnswers : hasInWords)(state.find.toLowerCase());
    listed = listed.filter((row) => row.items.some((item) => item !== null && has(item)));
  }
  shown.listed = listed;
  const one = paired ? "pair" : UNIT, without = rows.length - known.length;
  at("pairs-of").textContent = `Of the question ${at("view").textContent}: ${at("badge").textContent}`;
  at("found").textContent = `${count(listed.length, one)} of ${rows.length.toLocaleString("en")}` +
    (without ? `; ${count(without, one)} without a defined score` : "");
  const heads = [[paired ? "Pair" : capital(UNIT), "text"], ...names.map((name) => [name, ""]), ...(paired ? [["Difference", ""]] : [])];
  at("list").tHead.rows[0].replaceChildren(...heads.map(([name, look]) => made("th", { scope: "col", class: look }, name)));
  await listPairs();
  await showPair();
}

/** Whether a text of the model has a word with these letters in it. */
async function hasInWords(letters) {
  const { folded, words, starts } = await textsOf(shown.dataset), items = await part(shown.model.items);
  const wanted = new Set(folded.flatMap((word, number) => word.includes(letters) ? [number] : []));
  return (item) => words.subarray(starts[items[item]], starts[items[item] + 1]).some((word) => wanted.has(word));
}

/** Whether an answer to a question of the model has these letters in it. */
async function hasInAnswers(letters) {
  const { items, texts } = await answersOf(shown.model, shown.state.explainer);
  const found = new Set(texts.flatMap((text, place) => text.toLowerCase().includes(letters) ? [items[place]] : []));
  return (item) => found.has(item);
}

async function listPairs() {
  const { listed, units, names, paired, pairs, state } = shown;
  const rows = listed.slice(0, pairs).map((row) => {
    const button = made("button", { type: "button" }, units[row.unit]);
    button.addEventListener("click", () => { choose({ pair: units[row.unit] }); focusing = "pair-title"; if (location.hash === document.body.dataset.ready) focusWanted(); });
    return made("tr", { "data-unit": row.unit }, made("th", { scope: "row" }, study.texts ? button : units[row.unit]),
      ...names.map((_, side) => made("td", {}, said(row.scores[side]))), ...(paired ? [made("td", {}, signed(row.difference))] : []));
  });
  at("list").tBodies[0].replaceChildren(...rows);
  at("more-pairs").hidden = listed.length <= pairs;
}

let focusing = null;
function focusWanted() {
  if (focusing) at(focusing).focus();
  focusing = null;
}

/** The chosen pair, or the first of the list. */
async function showPair() {
  const { listed, rows, units, state, paired } = shown;
  const row = rows.find((entry) => units[entry.unit] === state.pair) ?? listed[0];
  at("pair").hidden = !study.texts || !row;
  if (at("pair").hidden) return;
  for (const entry of at("list").tBodies[0].rows) entry.toggleAttribute("aria-current", Number(entry.dataset.unit) === row.unit);
  at("list").querySelector("[aria-current]")?.setAttribute("aria-current", "true");
  const place = listed.indexOf(row);
  at("pair-title").textContent = `${paired ? "Pair" : capital(UNIT)} ${units[row.unit]}` + (place < 0 ? "" : `, ${place + 1} of ${listed.length.toLocaleString("en")}`);
  at("previous").disabled = place <= 0;
  at("next").disabled = place < 0 ? !listed.length : place + 1 >= listed.length;
  if (state.modality === "text") await showAnswers(row);
  else await showTokens(row);
  focusWanted();
}

async function showTokens(row) {
  const { dataset, model, names, state } = shown;
  const found = await textsOf(dataset), spoken = await explained(dataset, model, state.explainer);
  const numbers = row.items.map((item) => item === null ? null : found.words.subarray(found.starts[spoken.items[item]], found.starts[spoken.items[item] + 1]));
  const sides = names.map((name, side) => numbers[side] && textOf(name, side, row, numbers, found, spoken)).filter(Boolean);
  at("sides").replaceChildren(...sides);
}

function textOf(name, side, row, numbers, { vocabulary, second }, { items, shares, classes, together, starts }) {
  const item = row.items[side], other = numbers[1 - side] && new Set(numbers[1 - side]), state = shown.state;
  const broken = second ? second[items[item]] : 0, marked = made("p", { class: "marked", dir: "auto" });
  numbers[side].forEach((word, place) => {
    const value = shares[starts[item] + place] / FULL;
    const look = ["word", value < 0 ? "against" : "for", ...(other && !other.has(word) ? ["different"] : [])];
    const shown = made("ruby", { class: look.join(" ") }, vocabulary[word]);
    shown.style.setProperty("--share", Math.abs(value).toFixed(3));
    if (Math.abs(value) >= 0.05) shown.append(made("rt", {}, share(value)));
    if (broken && place === broken) marked.append(made("br"));
    marked.append(shown, " ");
  });
  const label = classes[item] === SEVERAL ? "another class in some runs" : `the class “${shown.dataset.classes[classes[item]] ?? classes[item]}”`;
  const about = `${metricLabel(state)} ${said(row.scores[side])}; explained is ${label}, ` +
    `${study.target === "label" ? "the text's own" : "which the model predicts"}` +
    (row.counts[side] > 1 ? `; the score is the mean of ${row.counts[side]} texts, of which this is the first` : "");
  return made("div", {}, made("h5", {}, name), made("p", { class: "legend" }, about), marked, ...togetherOf(together?.[item], numbers[side], vocabulary));
}

/** The pairs of words that do more, or less, together than each by itself, where the explainer tells them. */
function togetherOf(pairs, words, vocabulary) {
  if (!pairs?.length) return [];
  const word = (place) => `“${vocabulary[words[place]]}”`;
  const rows = pairs.map(([one, other, value]) => made("li", {}, `${word(one)} and ${word(other)}: ${value > 0 ? "+" : ""}${share(value)}`));
  return [made("p", { class: "legend" }, "What two words do together, beyond what each does:"), made("ul", { class: "together" }, ...rows)];
}

function step(by) {
  const { listed, units, state, rows } = shown;
  const place = listed.findIndex((row) => units[row.unit] === state.pair);
  const next = listed[Math.max(place, state.pair && rows.some((row) => units[row.unit] === state.pair) ? -1 : 0) + by];
  if (next) choose({ pair: units[next.unit] });
}

// Answers in words -------------------------------------------------------------------------------------------------
/** The answers of an explainer: of each its question, draw, decision and text, how many words are left out, and scores. */
async function answersOf(model, explainer) {
  const { number, ...parts } = model.explainers[explainer].answers;
  const names = Object.keys(parts), read = await Promise.all(names.map((name) => part(parts[name])));
  return { number, ...Object.fromEntries(names.map((name, place) => [name, read[place]])) };
}

/** The answers to one question that stand side by side: two forms, or two draws of one form, as the reader chooses. */
async function showAnswers(row) {
  const mine = shown, { dataset, model, names, state } = mine;
  const said = await answersOf(model, state.explainer), { vocabulary, words, starts } = await textsOf(dataset), items = await part(model.items);
  if (mine !== shown) return;
  const several = new Set(said.draws.map(([seed]) => seed)).size > 1;
  const offered = names.flatMap((form, side) => [...said.items.keys()].filter((place) => said.items[place] === row.items[side]).map((place) => {
    const [seed, draw] = said.draws[place];
    return { place, side, form, item: items[row.items[side]], name: [form, seed, draw].join(" "), label: `${form}, ${several ? `seed ${seed}, ` : ""}draw ${draw}` };
  }));
  const named = (name) => offered.find((answer) => answer.name === name);
  const left = named(state.left) ?? offered[0];
  const right = named(state.right) ?? offered.find(({ side }) => side !== left?.side) ?? offered[1];
  const chosen = [left, right].filter(Boolean), listed = offered.map(({ name, label }) => [name, label]);
  fill(at("left"), listed, left?.name);
  fill(at("right"), listed, right?.name);
  at("draws").hidden = offered.length < 2;
  at("kept").hidden = said.texts.length === said.number;
  at("kept").textContent = `The page has room for ${said.texts.length.toLocaleString("en")} of ${count(said.number, "answer")}: those with the first numbers. The study's files have all.`;
  const without = names.filter((_, side) => row.items[side] !== null && !offered.some((answer) => answer.side === side));
  const parted = chosen.map(({ place }) => wordsOf(said.texts[place])), kept = chosen.length > 1 ? common(...parted) : null;
  at("sides").replaceChildren(
    ...chosen.map((answer, side) => sideOf(answer, said, parted[side], kept?.[side], questionOf(answer.item))),
    ...without.map((form) => made("div", {}, made("h5", {}, form), made("p", { class: "legend" }, "No answer to this question is on the page."))));
  const marks = chosen.map((_, side) => kept ? parted[side].filter((word, place) => kept[side][place] === 0 && word.trim()).length : 0);
  at("alike").textContent = !kept ? "There is no second answer to hold beside it." : Math.max(...marks) === 0 && parted[0].join("") === parted[1].join("")
    ? "Both answers are the same." : Math.max(...marks) === 0 ? "Both answers have the same words; white space differs." :
    `Marked is what the other answer has not, in this order: ${marks.join(" and ")} words and signs.`;
  const metrics = metricsOf(state.explainer), total = said.items.length;
  at("answer-scores").tHead.rows[0].replaceChildren(...["Metric", ...chosen.map(({ label }) => label)].map((name) => made("th", { scope: "col" }, name)));
  at("answer-scores").tBodies[0].replaceChildren(...metrics.map((metric, number) => made("tr", metric === state.metric ? { "aria-current": "true" } : {},
    made("th", { scope: "row" }, study.metrics[metric].label), ...chosen.map(({ place }) => made("td", {}, exactly(said.scores[number * total + place]))))));
  function questionOf(item) {
    return visible(Array.from(words.subarray(starts[item], starts[item + 1]).subarray(0, MOST_COMPARED), (word) => vocabulary[word]).join(" "));
  }
}

const exactly = (value) => Number.isInteger(value) ? value.toLocaleString("en") : said(value);

/** One answer: its decision, its words with those marked that are not in the other one, and what was asked. */
function sideOf({ place, label }, said, words, kept, question) {
  const text = made("p", { class: "answer", dir: "auto", tabindex: 0, role: "region", "aria-label": `Answer: ${label}` });
  // Neighbours that are marked alike are one element.
  for (let from = 0, to; from < words.length; from = to) {
    for (to = from + 1; to < words.length && kept?.[to] === kept?.[from];) to++;
    const run = words.slice(from, to).join(""), seen = run.trimEnd();
    // White space that ends a run is not marked.
    text.append(kept?.[from] === 0 ? made("mark", {}, visible(seen)) : visible(seen), visible(run.slice(seen.length)));
  }
  if (!words.length) text.append(made("em", {}, "The answer is empty."));
  const decision = said.decisions[place] === null ? "No decision" : made("bdi", {}, visible(said.decisions[place]));
  const notes = [said.cut[place] ? `${count(said.cut[place], "more word")} of this answer are not on the page.` : "",
                 kept && words.length > MOST_COMPARED ? `Only the first ${MOST_COMPARED.toLocaleString("en")} words and signs are compared.` : ""].filter(Boolean);
  return made("div", {}, made("h5", {}, label),
    made("p", { class: "legend decision" }, ...(said.decisions[place] === null ? [decision] : ["Decision: ", decision])), text,
    ...notes.map((note) => made("p", { class: "legend" }, note)),
    made("details", {}, made("summary", {}, "What was asked"), made("p", { class: "answer", dir: "auto" }, question)));
}

const segmenter = new Intl.Segmenter("en", { granularity: "word" });

/** The words and signs of a text, each with the white space behind it: joined, they are the text. */
function wordsOf(text) {
  const words = [];
  for (const { segment } of segmenter.segment(text)) {
    if (words.length && !segment.trim()) words[words.length - 1] += segment;
    else words.push(segment);
  }
  return words;
}

/** Of each word of two lists, whether it is in a longest common subsequence of both: 1, else 0, or 2 where nobody looked. */
function common(...lists) {
  const numbers = new Map();
  const [a, b] = lists.map((list) => list.slice(0, MOST_COMPARED).map((word) => {
    const seen = word.trim();
    if (!numbers.has(seen)) numbers.set(seen, numbers.size);
    return numbers.get(seen);
  }));
  const kept = lists.map((list) => new Uint8Array(list.length).fill(2, MOST_COMPARED));
  let start = 0, [left, right] = [a.length, b.length];
  while (start < left && start < right && a[start] === b[start]) { kept[0][start] = kept[1][start] = 1; start++; }
  while (start < left && start < right && a[left - 1] === b[right - 1]) kept[0][--left] = kept[1][--right] = 1;
  // How long the longest is of what follows on either word.
  const width = right - start + 1, longest = new Uint16Array((left - start + 1) * width);
  const at = (i, j) => (i - start) * width + j - start;
  for (let i = left - 1; i >= start; i--) {
    for (let j = right - 1; j >= start; j--) {
      longest[at(i, j)] = a[i] === b[j] ? longest[at(i + 1, j + 1)] + 1 : Math.max(longest[at(i + 1, j)], longest[at(i, j + 1)]);
    }
  }
  for (let i = start, j = start; i < left && j < right;) {
    if (a[i] === b[j]) kept[0][i++] = kept[1][j++] = 1;
    else if (longest[at(i + 1, j)] >= longest[at(i, j + 1)]) i++;
    else j++;
  }
  return kept;
}

/** A text without signs that are not seen or that turn the direction of others: they are named in their place. */
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
const visible = (text) => text.replace(HIDDEN, (sign) => `⟨U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

// Words ------------------------------------------------------------------------------------------------------------
/** Count and mean share of each word, lower-cased, in the texts of each group. */
async function wordRows() {
  const { dataset, model, sides, state } = shown, { folded, words, starts } = await textsOf(dataset);
  const spoken = await explained(dataset, model, state.explainer), found = new Map();
  sides.forEach(({ all }, side) => {
    for (const item of all) {
      const from = starts[spoken.items[item]], length = starts[spoken.items[item] + 1] - from;
      for (let place = 0; place < length; place++) {
        const word = folded[words[from + place]];
        if (!found.has(word)) found.set(word, { word, counts: [0, 0], sums: [0, 0] });
        const entry = found.get(word);
        entry.counts[side]++;
        entry.sums[side] += spoken.shares[spoken.starts[item] + place] / FULL;
      }
    }
  });
  return Array.from(found.values(), (entry) => {
    const means = entry.sums.map((sum, side) => sum / entry.counts[side]);
    return { ...entry, means, difference: means[0] - means[1] };
  });
}

async function showWords(before) {
  const { state, names } = shown, same = ["dataset", "model", "explainer", "groups"].every((name) => before?.state[name] === state[name]);
  const mine = shown, all = same && before.allWords ? before.allWords : await wordRows();
  if (mine !== shown) return;
  shown.allWords = all;
  const least = Number(state.least), wanted = state.word.toLowerCase(), low = (value) => Number.isNaN(value) ? -Infinity : value;
  const keys = {
    strongest: (row) => Math.max(...row.means.map((value, side) => row.counts[side] >= least ? Math.abs(value) : 0)),
    difference: (row) => Math.min(...row.counts) >= least ? Math.abs(low(row.difference)) : -1,
    first: (row) => row.counts[0] >= least ? low(row.means[0]) : -Infinity,
    second: (row) => row.counts[1] >= least ? low(row.means[1]) : -Infinity,
    often: (row) => row.counts[0] + row.counts[1],
  };
  const key = keys[state["word-order"]];
  shown.wordRows = all.filter((row) => Math.max(...row.counts) >= least && row.word.includes(wanted))
    .map((row) => [key(row), row]).sort(([x, a], [y, b]) => y - x || (a.word < b.word ? -1 : 1)).map(([, row]) => row);
  at("words-found").textContent = `${count(shown.wordRows.length, "word")} of ${all.length.toLocaleString("en")}; means of the numbers that stand above the words.`;
  const heads = ["Word", ...names.flatMap((name) => [`${name}, n`, `${name}, mean`]), ...(names.length > 1 ? ["Difference"] : [])];
  at("words").tHead.rows[0].replaceChildren(...heads.map((name) => made("th", { scope: "col" }, name)));
  listWords();
}

function listWords() {
  const { wordRows, words, names } = shown;
  at("words").tBodies[0].replaceChildren(...wordRows.slice(0, words).map((row) => made("tr", {}, made("th", { scope: "row", dir: "auto" }, row.word),
    ...names.flatMap((_, side) => [made("td", {}, row.counts[side].toLocaleString("en")), made("td", {}, share(row.means[side]))]),
    ...(names.length > 1 ? [made("td", {}, share(row.difference))] : []))));
  at("more-words").hidden = wordRows.length <= words;
}

// Listening --------------------------------------------------------------------------------------------------------
for (const name of ["dataset", "model", "explainer", "metric", "groups", "order", "share", "find", "word-order", "least", "word", "left", "right"]) {
  at(name).addEventListener("change", (event) => choose({ [name]: event.target.value }));
}
for (const form of document.forms) form.addEventListener("submit", (event) => event.preventDefault());
for (const button of document.querySelectorAll("[data-save]")) button.addEventListener("click", () => save(button.dataset.save));
at("previous").addEventListener("click", () => step(-1));
at("next").addEventListener("click", () => step(1));
at("more-pairs").addEventListener("click", () => { shown.pairs += STEP; listPairs(); });
at("more-words").addEventListener("click", () => { shown.words += STEP; listWords(); });
// The address names the view, so that a way to a section is none of its.
for (const link of document.querySelectorAll(".skip, nav a")) {
  link.addEventListener("click", (event) => { event.preventDefault(); at(link.hash.slice(1)).focus(); at(link.hash.slice(1)).scrollIntoView(); });
}
for (const [event, on] of [["beforeprint", true], ["afterprint", false]]) window.addEventListener(event, () => { printing = on; listQuestions(); });
window.addEventListener("hashchange", show);
document.querySelectorAll(".scroll").forEach(fading);
at("questions").addEventListener("click", (event) => {
  const head = event.target.closest("th[data-sort]");
  if (head) { sorted = head.dataset.sort; listQuestions(); }
  const link = event.target.closest(".question");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  arriving = true;
  if (link.hash === location.hash) arrive();
});
at("more-questions").addEventListener("click", () => { seen *= 2; listQuestions(); });
at("back").addEventListener("click", () => (mark() ?? at("questions-title")).focus());

show();
})();
