// Materials: three's standard lighting with edges, grids and bands drawn by the fragment shader.

import { Color, DoubleSide, MeshBasicMaterial, MeshStandardMaterial } from "three";

const VARYINGS = "varying vec3 vEdge; varying vec3 vLocal; varying vec3 vAxis; varying vec3 vPlace;";

// The share of a pixel that lies on an edge of the solid; fades where bodies are a few pixels wide.
const EDGE = `
float edgeShare() {
  vec3 width = fwidth(vEdge);
  vec3 near = smoothstep(vec3(0.0), width * 1.35, vEdge);
  float far = smoothstep(0.10, 0.32, max(width.x, max(width.y, width.z)));
  return (1.0 - min(near.x, min(near.y, near.z))) * (1.0 - far);
}`;

// The share of a pixel that lies on a line of the grid with this spacing (m).
const GRID = `
float gridShare(vec2 at, float spacing, float width) {
  vec2 cell = at / spacing;
  vec2 pixel = max(fwidth(cell), 1e-6);
  vec2 near = abs(fract(cell - 0.5) - 0.5) / pixel;
  float line = 1.0 - smoothstep(width * 0.5 - 0.5, width * 0.5 + 0.5, min(near.x, near.y));
  return line * (1.0 - smoothstep(0.15, 0.5, max(pixel.x, pixel.y)));
}`;

/** Adds the varyings, `declarations` and `code` after the colour of a fragment is known. */
function extend(material, key, declarations, code, uniforms = {}) {
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", `#include <common>\nattribute vec3 edge;\n${VARYINGS}`)
      .replace("#include <project_vertex>", `#include <project_vertex>
        vEdge = edge;
        vAxis = normal;
        vLocal = position;
        vec4 place = vec4(transformed, 1.0);
        #ifdef USE_INSTANCING
          vLocal *= vec3(length(instanceMatrix[0].xyz), length(instanceMatrix[1].xyz), length(instanceMatrix[2].xyz));
          place = instanceMatrix * place;
        #endif
        vPlace = (modelMatrix * place).xyz;`);
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>\n${VARYINGS}\n${EDGE}\n${GRID}\n${declarations}`)
      .replace("#include <color_fragment>", `#include <color_fragment>\n${code}`);
  };
  material.customProgramCacheKey = () => key;
  return material;
}

/** Of bodies; round ones wear a band and poles, so that one sees them turn. */
export function bodyMaterial(round) {
  const band = `
    float across = normalize(vLocal).x;
    float soft = fwidth(across) + 0.001;
    float band = 1.0 - smoothstep(0.16 - soft, 0.16 + soft, abs(across));
    float pole = smoothstep(0.93 - soft, 0.93 + soft, abs(across));
    diffuseColor.rgb = mix(diffuseColor.rgb, mix(diffuseColor.rgb, vec3(0.92), 0.62), max(band, pole));`;
  const edges = "diffuseColor.rgb *= 1.0 - 0.52 * edgeShare();";
  const material = new MeshStandardMaterial({ roughness: 0.62, metalness: 0 });
  return extend(material, round ? "round" : "solid", "", round ? band : edges);
}

/** Of what stands in front of the scene: outlines and a hint of faces. */
export function glassMaterial(color, faces, lines, key) {
  const material = new MeshBasicMaterial({ color, transparent: true, depthWrite: false, side: DoubleSide });
  return extend(material, `glass ${key}`, "", `diffuseColor.a = mix(${faces.toFixed(3)}, ${lines.toFixed(3)}, edgeShare());`);
}

/** Uniforms that floors and large fixed bodies share. */
export function groundUniforms() {
  return {
    floorColor: { value: new Color() },
    lineColor: { value: new Color() },
    gridSpacing: { value: 1 },
    fadeCenter: { value: [0, 0, 0] },
    fadeFrom: { value: 1 },
    fadeTo: { value: 2 },
  };
}

const GROUND = `
uniform vec3 floorColor, lineColor, fadeCenter;
uniform float gridSpacing, fadeFrom, fadeTo;
vec3 ground(vec2 at) {
  float line = max(gridShare(at, gridSpacing, 1.0) * 0.5, gridShare(at, gridSpacing * 5.0, 1.4));
  return mix(floorColor, lineColor, line);
}
float faded() { return 1.0 - smoothstep(fadeFrom, fadeTo, distance(vPlace, fadeCenter)); }`;

/** Of large fixed boxes: a grid on each face. */
export function groundBoxMaterial(uniforms) {
  const material = new MeshStandardMaterial({ roughness: 0.9, transparent: true });
  return extend(material, "ground box", GROUND, `
    vec3 side = abs(vAxis);
    vec2 at = side.y > max(side.x, side.z) ? vLocal.xz : side.x > side.z ? vLocal.yz : vLocal.xy;
    diffuseColor.rgb = ground(at) * (1.0 - 0.4 * edgeShare());
    diffuseColor.a = faded();`, uniforms);
}

/** Of a half-space's surface, seen from outside; its grid counts from `origin` along two axes. */
export function floorMaterial(uniforms, origin, axis1, axis2, alpha) {
  const own = { origin: { value: origin }, axis1: { value: axis1 }, axis2: { value: axis2 }, most: { value: alpha } };
  const material = new MeshStandardMaterial({ roughness: 0.9, transparent: true });
  return extend(material, "floor", `${GROUND}\nuniform vec3 origin, axis1, axis2;\nuniform float most;`, `
    vec3 from = vPlace - origin;
    diffuseColor.rgb = ground(vec2(dot(from, axis1), dot(from, axis2)));
    diffuseColor.a = most * faded();`, { ...uniforms, ...own });
}
