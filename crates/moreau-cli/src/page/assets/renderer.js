// Draws instanced meshes with one sun, its shadow map, a sky and grid floors.

const INSTANCE_FLOATS = 16;

const THEMES = {
  light: {
    horizon: [0.955, 0.962, 0.972], zenith: [0.78, 0.855, 0.94],
    floor: [0.62, 0.645, 0.68], line: [0.36, 0.41, 0.48],
    sun: [1.30, 1.22, 1.08], sky: [0.56, 0.62, 0.72], ground: [0.40, 0.37, 0.35],
  },
  dark: {
    horizon: [0.150, 0.168, 0.200], zenith: [0.070, 0.080, 0.105],
    floor: [0.030, 0.034, 0.041], line: [0.085, 0.100, 0.125],
    sun: [1.12, 1.04, 0.92], sky: [0.36, 0.42, 0.52], ground: [0.17, 0.165, 0.17],
  },
};

class Renderer {
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: false, preserveDrawingBuffer: true });
    if (!gl) throw new Error("this browser offers no WebGL 2");
    this.canvas = canvas;
    this.gl = gl;
    this.programs = {
      body: this.program(BODY_VERTEX, BODY_FRAGMENT),
      shadow: this.program(SHADOW_VERTEX, SHADOW_FRAGMENT),
      ghost: this.program(BODY_VERTEX, GHOST_FRAGMENT),
      mark: this.program(BODY_VERTEX, MARK_FRAGMENT),
      floor: this.program(FLOOR_VERTEX, FLOOR_FRAGMENT),
      sky: this.program(SKY_VERTEX, SKY_FRAGMENT),
    };
    this.quad = this.flatMesh([-1, -1, 1, -1, 1, 1, -1, -1, 1, 1, -1, 1]);
    this.shadow = this.shadowMap(Math.min(4096, gl.getParameter(gl.MAX_TEXTURE_SIZE)));
    this.above = this.shadowMap(1024);
  }

  program(vertex, fragment) {
    const gl = this.gl;
    const program = gl.createProgram();
    for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    const uniforms = {};
    const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
    for (let i = 0; i < count; i++) {
      const { name, type } = gl.getActiveUniform(program, i);
      uniforms[name] = { at: gl.getUniformLocation(program, name), type };
    }
    return { program, uniforms };
  }

  use({ program, uniforms }, values) {
    const gl = this.gl;
    gl.useProgram(program);
    for (const [name, value] of Object.entries(values)) {
      const uniform = uniforms["u_" + name];
      if (!uniform) continue;
      if (uniform.type === gl.FLOAT_MAT4) gl.uniformMatrix4fv(uniform.at, false, value);
      else if (uniform.type === gl.FLOAT_VEC3) gl.uniform3fv(uniform.at, value);
      else if (uniform.type === gl.FLOAT_VEC2) gl.uniform2fv(uniform.at, value);
      else if (uniform.type === gl.FLOAT) gl.uniform1f(uniform.at, value);
      else gl.uniform1i(uniform.at, value);
    }
  }

  flatMesh(corners) {
    const gl = this.gl;
    const vao = gl.createVertexArray();
    gl.bindVertexArray(vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(corners), gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    return vao;
  }

  /** A mesh (see `CORNER`) that is drawn once for each of up to `capacity` instances. */
  batch(corners, capacity) {
    const gl = this.gl;
    const vao = gl.createVertexArray();
    gl.bindVertexArray(vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(corners), gl.STATIC_DRAW);
    [[0, 3, 0], [1, 3, 3], [2, 3, 6], [3, 1, 9]].forEach(([slot, size, offset]) => {
      gl.enableVertexAttribArray(slot);
      gl.vertexAttribPointer(slot, size, gl.FLOAT, false, CORNER * 4, offset * 4);
    });
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    for (let k = 0; k < 4; k++) {
      gl.enableVertexAttribArray(4 + k);
      gl.vertexAttribPointer(4 + k, 4, gl.FLOAT, false, INSTANCE_FLOATS * 4, k * 16);
      gl.vertexAttribDivisor(4 + k, 1);
    }
    const data = new Float32Array(capacity * INSTANCE_FLOATS);
    return { vao, buffer, data, corners: corners.length / CORNER, count: 0 };
  }

  upload(batch) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, batch.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, batch.data.subarray(0, batch.count * INSTANCE_FLOATS), gl.DYNAMIC_DRAW);
  }

  drawBatches(batches) {
    for (const batch of batches) {
      if (batch.count === 0) continue;
      this.gl.bindVertexArray(batch.vao);
      this.gl.drawArraysInstanced(this.gl.TRIANGLES, 0, batch.corners, batch.count);
    }
  }

  shadowMap(size) {
    const gl = this.gl;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, size, size);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL);
    const target = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
    gl.drawBuffers([gl.NONE]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return { texture, target, size };
  }

  /** `scene`: batches, marks, floors, center, radius, up, grid. `camera`: eye, matrix. */
  draw(scene, camera, theme) {
    const gl = this.gl;
    const colors = THEMES[theme];
    const { up, center, radius } = scene;
    const side = perpendicular(up);
    // From the left behind the first view, so that both visible sides of a box are lit unlike.
    const sun = normalize(add(up, add(scale(side, 0.78), scale(cross(up, side), 0.12))));
    const reach = radius * 1.6;
    const from = (direction) => multiply(
      orthographic(-reach, reach, -reach, reach, 0, 4 * reach),
      lookAt(add(center, scale(direction, 2 * reach)), center, side),
    );
    const [light, aboveLight] = [from(sun), from(up)];
    gl.disable(gl.BLEND);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.CULL_FACE);
    for (const [map, view] of [[this.shadow, light], [this.above, aboveLight]]) {
      gl.bindFramebuffer(gl.FRAMEBUFFER, map.target);
      gl.viewport(0, 0, map.size, map.size);
      gl.clear(gl.DEPTH_BUFFER_BIT);
      this.use(this.programs.shadow, { view });
      this.drawBatches(scene.batches);
    }

    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clear(gl.DEPTH_BUFFER_BIT | gl.COLOR_BUFFER_BIT);
    gl.disable(gl.DEPTH_TEST);
    this.use(this.programs.sky, colors);
    gl.bindVertexArray(this.quad);
    gl.drawArrays(gl.TRIANGLES, 0, 6);
    gl.enable(gl.DEPTH_TEST);

    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.shadow.texture);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.above.texture);
    // The open sky is felt over about the size of a body.
    const felt = clamp(scene.bodySize * 1.1, reach * 0.006, reach * 0.12);
    const lighting = {
      view: camera.matrix, eye: camera.eye, up, sun, light, shadow: 0,
      sun_color: colors.sun, sky: colors.sky, ground: colors.ground,
      texel: 1 / this.shadow.size, shadow_bias: (2 * reach * 1.5) / this.shadow.size, grid: scene.grid,
      above: 1, above_light: aboveLight, above_radius: felt / (2 * reach), above_offset: felt * 0.5,
      center, floor: colors.floor, line: colors.line, horizon_distance: this.horizonDistance(scene, camera),
    };
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    this.use(this.programs.body, lighting);
    this.drawBatches(scene.batches);
    gl.disable(gl.BLEND);
    this.floors(scene, camera, lighting, colors);
    this.ghosts(scene, camera, colors);
    this.marks(scene, camera);
  }

  /** Where the ground has faded into the sky, m. */
  horizonDistance(scene, camera) {
    return Math.max(scene.radius * 14, camera.distance * 5);
  }

  ghosts(scene, camera, colors) {
    const gl = this.gl;
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.disable(gl.CULL_FACE);
    gl.depthMask(false);
    this.use(this.programs.ghost, { view: camera.matrix, line: colors.line });
    this.drawBatches(scene.ghosts);
    gl.depthMask(true);
    gl.enable(gl.CULL_FACE);
    gl.disable(gl.BLEND);
  }

  floors(scene, camera, lighting, colors) {
    const gl = this.gl;
    gl.disable(gl.CULL_FACE);
    gl.bindVertexArray(this.quad);
    const ordered = [...scene.floors].sort((a, b) => b.solid - a.solid);
    for (const floor of ordered) {
      // A plane seen from inside its solid would hide the scene.
      if (dot(sub(camera.eye, floor.origin), floor.normal) <= 0) continue;
      const size = floor.solid ? lighting.horizon_distance : scene.radius * 2.2;
      const above = dot(sub(scene.center, floor.origin), floor.normal);
      const origin = sub(scene.center, scale(floor.normal, above));
      const along = sub(origin, floor.origin);
      this.use(this.programs.floor, {
        ...lighting, origin, axis1: floor.axis1, axis2: floor.axis2, normal: floor.normal, size,
        shift: [dot(along, floor.axis1), dot(along, floor.axis2)],
        albedo: colors.floor, line: colors.line, horizon: colors.horizon, solid: floor.solid ? 1 : 0,
      });
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
      gl.depthMask(floor.solid);
      gl.drawArrays(gl.TRIANGLES, 0, 6);
      gl.disable(gl.BLEND);
      gl.depthMask(true);
    }
    gl.enable(gl.CULL_FACE);
  }

  /** Marks show through the bodies faintly and in full where nothing is in front. */
  marks(scene, camera) {
    const gl = this.gl;
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    for (const [hidden, alpha] of [[true, 0.3], [false, 1]]) {
      if (hidden) gl.disable(gl.DEPTH_TEST);
      else gl.enable(gl.DEPTH_TEST);
      this.use(this.programs.mark, { view: camera.matrix, eye: camera.eye, alpha });
      this.drawBatches(scene.marks);
    }
    gl.disable(gl.BLEND);
  }
}
