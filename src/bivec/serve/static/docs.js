// The OpenAPI description as a page, from /openapi.json and nothing else.

import { $, el } from "./dom.js";

function kind(schema, all) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map((part) => kind(part, all)).join(" or ");
  if (schema.enum) return schema.enum.map((value) => `"${value}"`).join(" or ");
  if (schema.const) return `"${schema.const}"`;
  if (schema.type === "array") return `list of ${kind(schema.items, all)}${schema.maxItems ? `, at most ${schema.maxItems}` : ""}`;
  const low = schema.minimum ?? schema.minLength;
  const high = schema.maximum ?? schema.maxLength;
  const size = schema.minLength !== undefined || schema.maxLength !== undefined ? " characters" : "";
  return `${schema.type || "any"}${high !== undefined ? `, ${low ?? 0} to ${high}${size}` : ""}`;
}

function table(rows, asked) {
  return el("table", {},
    el("tr", {}, ...["name", "kind", ...(asked ? ["default"] : []), ""].map((text) => el("th", { text }))),
    ...rows.map(({ name, schema, required, description, all }) => el("tr", {},
      el("td", {}, el("code", { text: name })), el("td", { text: kind(schema, all) }),
      asked ? el("td", {}, el("code", { text: required ? "required" : JSON.stringify(schema.default ?? null) })) : null,
      el("td", { class: "soft", text: description || "" }))));
}

function properties(schema, all) {
  const named = schema.$ref ? all[schema.$ref.split("/").pop()] : schema;
  return Object.entries(named.properties || {}).map(([name, part]) => ({
    name, schema: part, all, required: (named.required || []).includes(name), description: part.description,
  }));
}

async function start() {
  const page = $("docs");
  let spec;
  try {
    spec = await (await fetch("/openapi.json")).json();
  } catch {
    page.append(el("p", { class: "fault", text: "The description could not be loaded. Is bivec explore still running?" }));
    return;
  }
  const all = spec.components.schemas;
  page.append(el("p", { class: "soft", text: spec.info.description.replaceAll("`", "").trim() }));
  const groups = { queries: "For programs", page: "What the page asks for" };
  for (const [tag, title] of Object.entries(groups)) {
    page.append(el("h2", { text: title }));
    for (const [path, verbs] of Object.entries(spec.paths)) {
      for (const [verb, operation] of Object.entries(verbs)) {
        if (!(operation.tags || []).includes(tag)) continue;
        const parts = [el("h3", {}, el("span", { class: "verb", text: verb.toUpperCase() }), el("code", { text: path })),
          el("p", { class: "soft", text: operation.description || "" })];
        const query = (operation.parameters || []).map((one) => ({ ...one, all }));
        if (query.length) parts.push(table(query, true));
        const body = operation.requestBody?.content["application/json"].schema;
        if (body) parts.push(table(properties(body, all), true));
        const answer = operation.responses["200"]?.content?.["application/json"]?.schema;
        if (answer?.$ref) parts.push(el("p", { class: "soft", text: `Answers with ${kind(answer, all)}:` }), table(properties(answer, all), false));
        page.append(el("article", {}, ...parts));
      }
    }
  }
  document.body.dataset.ready = "yes";
}

start();
