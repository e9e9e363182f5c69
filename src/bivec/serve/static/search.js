// The search box: a list of suggestions below a field, as the ARIA pattern of a combobox has it.

import { get } from "./api.js";
import { $, count, el } from "./dom.js";

export function search({ names, onChoose }) {
  const field = $("query");
  const list = $("suggestions");
  let found = [];
  let active = -1;
  let asked = 0;

  const close = () => {
    list.hidden = true;
    active = -1;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };

  const highlight = (index) => {
    active = index;
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === index)));
    if (index >= 0) {
      field.setAttribute("aria-activedescendant", `suggestion-${index}`);
      list.children[index].scrollIntoView({ block: "nearest" });
    }
  };

  const choose = (index) => {
    if (!found[index]) return;
    field.value = "";
    close();
    field.blur();
    onChoose(found[index]);
  };

  const show = (message) => {
    list.replaceChildren();
    if (!found.length) list.append(el("li", { class: "nothing", role: "option", "aria-disabled": "true", text: message }));
    found.forEach((hit, i) => list.append(el("li", {
      id: `suggestion-${i}`, role: "option", "aria-selected": "false",
      on: { pointerdown: (event) => { event.preventDefault(); choose(i); }, pointermove: () => highlight(i) },
    },
    el("span", { class: "name", text: hit.name || hit.id }),
    hit.name ? el("small", { text: hit.id }) : null,
    el("small", { text: hit.degree === null ? names[hit.side] : `${names[hit.side]} · ${count(hit.degree)}` }))));
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
    highlight(found.length ? 0 : -1);
  };

  const look = async () => {
    const words = field.value.trim();
    const number = ++asked;
    if (!words) { found = []; close(); return; }
    try {
      const answer = await get("/api/search", { q: words.slice(0, 4000), n: 12 });
      if (number !== asked) return; // a newer question is under way
      found = answer.items;
      show("Nothing contains this.");
    } catch (error) {
      if (number !== asked) return;
      found = [];
      show(error.message);
    }
  };

  let delay;
  field.addEventListener("input", () => { clearTimeout(delay); delay = setTimeout(look, 60); });
  field.addEventListener("focus", () => { if (field.value.trim()) look(); });
  field.addEventListener("blur", close);
  field.addEventListener("keydown", async (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) { await look(); return; }
      const n = found.length;
      if (n) highlight((active + (event.key === "ArrowDown" ? 1 : n - 1)) % n);
    } else if (event.key === "Enter") {
      event.preventDefault();
      clearTimeout(delay);
      if (list.hidden || !found.length) await look();
      choose(Math.max(0, active));
    } else if (event.key === "Escape") {
      event.stopPropagation();
      if (list.hidden) { field.value = ""; field.blur(); } else close();
    }
  });
}
