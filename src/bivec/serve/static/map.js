// The map: what part is seen, what is under the cursor, what is marked.

import { Cells, drawer } from "./draw.js";

const CLOSEST = 4000;
const REST = 160; // milliseconds after which the map counts as resting
const FEWEST = 10000;
const reduced = matchMedia("(prefers-reduced-motion: reduce)");

export class PointMap {
  constructor(stage, points, marks, { onHover, onPick, onView, name, inset, wish }) {
    Object.assign(this, { stage, points, marks, onHover, onPick, onView, name, inset });
    this.bounds = { x0: -1, y0: -1, x1: 1, y1: 1 };
    this.drawer = drawer(points, wish);
    this.points = this.drawer.canvas;
    this.drawer.again = () => this.redraw();
    this.pen = marks.getContext("2d");
    this.view = { x: 0, y: 0, k: 1 };
    this.places = new Float32Array(0);
    this.cells = new Cells(this.places);
    this.marked = [];
    this.chosen = -1;
    this.hovered = -1;
    this.visible = null;
    this.frames = 0;
    this.budget = Infinity;
    this.moving = false;
    this.cost = 0;
    this.last = -1e9;
    new ResizeObserver(() => this.resize()).observe(stage);
    this.listen();
    this.resize();
  }

  // What is shown

  setPlaces(places, keepView = false) {
    this.places = places;
    this.cells = new Cells(places);
    this.bounds = this.cells.bounds();
    this.marked = [];
    this.chosen = -1;
    this.hover(-1);
    this.drawer.setPlaces(places);
    if (!keepView) this.fit(false);
  }

  setTones(tones) {
    const ground = getComputedStyle(document.documentElement).getPropertyValue("--ground").trim();
    this.drawer.setTones(tones, [1, 3, 5].map((at) => parseInt(ground.slice(at, at + 2), 16)));
    this.redraw();
  }

  // Rows that stay bright under a filter, or null.
  setFilter(accept) { this.visible = accept; this.redraw(); }

  mark(marked, chosen = -1) { this.marked = marked; this.chosen = chosen; this.redraw(); }

  get n() { return this.places.length / 2; }

  // Where is what, in pixels of the page

  get ratio() { return this.points.width / (this.stage.clientWidth || 1); }

  // Everything in sight, and beside what lies over the map on the left where there is room.
  home() {
    const { clientWidth: w, clientHeight: h } = this.stage;
    const { x0, y0, x1, y1 } = this.bounds;
    const k = 0.9 * Math.min(Math.max(60, w) / Math.max(x1 - x0, 0.5), Math.max(60, h) / Math.max(y1 - y0, 0.5));
    const spare = Math.max(0, w - k * (x1 - x0) - 60);
    const shift = Math.min(this.inset(), spare) / 2;
    return { x: (x0 + x1) / 2 - shift / k, y: (y0 + y1) / 2, k };
  }

  toPixel(i, view = this.view) {
    const { clientWidth: w, clientHeight: h } = this.stage;
    return [w / 2 + (this.places[2 * i] - view.x) * view.k, h / 2 - (this.places[2 * i + 1] - view.y) * view.k];
  }

  toMap(px, py) {
    const { clientWidth: w, clientHeight: h } = this.stage;
    return [this.view.x + (px - w / 2) / this.view.k, this.view.y - (py - h / 2) / this.view.k];
  }

  inView() {
    const { clientWidth: w, clientHeight: h } = this.stage;
    const [x0, y1] = this.toMap(0, 0);
    const [x1, y0] = this.toMap(w, h);
    return this.cells.within(x0, y0, x1, y1);
  }

  // Diameter of a point: room for each, more of it when closer.
  size() {
    const { clientWidth: w, clientHeight: h } = this.stage;
    const room = Math.sqrt((w * h) / Math.max(1, this.n));
    const closer = Math.max(1, this.view.k / this.home().k);
    return Math.min(18, Math.max(2.4, 0.24 * room) * Math.pow(closer, 0.42));
  }

  // Moving

  look(view, animate = true) {
    const aim = { ...view, k: Math.min(CLOSEST * this.home().k, Math.max(0.3 * this.home().k, view.k)) };
    aim.x = Math.min(1.5, Math.max(-1.5, aim.x));
    aim.y = Math.min(1.5, Math.max(-1.5, aim.y));
    cancelAnimationFrame(this.flight);
    this.moving = true;
    if (!animate || reduced.matches) {
      this.view = aim;
      this.redraw();
      return;
    }
    const from = { ...this.view };
    const begin = performance.now();
    const step = (now) => {
      const t = Math.min(1, (now - begin) / 260);
      const ease = 1 - (1 - t) ** 3;
      this.view = {
        x: from.x + (aim.x - from.x) * ease,
        y: from.y + (aim.y - from.y) * ease,
        k: from.k * (aim.k / from.k) ** ease,
      };
      this.moving = true;
      this.redraw();
      if (t < 1) this.flight = requestAnimationFrame(step);
    };
    this.flight = requestAnimationFrame(step);
  }

