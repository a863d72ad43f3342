// The recording: a JSON header and one deflated block of numbers, both inside the page.
//
//   series    f64, one row of `series_columns` numbers a step (the state before the first included)
//   paths     f32, per moving body: smallest x, y, z, then the metres of one unit in x, y, z
//   poses     u16, per shown step: x, y, z of all moving bodies in units of their paths, then
//             qx, qy, qz, qw in units of 1/32767; each number as the difference to the shown step
//             before, all low bytes first, then all high bytes
//   counts    u32, contact points of each contact step
//   contacts  per contact step: x, y, z (u16 in `contact_box`, low bytes first), octahedral normal
//             (two i8), square root of the impulse (u16 of `impulse_max`)

async function loadRecording() {
  const meta = JSON.parse(document.getElementById("meta").textContent);
  const text = atob(document.getElementById("data").textContent.trim());
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const bytes = await new Response(stream).arrayBuffer();
  const section = (name) => bytes.slice(...meta.sections[name]);
  return {
    meta,
    series: unpackSeries(meta, new Float64Array(section("series"))),
    poses: unpackPoses(meta, new Float32Array(section("paths")), new Uint8Array(section("poses"))),
    contacts: unpackContacts(
      meta,
      new Uint32Array(section("counts")),
      new Uint8Array(section("contacts")),
    ),
  };
}

function unpackSeries(meta, numbers) {
  const columns = {};
  const width = meta.series_columns.length;
  meta.series_columns.forEach((name, c) => {
    columns[name] = Float64Array.from({ length: numbers.length / width }, (_, r) => numbers[r * width + c]);
  });
  return columns;
}

function unpackPoses(meta, paths, bytes) {
  const moving = meta.bodies.map((body, i) => (body.moves ? i : -1)).filter((i) => i >= 0);
  const n = moving.length;
  const frames = meta.frame_steps.length;
  const width = n * 7;
  const words = new Uint16Array(frames * width);
  for (let f = 0; f < frames; f++) {
    const low = f * width * 2;
    const at = f * width;
    for (let i = 0; i < width; i++) {
      const difference = bytes[low + i] | (bytes[low + width + i] << 8);
      words[at + i] = f === 0 ? difference : words[at - width + i] + difference;
    }
  }
  const signed = new Int16Array(words.buffer);
  // Fills `out` (7 numbers a body) with the poses between the shown steps `f` and `f + 1`.
  const read = (f, t, out) => {
    const g = Math.min(f + 1, frames - 1);
    for (let k = 0; k < n; k++) {
      const o = moving[k] * 7;
      for (let c = 0; c < 3; c++) {
        const a = words[f * width + c * n + k];
        const b = words[g * width + c * n + k];
        out[o + c] = paths[k * 6 + c] + mix(a, b, t) * paths[k * 6 + 3 + c];
      }
      let norm = 0;
      for (let c = 3; c < 7; c++) {
        const q = mix(signed[f * width + c * n + k], signed[g * width + c * n + k], t);
        out[o + c] = q;
        norm += q * q;
      }
      norm = 1 / (Math.sqrt(norm) || 1);
      for (let c = 3; c < 7; c++) out[o + c] *= norm;
    }
  };
  const fixed = new Float32Array(meta.bodies.length * 7);
  meta.bodies.forEach((body, i) => fixed.set(body.pose, i * 7));
  return { moving, frames, read, fixed };
}

function unpackContacts(meta, counts, bytes) {
  const starts = [0];
  for (const count of counts) starts.push(starts[starts.length - 1] + count);
  const box = meta.contact_box;
  // The points of contact step `k`: position, normal and normal impulse (N s).
  const read = (k) => {
    const count = counts[k];
    const base = starts[k] * 10;
    const points = [];
    const word = (column, i) =>
      bytes[base + column * count + i] | (bytes[base + (column + 1) * count + i] << 8);
    for (let i = 0; i < count; i++) {
      const position = [0, 1, 2].map((c) => box[c] + (word(2 * c, i) / 65535) * box[3 + c]);
      const u = (bytes[base + 6 * count + i] << 24 >> 24) / 127;
      const v = (bytes[base + 7 * count + i] << 24 >> 24) / 127;
      const root = word(8, i) / 65535;
      points.push({ position, normal: octahedral(u, v), impulse: root * root * meta.impulse_max });
    }
    return points;
  };
  return { counts, read };
}

/** The unit vector of a point (u, v) of the unfolded octahedron. */
function octahedral(u, v) {
  const y = 1 - Math.abs(u) - Math.abs(v);
  if (y >= 0) return normalize([u, y, v]);
  const fold = (a, b) => (1 - Math.abs(b)) * (a < 0 ? -1 : 1);
  return normalize([fold(u, v), y, fold(v, u)]);
}

/** The index of the last entry of the ascending list `steps` that is not beyond `step`. */
function lastNotBeyond(steps, step) {
  let low = 0;
  let high = steps.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (steps[middle] <= step) low = middle;
    else high = middle - 1;
  }
  return low;
}
