// Two ways to draw many points, with the same face: by WebGL, or by writing pixels where there is none.
// A view is { x, y, k }: the middle of the picture in map units, and pixels a unit.
// Points are drawn in a shuffled order, the same each time: no group lies on top of all others for its names, and
// the first m of them are a fair sample, which is drawn while the map moves on a machine that cannot draw all.

function shuffled(n) {
  const order = new Uint32Array(n);
  let seed = 1;
  for (let i = 0; i < n; i++) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((seed / 4294967296) * (i + 1));
    order[i] = order[j];
    order[j] = i;
  }
  return order;
}

class Points {
  constructor(canvas) {
    this.canvas = canvas;
    this.n = 0;
    this.ground = [255, 255, 255];
  }

  setPlaces(places) {
    this.n = places.length / 2;
    if (!this.order || this.order.length !== this.n) this.order = shuffled(this.n);
    this.places = new Float32Array(places.length);
    this.order.forEach((row, i) => { this.places[2 * i] = places[2 * row]; this.places[2 * i + 1] = places[2 * row + 1]; });
    this.tones = null;
  }

  setTones(tones, ground) {
    const words = new Uint32Array(tones.buffer, tones.byteOffset, tones.length / 4);
    const own = new Uint32Array(words.length);
    if (words.length === this.n) this.order.forEach((row, i) => { own[i] = words[row]; });
    this.tones = new Uint8Array(own.buffer);
    this.ground = ground;
  }

  get ready() { return this.n > 0 && this.tones && this.tones.length === 4 * this.n; }
}

const VERTEX = `
attribute vec2 place; attribute vec4 tone;
uniform vec2 middle; uniform vec2 scale; uniform mediump float size;
varying mediump vec4 shade;
void main() {
  gl_Position = vec4((place - middle) * scale, 0.0, 1.0);
  gl_PointSize = size;
  shade = tone;
}`;
const FRAGMENT = `
precision mediump float;
varying mediump vec4 shade; uniform mediump float size;
void main() {
  float far = length(gl_PointCoord - 0.5) * size;
  float cover = clamp(size * 0.5 - far, 0.0, 1.0);
  if (cover <= 0.0) discard;
  float alpha = shade.a * cover;
  gl_FragColor = vec4(shade.rgb * alpha, alpha);
}`;

function program(gl) {
  const made = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error("WebGL does not take the shaders");
  return made;
}

class WebGLPoints extends Points {
  constructor(canvas, anyhow) {
    super(canvas);
    // WebGL that is computed without a graphics card is slower than pixels: then there is none. Not every
    // browser owns up to it, so the renderer's name is looked at, too.
    const gl = canvas.getContext("webgl", {
      antialias: false, premultipliedAlpha: true, alpha: true, failIfMajorPerformanceCaveat: !anyhow,
    });
    if (!gl) throw new Error("no WebGL");
    const told = gl.getExtension("WEBGL_debug_renderer_info");
    const renderer = told ? String(gl.getParameter(told.UNMASKED_RENDERER_WEBGL)) : "";
    if (!anyhow && /swiftshader|llvmpipe|softpipe|software|basic render/i.test(renderer)) throw new Error("slow WebGL");
    this.kind = "webgl";
    this.gl = gl;
    this.setUp();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.setUp();
      if (this.places) this.fill("place", this.places);
      if (this.tones) this.fill("tone", this.tones);
      if (this.again) this.again();
    });
  }

  setUp() {
    const gl = this.gl;
    this.program = program(gl);
    gl.useProgram(this.program);
    this.at = {};
    for (const name of ["middle", "scale", "size"]) this.at[name] = gl.getUniformLocation(this.program, name);
    this.buffers = {};
    for (const [name, width, kind, normal] of [["place", 2, gl.FLOAT, false], ["tone", 4, gl.UNSIGNED_BYTE, true]]) {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      const where = gl.getAttribLocation(this.program, name);
      gl.enableVertexAttribArray(where);
      gl.vertexAttribPointer(where, width, kind, normal, 0, 0);
      this.buffers[name] = buffer;
    }
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.clearColor(0, 0, 0, 0);
  }

  fill(name, data) {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.buffers[name]);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, data, this.gl.STATIC_DRAW);
  }

  setPlaces(places) { super.setPlaces(places); this.fill("place", this.places); }

  setTones(tones, ground) { super.setTones(tones, ground); this.fill("tone", this.tones); }

  draw(view, size, most = this.n) {
    const { gl, canvas } = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (!this.ready) return;
    gl.uniform2f(this.at.middle, view.x, view.y);
    gl.uniform2f(this.at.scale, (2 * view.k) / canvas.width, (2 * view.k) / canvas.height);
    gl.uniform1f(this.at.size, size);
    gl.drawArrays(gl.POINTS, 0, Math.min(most, this.n));
  }
}

class PixelPoints extends Points {
  constructor(canvas) {
    super(canvas);
    this.kind = "pixels";
    this.context = canvas.getContext("2d", { alpha: false });
  }

