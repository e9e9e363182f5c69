// What is shown, as a picture or a table.

import { idNow, loadIds, textNow } from "./api.js";
import { name, palette } from "./colour.js";

export function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name.replace(/[^\p{L}\p{N}._-]+/gu, "-");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const cell = (value) => {
  const text = String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export function table(header, lines) {
  return new Blob([[header, ...lines].map((line) => line.map(cell).join(",")).join("\r\n"), "\r\n"], { type: "text/csv;charset=utf-8" });
}

export async function pointsTable(map, side, column, values) {
  const rows = [...map.inView()].filter(map.visible || (() => true)).sort((a, b) => a - b);
  await loadIds(side, rows);
  return table(["id", "name", "x", "y", ...(column ? [column.name] : [])], rows.map((row) => [
    idNow(side, row), textNow(side, row), map.places[2 * row].toPrecision(6), map.places[2 * row + 1].toPrecision(6),
    ...(column ? [name(column, values[row])] : []),
  ]));
}

// The map with its title and legend.
export function picture(map, title, column, dark) {
  const canvas = map.picture();
  const pen = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const ink = (key) => style.getPropertyValue(key).trim();
  pen.scale(map.ratio, map.ratio);
  pen.textBaseline = "middle";
  const lines = column && column.kind === "category" ? column.counts.filter((size) => size).length : 1;
  pen.globalAlpha = 0.85; // so that the words can be read over points
  pen.fillStyle = ink("--ground");
  pen.fillRect(8, 8, 250, column ? 54 + 18 * lines + 14 : 36);
  pen.globalAlpha = 1;
  pen.fillStyle = ink("--ink");
  pen.font = `600 15px ${ink("--text")}`;
  pen.fillText(title, 20, 26);
  if (!column) return canvas;
  const tones = palette(dark);
  pen.font = `12px ${ink("--text")}`;
  pen.fillStyle = ink("--soft");
  pen.fillText(column.name, 20, 48);
  if (column.kind === "category") {
    const names = [...column.categories, ...(column.counts[column.categories.length] ? ["other"] : [])];
    let y = 68;
    names.forEach((text, i) => {
      if (!column.counts[i]) return;
      pen.beginPath();
      pen.arc(26, y, 5, 0, 2 * Math.PI);
      pen.fillStyle = i < column.categories.length ? tones.set[i % tones.set.length] : tones.rest;
      pen.fill();
      pen.fillStyle = ink("--ink");
      pen.fillText(text.length > 40 ? `${text.slice(0, 38)}...` : text, 38, y);
      y += 18;
    });
  } else if (column.low !== null) {
    const ramp = pen.createLinearGradient(20, 0, 180, 0);
    tones.ramp.forEach((tone, i) => ramp.addColorStop(i / (tones.ramp.length - 1), tone));
    pen.fillStyle = ramp;
    pen.fillRect(20, 62, 160, 9);
    pen.fillStyle = ink("--soft");
    pen.fillText(String(Number(column.low.toPrecision(4))), 20, 82);
    pen.textAlign = "right";
    pen.fillText(String(Number(column.high.toPrecision(4))), 180, 82);
    pen.textAlign = "left";
  }
  return canvas;
}
