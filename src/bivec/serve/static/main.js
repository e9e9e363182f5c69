// The page: which node, which side, which colours; the address says it all.

import { floats, get, idNow, loadIds, loadNames, post, textNow, textOf } from "./api.js";
import { name, paint } from "./colour.js";
import { $, announce, count, el, toast } from "./dom.js";
import { legend } from "./legend.js";
import { PointMap } from "./map.js";
import { nodePanel, other, overview } from "./panel.js";
import { download, picture, pointsTable, table } from "./save.js";
import { search } from "./search.js";

const state = { side: "left", colour: null, node: null, shown: null, lists: null, values: null, turn: 0 };
let summary;
let map;

// Light and dark

const system = matchMedia("(prefers-color-scheme: dark)");
const stored = () => { try { return localStorage.getItem("bivec-theme"); } catch { return null; } };
const isDark = () => (document.documentElement.dataset.theme || (system.matches ? "dark" : "light")) === "dark";

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  repaint();
}

function switchTheme() {
  const theme = isDark() ? "light" : "dark";
  try { localStorage.setItem("bivec-theme", theme); } catch { /* then it lasts as long as the page */ }
  setTheme(theme);
}

// The address: #/left/ID?map=right&colour=degree

function readAddress() {
  const text = location.hash.replace(/^#\/?/, "");
  const [path, query] = [text.split("?")[0], new URLSearchParams(text.split("?")[1] || "")];
  const [side, ...rest] = path.split("/");
  let node = null;
  if ((side === "left" || side === "right") && rest.join("/")) {
    try {
      node = { side, id: decodeURIComponent(rest.join("/")) };
    } catch {
      toast("This address is not complete: the id in it cannot be read.");
    }
  }
  const shown = query.get("map");
  return { node, side: shown === "left" || shown === "right" ? shown : node?.side, colour: query.get("colour") };
}

function addressOf(node, side, colour) {
  const query = new URLSearchParams();
  if (node ? side !== node.side : side !== "left") query.set("map", side);
  if (colour && colour !== summary.sides[side].columns[0]?.name) query.set("colour", colour);
  const words = query.toString();
  const path = node ? `${node.side}/${encodeURIComponent(node.id)}` : "";
  return `#/${path}${words ? `?${words}` : ""}`;
}

function visit(node, side, colour = state.colour, replace = false) {
  const hash = addressOf(node, side, colour);
  if (hash === location.hash) { arrive(); return; }
  if (replace) { history.replaceState(null, "", hash); arrive(); } else location.hash = hash;
}

const go = (side, id) => visit(side ? { side, id } : null, side || state.side);

async function arrive() {
  const aim = readAddress();
  const side = aim.side || "left";
  const columns = summary.sides[side].columns;
  const colour = columns.some((column) => column.name === aim.colour) ? aim.colour : columns[0]?.name ?? null;
  const turn = ++state.turn;
  const current = () => turn === state.turn;
  const sameNode = state.node && aim.node && state.node.id === aim.node.id && state.node.side === aim.node.side;
  const sameSide = side === state.drawn;
  if (!sameSide || colour !== state.colour) state.shown = null;
  Object.assign(state, { side, colour, node: aim.node });
  controls();
  const panel = sameNode && state.lists ? Promise.resolve(state.lists) : showPanel(current);
  try {
    await drawSide(side, colour, sameSide, current);
  } catch (error) {
    if (current()) fail(error);
    return;
  }
  if (!current()) return;
  if (!aim.node) { await showTop(current); mark(); return; }
  const lists = await panel;
  if (!current()) return;
  state.lists = lists;
  await mark(current);
}

function fail(error) {
  $("empty").hidden = false;
  $("empty").replaceChildren(el("b", { text: "The map could not be loaded" }), el("span", { text: error.message }),
    el("p", {}, el("button", { class: "act", text: "Try again", on: { click: () => location.reload() } })));
}

function showPanel(current) {
  state.lists = null;
  if (!state.node) { overview(summary, state.side, { top: [], go }); return Promise.resolve(null); }
  const { side, id } = state.node;
  announce(`${summary.sides[side].name}: ${id}`);
  return nodePanel(summary, side, id, { go, point, acts, current: () => current() || (state.node?.id === id && state.node?.side === side) });
}

// Rows of the n highest values, without sorting a million of them.
function highest(values, n) {
  const rows = [];
  for (let i = 0; i < values.length; i++) {
    if (rows.length === n && values[i] <= values[rows[n - 1]]) continue;
    let at = rows.length;
    while (at > 0 && values[rows[at - 1]] < values[i]) at--;
    rows.splice(at, 0, i);
    if (rows.length > n) rows.pop();
  }
  return rows;
}

async function showTop(current) {
  if (state.node) return;
  const side = state.side;
  let top = [];
  if (summary.sides[side].columns.some((column) => column.name === "degree")) {
    const degrees = await floats("/api/column", { side, name: "degree" });
    const rows = highest(degrees, 8);
    await loadIds(side, rows);
    await loadNames(side, rows.map((row) => idNow(side, row)));
    top = rows.map((row) => ({ id: idNow(side, row), degree: degrees[row] }));
  }
  if (current()) overview(summary, side, { top, go });
}

// The map

async function drawSide(side, colour, sameSide, current) {
  const own = summary.sides[side];
  const empty = $("empty");
  $("stage").setAttribute("aria-label", `Map of ${count(own.nodes)} ${own.name}`);
  if (!own.nodes) {
    empty.hidden = false;
    empty.replaceChildren(el("b", { text: "Nothing to show" }), el("span", { text: `This embedding has no nodes on the ${side} side.` }));
    state.values = new Float32Array(0);
    map.setPlaces(new Float32Array(0));
    state.drawn = side;
    repaint();
    return;
  }
  if (!sameSide) { empty.hidden = false; empty.replaceChildren(el("span", { class: "pulse", text: "Drawing the map" })); }
  const [places, values] = await Promise.all([
    floats("/api/points", { side }), colour ? floats("/api/column", { side, name: colour }) : new Float32Array(own.nodes).fill(NaN),
  ]);
  if (!current()) return;
  state.values = values;
  state.drawn = side;
  $("note").textContent = own.note;
  empty.hidden = true;
  if (!sameSide) map.setPlaces(places);
  repaint();
  if (!sameSide) map.fit(false); // now that the legend has its size
}

const column = () => summary?.sides[state.side].columns.find((one) => one.name === state.colour);

function repaint() {
  if (!summary || !state.values) return;
  const own = column();
  const marks = [];
  if (state.lists) {
    const names = { left: summary.sides.left.name, right: summary.sides.right.name };
    if (state.drawn === state.node.side) marks.push({ kind: "pick", text: `similar to ${textOf(state.node.side, state.node.id)}` });
    else marks.push({ kind: "known", text: `neighbours of ${textOf(state.node.side, state.node.id)}` }, { kind: "pick", text: `${names[state.drawn]} recommended` });
  }
  legend(own, { dark: isDark(), shown: state.shown, marks, onShow: isolate });
  map.setFilter(state.shown ? (row) => state.shown.has(state.values[row]) : null);
  map.setTones(paint(own, state.values, isDark(), state.shown, Boolean(state.lists)));
}

function isolate(value) {
  const all = column().categories.length + 1;
  if (!state.shown) state.shown = new Set([value]);
  else if (state.shown.has(value)) state.shown.delete(value);
  else state.shown.add(value);
  if (!state.shown.size || state.shown.size === all) state.shown = null;
  repaint();
  document.querySelector(`.legend [data-value="${value}"]`)?.focus();
}

async function rowsOf(side, items) {
  if (!items.length) return [];
  const { rows } = await post("/api/rows", { side, ids: items.map((item) => item.id) });
  return rows.filter((row) => row >= 0);
}

async function mark(current = () => true) {
  const { lists, node, drawn } = state;
  if (!lists) { map.mark([], -1); repaint(); return; }
  let marked;
  if (drawn === node.side) {
    marked = (await rowsOf(drawn, lists.similar)).map((row) => ({ row, kind: "pick" }));
  } else {
    const [known, picks] = await Promise.all([rowsOf(drawn, lists.neighbours), rowsOf(drawn, lists.recommended)]);
    marked = [...picks.map((row) => ({ row, kind: "pick" })), ...known.map((row) => ({ row, kind: "known" }))];
  }
  await loadNames(node.side, [node.id]);
  const rows = marked.map(({ row }) => row);
  if (drawn === node.side) rows.push(lists.node.row);
  await loadIds(drawn, rows);
  if (!current()) return;
  map.mark(marked, drawn === node.side ? lists.node.row : -1);
  if (drawn === node.side) map.show(lists.node.row);
  repaint();
}

// A row of the panel under the cursor shows on the map.
async function point(side, id) {
  if (id === null) { map.hover(-1); return; }
  if (side !== state.drawn) return;
  const [row] = await rowsOf(side, [{ id }]);
  if (row !== undefined) map.hover(row, true);
}

function onHover(row, place, byKey) {
  const tip = $("tip");
  if (row < 0 || !place) { tip.hidden = true; return; }
  const side = state.drawn;
  const fill = () => {
    if (map.hovered !== row || state.drawn !== side) return;
    const value = name(column(), state.values[row]);
    const id = textNow(side, row) ?? "";
    tip.replaceChildren(el("b", { text: id }), el("small", { text: value ? `${column().name}: ${value}`.replace(/^community: community/, "community") : "" }));
    tip.hidden = false;
    const { clientWidth: w, clientHeight: h } = $("stage");
    const [x, y] = [Math.min(place[0] + 14, w - tip.offsetWidth - 8), Math.min(place[1] + 14, h - tip.offsetHeight - 8)];
    tip.style.setProperty("transform", `translate(${Math.max(4, x)}px, ${Math.max(4, y)}px)`);
    if (byKey) announce(`${id} ${value}`);
  };
  if (idNow(side, row) === undefined) loadIds(side, [row]).then(fill, () => {}); else fill();
}

let settling;
function onView() {
  $("tip").hidden = $("tip").hidden || map.hovered < 0;
  clearTimeout(settling);
  settling = setTimeout(async () => { // names of the few points in view, once the map rests
    const rows = [];
    for (const row of map.inView()) { rows.push(row); if (rows.length > 60) return; }
    if (rows.some((row) => idNow(state.drawn, row) === undefined)) {
      try { await loadIds(state.drawn, rows); map.redraw(); } catch { /* names are an extra */ }
    }
  }, 120);
}

// Controls

function controls() {
  const box = $("sides");
  if (!box.children.length) {
    for (const side of ["left", "right"]) {
      box.append(el("button", { role: "radio", "data-side": side, on: { click: () => visit(state.node, side) } },
        el("span", { text: summary.sides[side].name }), el("small", { text: count(summary.sides[side].nodes) })));
    }
    box.addEventListener("keydown", (event) => {
      if (!event.key.startsWith("Arrow")) return;
      event.preventDefault();
      event.stopPropagation();
      visit(state.node, other(state.side));
      box.querySelector(`[data-side="${other(state.side)}"]`).focus();
    });
  }
  for (const button of box.children) {
    const on = button.dataset.side === state.side;
    button.setAttribute("aria-checked", String(on));
    button.tabIndex = on ? 0 : -1;
  }
  if ($("turn")) $("turn").textContent = turnText();
  const select = $("colour");
  select.replaceChildren(...summary.sides[state.side].columns.map((one) => el("option", { value: one.name, text: one.name })));
  select.disabled = !select.children.length;
  if (state.colour !== null) select.value = state.colour;
}

function acts(node) {
  const copy = async () => {
    const link = location.origin + location.pathname + addressOf(state.node, state.node.side, null);
    try { await navigator.clipboard.writeText(link); toast("The address of this node is copied."); } catch { toast(link); }
  };
  return el("div", { class: "acts" },
    el("button", { class: "act", text: "Centre", on: { click: async () => {
      if (state.drawn !== node.side) { visit(state.node, node.side); return; }
      map.look({ x: node.x, y: node.y, k: Math.max(map.view.k, 4 * map.home().k) });
    } } }),
    el("button", { class: "act", id: "turn", text: turnText(), on: { click: () => visit(state.node, other(state.side)) } }),
    el("button", { class: "act", text: "Copy link", on: { click: copy } }),
    el("button", { class: "act", text: "CSV", title: "Save these lists as a table", on: { click: saveLists } }));
}

const turnText = () => `Show ${summary.sides[other(state.side)].name}`;

function saveLists() {
  const { lists, node } = state;
  if (!lists) { toast("The lists are still loading."); return; }
  const lines = [];
  for (const [kind, items] of [["recommended", lists.recommended], ["neighbour", lists.neighbours], ["similar", lists.similar]]) {
    for (const item of items) lines.push([node.side, node.id, kind, item.id, textOf(kind === "similar" ? node.side : other(node.side), item.id), item.score ?? item.weight]);
  }
  download(`${summary.title}-${node.id.slice(0, 60)}.csv`, table(["side", "id", "relation", "other", "other_name", "value"], lines));
}

function nextColour() {
  const names = summary.sides[state.side].columns.map((one) => one.name);
  if (names.length) visit(state.node, state.side, names[(names.indexOf(state.colour) + 1) % names.length], true);
}

const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input, select, textarea");
  if (event.key === "Escape") {
    if ($("help").open) return;
    if (state.node) visit(null, state.side); else map.fit();
    return;
  }
  if (typing || $("help").open) return;
  const onMap = event.target === $("stage") || event.target === document.body;
  if (MOVES[event.key] && onMap) {
    const [dx, dy] = MOVES[event.key];
    if (event.shiftKey) map.step(dx, dy); else map.pan(-80 * dx, -80 * dy, true);
  } else if (event.key === "Enter" && onMap) {
    pick(map.hovered);
  } else if (event.key === "+" || event.key === "=") map.zoom(1.6);
  else if (event.key === "-") map.zoom(1 / 1.6);
  else if (event.key === "0") map.fit();
  else if (event.key === "/") $("query").focus();
  else if (event.key === "?") $("help").showModal();
  else if (event.key === "s") visit(state.node, other(state.side));
  else if (event.key === "c") nextColour();
  else if (event.key === "d") switchTheme();
  else return;
  event.preventDefault();
}