  fit(animate = true) { this.look(this.home(), animate); }

  zoom(by, px = this.stage.clientWidth / 2, py = this.stage.clientHeight / 2, animate = true) {
    const [x, y] = this.toMap(px, py);
    const most = CLOSEST * this.home().k;
    const k = Math.min(most, Math.max(0.3 * this.home().k, this.view.k * by));
    const part = this.view.k / k;
    this.look({ x: x + (this.view.x - x) * part, y: y + (this.view.y - y) * part, k }, animate);
  }

  pan(dx, dy, animate = false) {
    this.look({ ...this.view, x: this.view.x - dx / this.view.k, y: this.view.y + dy / this.view.k }, animate);
  }

  // Bring a row into sight, no farther away than now.
  show(row) {
    if (row < 0 || row >= this.n) return;
    const [px, py] = this.toPixel(row);
    const { clientWidth: w, clientHeight: h } = this.stage;
    const margin = 40;
    if (px > 0 && py > 0 && px < w && py < h) { // in sight: no farther than off the border
      const inside = (at, size) => Math.min(size - margin, Math.max(margin, at)) - at;
      const [dx, dy] = [inside(px, w), inside(py, h)];
      if (dx || dy) this.pan(dx, dy, true);
      return;
    }
    this.look({ x: this.places[2 * row], y: this.places[2 * row + 1], k: Math.max(this.view.k, this.home().k) });
  }

  // The nearest point in a direction, as an arrow key means it.
  step(dx, dy) {
    const from = this.hovered >= 0 ? this.hovered : this.chosen;
    let row;
    if (from < 0) {
      row = this.cells.nearest(this.view.x, this.view.y, 3);
    } else {
      const [x, y] = [this.places[2 * from], this.places[2 * from + 1]];
      const ahead = (i, vx, vy) => i !== from && vx * dx - vy * dy > 0.7 * Math.hypot(vx, vy);
      row = -1;
      for (let reach = 8 / this.view.k; row < 0 && reach < 6; reach *= 2) row = this.cells.nearest(x, y, reach, ahead);
    }
    if (row >= 0) { this.hover(row, true); this.show(row); }
  }

  at(px, py) {
    const reach = (this.size() / 2 + 7) / this.view.k;
    const [x, y] = this.toMap(px, py);
    return this.cells.nearest(x, y, reach, this.visible || undefined);
  }

  hover(row, byKey = false) {
    if (row === this.hovered) return;
    this.hovered = row;
    this.stage.classList.toggle("over", row >= 0);
    this.onHover(row, row >= 0 ? this.toPixel(row) : null, byKey);
    this.redraw();
  }

  listen() {
    const { stage } = this;
    const fingers = new Map();
    let moved = 0;
    let spread = 0;
    const own = (event) => event.target.tagName === "CANVAS" || event.target === stage;
    const local = (event) => {
      const box = stage.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    stage.addEventListener("pointerdown", (event) => {
      if (!own(event) || event.button > 0) return;
      stage.focus({ preventScroll: true });
      stage.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, local(event));
      if (fingers.size === 1) moved = 0;
      spread = 0;
    });
    stage.addEventListener("pointermove", (event) => {
      const [x, y] = local(event);
      if (!fingers.has(event.pointerId)) {
        this.hover(own(event) ? this.at(x, y) : -1);
        return;
      }
      const [fromX, fromY] = fingers.get(event.pointerId);
      fingers.set(event.pointerId, [x, y]);
      if (fingers.size === 2) {
        const [[ax, ay], [bx, by]] = fingers.values();
        const apart = Math.hypot(ax - bx, ay - by);
        if (spread) this.zoom(apart / spread, (ax + bx) / 2, (ay + by) / 2, false);
        spread = apart;
        moved = 99;
      } else {
        moved += Math.hypot(x - fromX, y - fromY);
        if (moved > 4) { stage.classList.add("moving"); this.pan(x - fromX, y - fromY); }
      }
    });
    const release = (event) => {
      if (!fingers.delete(event.pointerId)) return;
      stage.classList.remove("moving");
      if (moved <= 4 && event.type === "pointerup") this.onPick(this.at(...local(event)));
    };
    stage.addEventListener("pointerup", release);
    stage.addEventListener("pointercancel", release);
    stage.addEventListener("pointerleave", () => this.hover(-1));
    stage.addEventListener("wheel", (event) => {
      if (!own(event)) return;
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 18 : 1;
      this.zoom(Math.exp(-event.deltaY * lines * 0.0022), ...local(event), false);
    }, { passive: false });
    stage.addEventListener("dblclick", (event) => { if (own(event)) this.zoom(2, ...local(event)); });
  }

