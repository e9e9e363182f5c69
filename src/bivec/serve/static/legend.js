// What the colours mean. A category is a switch: press it to see only those points.

import { logarithmic, palette } from "./colour.js";
import { $, count, el } from "./dom.js";

const plain = (value) => (value === null ? "" : String(Number(Number(value).toPrecision(4))));

export function legend(column, { dark, shown, marks, onShow }) {
  const box = $("legend");
  box.replaceChildren();
  box.hidden = !column && !marks.length;
  if (column) box.append(el("h2", { text: column.name, title: column.note || null }));
  const tones = palette(dark);
  if (column && column.kind === "category") {
    const rows = column.categories.map((name, i) => [name, tones.set[i % tones.set.length], column.counts[i] || 0, i]);
    const others = column.counts[column.categories.length];
    if (others) rows.push(["other", tones.rest, others, column.categories.length]);
    for (const [name, tone, size, value] of rows) {
      if (!size) continue;
      box.append(el("button", {
        "aria-pressed": String(!shown || shown.has(value)), "data-value": value,
        on: { click: () => onShow(value) },
      }, el("span", { class: "dot", style: { background: tone } }), el("span", { class: "name", text: name }),
      el("small", { text: count(size) })));
    }
  } else if (column && column.low !== null) {
    box.append(el("span", { class: "ramp", style: { background: `linear-gradient(90deg, ${tones.ramp.join(", ")})` } }));
    box.append(el("div", { class: "ends" }, el("span", { text: plain(column.low) }),
      el("span", { text: logarithmic(column) ? "log scale" : "" }), el("span", { text: plain(column.high) })));
  }
  if (column && column.missing) box.append(el("small", { text: `${count(column.missing)} without a value` }));
  if (marks.length) {
    box.append(el("div", { class: "marks" }, ...marks.map(({ kind, text }) =>
      el("div", {}, el("span", { class: `ring ${kind}` }), el("span", { text })))));
  }
}