async function pick(row) {
  if (row < 0) return;
  const side = state.drawn;
  try {
    await loadIds(side, [row]);
    go(side, idNow(side, row));
  } catch (error) {
    toast(error.message);
  }
}

async function start() {
  if (stored()) document.documentElement.dataset.theme = stored();
  const asked = new URLSearchParams(location.search);
  const wish = ["pixels", "webgl"].find((kind) => asked.has(kind)) || null;
  map = new PointMap($("stage"), $("points"), $("marks"), { onHover, onPick: pick, onView, name: (row) => textNow(state.drawn, row), wish,
    inset: () => ($("legend").hidden ? 0 : $("legend").offsetWidth + 32) });
  window.bivecMap = map;
  try {
    summary = await get("/api/summary");
  } catch (error) {
    fail(error);
    return;
  }
  document.title = `${summary.title} · bivec`;
  $("title").textContent = summary.title;
  search({ names: { left: summary.sides.left.name, right: summary.sides.right.name }, onChoose: ({ side, id }) => go(side, id) });
  $("colour").addEventListener("change", (event) => visit(state.node, state.side, event.target.value, true));
  $("theme").addEventListener("click", switchTheme);
  $("keys").addEventListener("click", () => $("help").showModal());
  $("in").addEventListener("click", () => map.zoom(1.6));
  $("out").addEventListener("click", () => map.zoom(1 / 1.6));
  $("fit").addEventListener("click", () => map.fit());
  $("skip").addEventListener("click", (event) => { event.preventDefault(); $("panel").focus(); });
  $("png").addEventListener("click", () => {
    const title = `${summary.title}: ${summary.sides[state.drawn].name}`;
    picture(map, title, column(), isDark()).toBlob((blob) => download(`${summary.title}-${state.drawn}.png`, blob), "image/png");
  });
  $("csv").addEventListener("click", async () => {
    try {
      download(`${summary.title}-${state.drawn}.csv`, await pointsTable(map, state.drawn, column(), state.values));
    } catch (error) {
      toast(error.message);
    }
  });
  system.addEventListener("change", () => repaint());
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", arrive);
  await arrive();
  document.body.dataset.ready = "yes";
}

start();
