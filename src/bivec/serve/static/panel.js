// The panel beside the map: the whole embedding, or one node with what belongs to it.

import { get, loadNames, textOf } from "./api.js";
import { $, count, el, score } from "./dom.js";

export const other = (side) => (side === "left" ? "right" : "left");
const many = (name) => (name === "left" || name === "right" ? `${name} nodes` : name);
const MOST = 10;

function heading(title, aside) {
  return el("h3", {}, el("span", { text: title }), el("small", { text: aside || "" }));
}

function fault(text) {
  return el("p", { class: "fault", role: "alert", text });
}

function bar(share) {
  return el("span", { class: "weight", "aria-hidden": "true" },
    el("i", { style: { width: `${Math.round(100 * Math.min(1, Math.max(0.02, share)))}%` } }));
}

// Before a node is chosen.
export function overview(summary, side, { top, go }) {
  const own = summary.sides[side];
  const facts = el("dl", { class: "facts" });
  const fact = (name, value) => facts.append(el("dt", { text: name }), el("dd", { text: value }));
  fact("method", summary.method);
  fact("dimension", String(summary.dim));
  fact(summary.sides.left.name, count(summary.sides.left.nodes));
  fact(summary.sides.right.name, count(summary.sides.right.nodes));
  fact("edges", summary.edges === null ? "no graph" : count(summary.edges));
  fact("layout", own.layout === "umap" ? "UMAP of the vectors" : "principal components of the vectors");
  const communities = own.columns.find((column) => column.name === "community");
  if (communities && own.nodes) fact("communities", communities.note);
  const parts = [el("p", { class: "side", text: "Embedding" }), el("h2", { text: summary.title }), facts];
  if (own.nodes) {
    parts.push(el("p", { class: "lead", text: "Choose a point on the map or search for an id. "
      + "Near each other means alike to the method." }));
  }
  if (summary.edges === null) {
    parts.push(el("p", { class: "fault", text: "There is no graph with this embedding, so it shows what is similar, "
      + "but recommends and explains nothing. Start again with --graph and the file of the edges." }));
  }
  if (top.length) {
    parts.push(el("section", {}, heading(`${many(own.name)}, best connected`),
      el("ol", { class: "rows" }, ...top.map(({ id, degree }) => el("li", {}, el("div", { class: "row" },
        el("button", { class: "go", text: textOf(side, id), title: id, on: { click: () => go(side, id) } }),
        el("span", { class: "num", text: count(degree) })))))));
  }
  $("panel").replaceChildren(...parts);
}

function because(answer, go) {
  const box = el("div", { class: "because" });
  // The lines that begin with a dash say what the list below shows.
  const words = answer.text.split("\n").filter((line) => !line.startsWith("- ")).join(" ");
  box.append(el("p", { text: words }));
  const list = el("ol", { "aria-label": "Bridges" });
  const adds = answer.bridges.every((bridge) => bridge.contribution !== null);
  const worth = (bridge) => (adds ? bridge.contribution : bridge.share);
  const most = Math.max(...answer.bridges.map(worth), 1e-12);
  for (const bridge of answer.bridges) {
    const step = (side, id) => el("button", { class: "go", text: textOf(side, id), title: id, on: { click: () => go(side, id) } });
    list.append(el("li", {},
      el("div", { class: "path" }, step("left", answer.left), el("i", { text: "\u2013" }), step("right", bridge.shared),
        el("i", { text: "\u2013" }), step("left", bridge.other), el("i", { text: "\u2013" }), step("right", answer.right)),
      el("div", { class: "share" }, bar(worth(bridge) / most),
        el("span", { text: `${adds ? `adds ${score(bridge.contribution)}` : `${(100 * bridge.share).toFixed(1)}% of all bridges`}, strength ${score(bridge.strength)}` }))));
  }
  if (answer.bridges.length) box.append(list);
  return box;
}

// A list of ids with numbers; `pair` makes an explanation out of an id.
function rows(items, { side, go, point, explain, text, share }) {
  return el("ol", { class: "rows" }, ...items.map((item) => {
    const line = el("div", { class: "row", on: { pointerenter: () => point(side, item.id), pointerleave: () => point(side, null) } },
      el("button", { class: "go", text: textOf(side, item.id), title: item.id, "data-side": side, on: {
        click: () => go(side, item.id), focus: () => point(side, item.id), blur: () => point(side, null),
      } }));
    if (share) line.append(bar(share(item)));
    line.append(el("span", { class: "num", text: text(item) }));
    const entry = el("li", {}, line);
    if (explain) {
      const button = el("button", { class: "why", text: "why", "aria-expanded": "false", "aria-label": `why ${textOf(side, item.id)}` });
      let shown = null;
      button.addEventListener("click", async () => {
        if (shown) { shown.remove(); shown = null; button.setAttribute("aria-expanded", "false"); return; }
        shown = el("div", { class: "because" }, el("p", { class: "pulse", text: "Looking for bridges" }));
        entry.append(shown);
        button.setAttribute("aria-expanded", "true");
        let box;
        try {
          const answer = await get("/explain", { ...explain(item.id), n: 5 });
          await loadNames("left", [answer.left, ...answer.bridges.map((bridge) => bridge.other)]);
          await loadNames("right", [answer.right, ...answer.bridges.map((bridge) => bridge.shared)]);
          box = because(answer, go);
        } catch (error) {
          box = fault(error.message);
        }
        if (shown) { shown.replaceWith(box); shown = box; }
      });
      line.append(button);
    }
    return entry;
  }));
}