  // Drawing

  resize() {
    const { clientWidth: w, clientHeight: h } = this.stage;
    if (!w || !h) return;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const before = this.before || this.home();
    for (const canvas of [this.points, this.marks]) { canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio); }
    this.view = { ...this.view, k: (this.view.k * this.home().k) / before.k };
    this.before = this.home();
    this.redraw();
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame((now) => {
      this.waiting = 0;
      const { moving } = this;
      this.moving = false;
      if (moving) this.pace(now);
      this.last = now;
      const begin = performance.now();
      this.draw(moving ? this.budget : this.n);
      this.cost = performance.now() - begin;
    });
  }

  // While the map moves, as many points are drawn as keep it moving; all of them once it rests.
  // WebGL draws apart from this thread, so only the time between frames tells how it fares.
  pace(now) {
    const gap = now - this.last;
    const own = this.drawer.kind === "pixels";
    if (own ? this.cost > 14 : gap > 34 && gap < 1000) this.budget = Math.max(FEWEST, Math.floor(Math.min(this.budget, this.n) * 0.7));
    else if (own ? this.cost < 9 : gap < 22) this.budget = Math.ceil(this.budget * 1.15);
    clearTimeout(this.rest);
    if (this.budget < this.n) this.rest = setTimeout(() => this.redraw(), REST);
  }

  draw(most = this.n) {
    const ratio = this.ratio;
    this.drawer.draw({ ...this.view, k: this.view.k * ratio }, this.size() * ratio, most);
    this.drawMarks(this.pen, ratio);
    this.frames++;
    this.onView(this.view);
  }

  drawMarks(pen, ratio) {
    const { clientWidth: w, clientHeight: h } = this.stage;
    const style = getComputedStyle(document.documentElement);
    const ink = (name) => style.getPropertyValue(name).trim();
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, w, h);
    const size = this.size();
    const seen = (px, py) => px > -20 && py > -20 && px < w + 20 && py < h + 20;
    const ring = (row, radius, tone, width) => {
      const [px, py] = this.toPixel(row);
      if (!seen(px, py)) return;
      pen.beginPath();
      pen.arc(px, py, radius, 0, 2 * Math.PI);
      pen.lineWidth = width + 2;
      pen.strokeStyle = ink("--ground");
      pen.stroke();
      pen.lineWidth = width;
      pen.strokeStyle = tone;
      pen.stroke();
    };
    const near = Math.max(5, size / 2 + 2.5);
    for (const { row, kind } of this.marked) ring(row, near, ink(kind === "known" ? "--known" : "--accent"), 1.8);
    if (this.chosen >= 0) ring(this.chosen, near + 4, ink("--accent"), 3);
    if (this.hovered >= 0) ring(this.hovered, near + 1, ink("--ink"), 1.6);
    this.drawNames(pen, ink, seen, near);
  }

  drawNames(pen, ink, seen, near) {
    const wanted = this.chosen >= 0 ? [this.chosen] : [];
    for (const { row } of this.marked.slice(0, 40)) wanted.push(row);
    const close = [];
    for (const row of this.inView()) { close.push(row); if (close.length > 60) break; }
    if (close.length <= 60) wanted.push(...close);
    const taken = [];
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    const done = new Set();
    for (const row of wanted) {
      if (done.has(row)) continue;
      done.add(row);
      const text = this.name(row);
      if (text === undefined) continue;
      const short = text.length > 32 ? `${text.slice(0, 30)}...` : text;
      const [px, py] = this.toPixel(row);
      if (!seen(px, py)) continue;
      pen.font = `${row === this.chosen ? "600 13px" : "12px"} ${ink("--text")}`;
      const beside = px + near + (row === this.chosen ? 11 : 5);
      const box = [beside, py - 8, beside + 2 + pen.measureText(short).width, py + 8];
      if (taken.some((o) => box[0] < o[2] && box[2] > o[0] && box[1] < o[3] && box[3] > o[1])) continue;
      taken.push(box);
      pen.lineWidth = 4;
      pen.strokeStyle = ink("--ground");
      pen.strokeText(short, box[0], py);
      pen.fillStyle = ink("--ink");
      pen.fillText(short, box[0], py);
    }
  }

  // A picture of what is shown.
  picture() {
    this.draw(); // WebGL forgets its picture after each frame
    const canvas = document.createElement("canvas");
    canvas.width = this.points.width;
    canvas.height = this.points.height;
    const pen = canvas.getContext("2d");
    pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--ground").trim();
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(this.points, 0, 0);
    pen.drawImage(this.marks, 0, 0);
    return canvas;
  }
}