  // A disc as offsets in the picture and opacities, once for each size.
  disc(size, width) {
    if (this.stamp && this.stamp.size === size && this.stamp.width === width) return this.stamp;
    const reach = Math.ceil(size / 2);
    const offsets = [];
    const covers = [];
    for (let dy = -reach; dy <= reach; dy++) {
      for (let dx = -reach; dx <= reach; dx++) {
        const cover = Math.min(1, Math.max(0, size / 2 + 0.5 - Math.hypot(dx, dy)));
        if (cover > 0.02) { offsets.push(dy * width + dx); covers.push(Math.round(cover * 255)); }
      }
    }
    this.stamp = { size, width, reach, offsets: Int32Array.from(offsets), covers: Uint8Array.from(covers) };
    return this.stamp;
  }

  draw(view, size, most = this.n) {
    const { width, height } = this.canvas;
    if (!this.image || this.image.width !== width || this.image.height !== height) {
      this.image = this.context.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    const { pixels, places, tones } = this;
    const [gr, gg, gb] = this.ground;
    pixels.fill(((255 << 24) | (gb << 16) | (gg << 8) | gr) >>> 0); // little-endian, as all that run browsers
    if (this.ready) {
      const { reach, offsets, covers } = this.disc(Math.round(size * 2) / 2, width);
      const words = new Uint32Array(tones.buffer);
      const left = width / 2 - view.x * view.k;
      const top = height / 2 + view.y * view.k;
      const [right, bottom] = [width - reach, height - reach];
      const last = Math.min(most, this.n);
      for (let i = 0; i < last; i++) {
        const x = Math.round(left + places[2 * i] * view.k);
        const y = Math.round(top - places[2 * i + 1] * view.k);
        if (x < reach || y < reach || x >= right || y >= bottom) continue;
        const at = y * width + x;
        const tone = words[i];
        const opacity = tone >>> 24;
        const rb = tone & 0xff00ff; // red and blue are blended in one go, as there is room between them
        const g = tone & 0xff00;
        for (let j = 0; j < offsets.length; j++) {
          const a = (opacity * covers[j]) >> 8;
          const b = 256 - a;
          const under = pixels[at + offsets[j]];
          pixels[at + offsets[j]] = (0xff000000
            | (((rb * a + (under & 0xff00ff) * b) >>> 8) & 0xff00ff)
            | (((g * a + (under & 0xff00) * b) >>> 8) & 0xff00)) >>> 0;
        }
      }
    }
    this.context.putImageData(this.image, 0, 0);
  }
}

// `wish` is "pixels", "webgl" (even without a graphics card), or null for what is best here.
export function drawer(canvas, wish) {
  if (wish === "pixels") return new PixelPoints(canvas);
  try {
    return new WebGLPoints(canvas, wish === "webgl");
  } catch {
    // A canvas that gave a WebGL context gives no other: take a fresh one.
    const fresh = canvas.cloneNode();
    canvas.replaceWith(fresh);
    return new PixelPoints(fresh);
  }
}

// Points by cells of a grid, to find the one under a cursor.
export class Cells {
  constructor(places) {
    this.places = places;
    const n = places.length / 2;
    this.side = Math.max(1, Math.min(1024, Math.ceil(Math.sqrt(n / 4))));
    const start = new Int32Array(this.side * this.side + 1);
    const cell = new Int32Array(n);
    for (let i = 0; i < n; i++) {
      cell[i] = this.index(places[2 * i + 1]) * this.side + this.index(places[2 * i]);
      start[cell[i] + 1]++;
    }
    for (let i = 0; i < start.length - 1; i++) start[i + 1] += start[i];
    const next = start.slice();
    this.rows = new Int32Array(n);
    for (let i = 0; i < n; i++) this.rows[next[cell[i]]++] = i;
    this.start = start;
  }

  index(value) { return Math.min(this.side - 1, Math.max(0, Math.floor(((value + 1) / 2) * this.side))); }

  bounds() {
    const { places } = this;
    if (!places.length) return { x0: -1, y0: -1, x1: 1, y1: 1 };
    const box = { x0: 1, y0: 1, x1: -1, y1: -1 };
    for (let i = 0; i < places.length; i += 2) {
      box.x0 = Math.min(box.x0, places[i]);
      box.x1 = Math.max(box.x1, places[i]);
      box.y0 = Math.min(box.y0, places[i + 1]);
      box.y1 = Math.max(box.y1, places[i + 1]);
    }
    return box;
  }

  *within(x0, y0, x1, y1) {
    const { places, side, start, rows } = this;
    for (let cy = this.index(y0); cy <= this.index(y1); cy++) {
      for (let cx = this.index(x0); cx <= this.index(x1); cx++) {
        const cell = cy * side + cx;
        for (let j = start[cell]; j < start[cell + 1]; j++) {
          const i = rows[j];
          const x = places[2 * i];
          const y = places[2 * i + 1];
          if (x >= x0 && x <= x1 && y >= y0 && y <= y1) yield i;
        }
      }
    }
  }

  nearest(x, y, reach, accept = () => true) {
    let best = -1;
    let closest = reach * reach;
    for (const i of this.within(x - reach, y - reach, x + reach, y + reach)) {
      const dx = this.places[2 * i] - x;
      const dy = this.places[2 * i + 1] - y;
      const far = dx * dx + dy * dy;
      if (far <= closest && accept(i, dx, dy)) { closest = far; best = i; }
    }
    return best;
  }
}
