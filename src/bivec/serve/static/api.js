// Asking the server. An answer is kept for as long as the page is open: the embedding does not change under it.

const kept = new Map();

async function answer(response) {
  if (response.ok) return response;
  let detail = `the server answered ${response.status}`;
  try {
    detail = (await response.json()).detail || detail;
  } catch { /* not JSON: the number must do */ }
  const error = new Error(detail);
  error.status = response.status;
  throw error;
}

async function ask(path, settings) {
  let response;
  try {
    response = await fetch(path, settings);
  } catch {
    throw new Error("the server does not answer. Is bivec explore still running?");
  }
  return answer(response);
}

function address(path, query) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== null) words.set(name, value);
  const text = words.toString();
  return text ? `${path}?${text}` : path;
}

function keep(key, make) {
  if (!kept.has(key)) {
    const promise = make();
    kept.set(key, promise);
    promise.catch(() => kept.delete(key));
    if (kept.size > 400) kept.delete(kept.keys().next().value);
  }
  return kept.get(key);
}

export function get(path, query = {}) {
  const place = address(path, query);
  return keep(place, async () => (await ask(place)).json());
}

export function floats(path, query = {}) {
  const place = address(path, query);
  return keep(place, async () => new Float32Array(await (await ask(place)).arrayBuffer()));
}

export function post(path, body) {
  const text = JSON.stringify(body);
  return keep(`${path} ${text}`, async () => (await ask(path, {
    method: "POST", headers: { "content-type": "application/json" }, body: text,
  })).json());
}

// Ids of rows, a page at a time: a map of a million points needs the names of a few.

const PAGE = 10000;
const pages = new Map();

export function idNow(side, row) {
  const page = pages.get(`${side} ${Math.floor(row / PAGE)}`);
  return page ? page.ids[row % PAGE] : undefined;
}

// What people read for a row: its name, or its id.
export function textNow(side, row) {
  const page = pages.get(`${side} ${Math.floor(row / PAGE)}`);
  return page ? page.names[row % PAGE] || page.ids[row % PAGE] : undefined;
}

export async function loadIds(side, rows) {
  const wanted = new Set();
  for (const row of rows) wanted.add(Math.floor(row / PAGE));
  for (const number of wanted) {
    const key = `${side} ${number}`;
    if (pages.has(key)) continue;
    pages.set(key, await get("/api/ids", { side, start: number * PAGE, count: PAGE }));
  }
}

// What people read for ids: asked for once where a side has names, the ids themselves elsewhere.

const names = { left: new Map(), right: new Map() };

export const textOf = (side, id) => names[side].get(id) || id;

export async function loadNames(side, ids) {
  const wanted = [...new Set(ids)].filter((id) => !names[side].has(id)).slice(0, 1000);
  if (!wanted.length || !(await get("/api/summary")).sides[side].named) return;
  const answer = await post("/api/rows", { side, ids: wanted });
  wanted.forEach((id, i) => names[side].set(id, answer.names[i]));
}
