// Colours of points: ten that are told apart, grey for the rest, and a ramp for numbers, for light and dark.

const LIGHT = {
  set: ["#3b6fd6", "#e07b39", "#2f9e6e", "#c2528b", "#8a6fd1", "#b8952f", "#3aa3b8", "#d14b4b", "#7a8b3a", "#8c6d5a"],
  rest: "#b3b6bc", none: "#cfd1d5", ramp: ["#b9cfee", "#7fa8df", "#4a7fd0", "#27509f", "#12295c"],
};
const DARK = {
  set: ["#6f9bff", "#f59b5f", "#52c391", "#e57fb2", "#ab94f0", "#dcb94e", "#62c7da", "#f07a78", "#a3b65c", "#b8937c"],
  rest: "#6b727d", none: "#474d57", ramp: ["#2f4a78", "#3f6bb5", "#6595e6", "#9cc1fb", "#e3efff"],
};

export const palette = (dark) => (dark ? DARK : LIGHT);

const parse = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

function ramp(stops, steps = 256) {
  const table = new Uint8Array(steps * 3);
  const known = stops.map(parse);
  for (let i = 0; i < steps; i++) {
    const at = (i / (steps - 1)) * (known.length - 1);
    const low = Math.min(Math.floor(at), known.length - 2);
    for (let c = 0; c < 3; c++) table[3 * i + c] = known[low][c] + (known[low + 1][c] - known[low][c]) * (at - low);
  }
  return table;
}

export const logarithmic = (column) => column.kind === "number" && column.low >= 0 && column.high > 40 * Math.max(column.low, 1);

function share(column) {
  const log = logarithmic(column);
  const low = log ? Math.log1p(column.low) : column.low;
  const high = log ? Math.log1p(column.high) : column.high;
  const span = high - low || 1;
  return (value) => ((log ? Math.log1p(value) : value) - low) / span;
}

// Red, green, blue and opacity of every point. `shown` is null, or the set of categories that stay bright.
export function paint(column, values, dark, shown, dimmed) {
  const tones = palette(dark);
  const bytes = new Uint8Array(values.length * 4);
  const full = dimmed ? 120 : 225;
  const faint = 22;
  const none = parse(tones.none);
  if (column && column.kind === "category") {
    const set = column.categories.map((_, i) => parse(tones.set[i % tones.set.length]));
    set.push(parse(tones.rest));
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      const has = value === value;
      const [r, g, b] = has ? set[Math.min(value, set.length - 1)] : none;
      bytes[4 * i] = r; bytes[4 * i + 1] = g; bytes[4 * i + 2] = b;
      bytes[4 * i + 3] = !shown || (has && shown.has(value)) ? full : faint;
    }
  } else {
    const table = ramp(tones.ramp);
    const place = column ? share(column) : () => 0.5;
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      const at = 3 * Math.round(255 * Math.min(1, Math.max(0, place(value))));
      const has = value === value;
      bytes[4 * i] = has ? table[at] : none[0];
      bytes[4 * i + 1] = has ? table[at + 1] : none[1];
      bytes[4 * i + 2] = has ? table[at + 2] : none[2];
      bytes[4 * i + 3] = full;
    }
  }
  return bytes;
}

export function name(column, value) {
  if (!column || value !== value) return "";
  if (column.kind === "number") return String(Number(value.toPrecision(6)));
  return value < column.categories.length ? column.categories[value] : "other";
}