async function fill(section, title, load, render, nothing) {
  section.replaceChildren(heading(title), el("p", { class: "wait pulse", text: "Loading" }));
  try {
    const { items, aside } = await load();
    section.replaceChildren(heading(title, aside), items.length ? render(items) : el("p", { class: "lead", text: nothing }));
    return items;
  } catch (error) {
    section.replaceChildren(heading(title), fault(error.message));
    return [];
  }
}

// One node. Returns a promise of the lists shown, for the marks on the map and for export.
export async function nodePanel(summary, side, id, { go, point, acts, current }) {
  const far = other(side);
  const names = { left: summary.sides.left.name, right: summary.sides.right.name };
  const panel = $("panel");
  const close = el("button", { class: "close", text: "\u00d7", title: "Let go of this node (Esc)", "aria-label": "Close", on: { click: () => go(null) } });
  const head = [el("div", { class: "top" }, el("p", { class: "side", text: names[side] }), close), el("h2", { text: id })];
  panel.replaceChildren(...head, el("p", { class: "wait pulse", text: "Loading" }));
  panel.scrollTop = 0;
  let node;
  try {
    node = await get("/api/node", { side, id, n: 50 });
  } catch (error) {
    if (current()) {
      const missing = error.status === 404;
      panel.replaceChildren(el("p", { class: "side", text: missing ? "Not found" : "Error" }), ...head.slice(1),
        fault(error.message), el("div", { class: "acts" }, el("button", { class: "act", text: "Back to the whole", on: { click: () => go(null) } })));
    }
    return null;
  }
  if (!current()) return null;
  head[1].textContent = node.name || id;
  const facts = el("dl", { class: "facts" });
  if (node.name) facts.append(el("dt", { text: "id" }), el("dd", { text: id }));
  await loadNames(far, node.neighbours.map((item) => item.id)).catch(() => {});
  if (!current()) return null;
  for (const { name, value } of node.values) if (value) facts.append(el("dt", { text: name }), el("dd", { text: value }));
  const suggestions = el("section", { id: "recommended" });
  const known = el("section", { id: "known" });
  const alike = el("section", { id: "similar" });
  panel.replaceChildren(...head, facts, acts(node), suggestions, known, alike);
  const pair = (found) => (side === "left" ? { left: id, right: found } : { left: found, right: id });
  const shared = { go, point };
  known.replaceChildren(heading(`Neighbours: ${many(names[far])}`, node.degree === null ? "" : node.degree > node.neighbours.length
    ? `${count(node.neighbours.length)} of ${count(node.degree)}` : count(node.degree)),
  node.neighbours.length ? rows(node.neighbours, { ...shared, side: far, text: (item) => (summary.weighted ? score(item.weight).replace(/\.?0+$/, "") : "") })
    : el("p", { class: "lead", text: node.degree === null ? "There is no graph with this embedding." : "This node has no edges." }));
  const ranked = (target, explain) => (items) => {
    const best = Math.max(...items.map((item) => item.score), 1e-12);
    return rows(items, { ...shared, side: target, explain, text: (item) => score(item.score), share: (item) => item.score / best });
  };
  const [recommended, similar] = await Promise.all([
    fill(suggestions, `Recommended ${many(names[far])}`, async () => {
      if (node.degree === null) return { items: [] };
      const { items, scorer } = await get("/recommend", { id, side, n: MOST });
      await loadNames(far, items.map((item) => item.id));
      return { items, aside: `by ${scorer}` };
    }, ranked(far, pair), node.degree === null ? "Recommending needs the graph: start with --graph and the file of the edges."
      : "There is nothing to recommend: every node of the other side is a neighbour already."),
    fill(alike, `Similar ${many(names[side])}`, async () => {
      const { items, scorer } = await get("/similar", { id, side, n: MOST });
      await loadNames(side, items.map((item) => item.id));
      return { items, aside: `by ${scorer}` };
    },
      ranked(side, null), "There is no other node on this side."),
  ]);
  return { node, recommended, similar, neighbours: node.neighbours };
}
