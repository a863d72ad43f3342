// GLSL. Colours are linear until `shade` turns them to sRGB at the very end.

const INSTANCE = `
layout(location = 4) in vec4 i_place;    // position, cap length
layout(location = 5) in vec4 i_rotation;
layout(location = 6) in vec4 i_scale;    // scale, pattern
layout(location = 7) in vec4 i_color;    // colour, highlight
vec3 turn(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }
`;

const LIGHT = `
uniform vec3 u_eye, u_up, u_sun, u_sun_color, u_sky, u_ground;
uniform highp sampler2DShadow u_shadow;
uniform mat4 u_light;
uniform float u_texel, u_shadow_bias;
uniform highp sampler2DShadow u_above;
uniform mat4 u_above_light;
uniform float u_above_radius, u_above_offset;

float turn_of_pixel() {
  return 6.2831853 * fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
}

// Share of the sky that is open: as seen from straight above through a wide disc.
float open_sky(vec3 world, vec3 normal) {
  vec4 p = u_above_light * vec4(world + normal * u_above_offset, 1.0);
  vec3 c = p.xyz * 0.5 + 0.5;
  vec2 border = smoothstep(vec2(0.5), vec2(0.46), abs(c.xy - 0.5));
  float start = turn_of_pixel();
  float sum = 0.0;
  for (int i = 0; i < 16; i++) {
    float r = sqrt((float(i) + 0.5) / 16.0) * u_above_radius;
    float a = start + float(i) * 2.3999632;
    sum += texture(u_above, vec3(c.xy + r * vec2(cos(a), sin(a)), c.z - 0.002));
  }
  return mix(1.0, sum / 16.0, border.x * border.y * step(c.z, 1.0));
}

// A disc of depth comparisons, turned from pixel to pixel so that banding becomes fine noise.
float lit(vec3 world, vec3 normal) {
  float grazing = 1.0 - clamp(dot(normal, u_sun), 0.0, 1.0);
  vec4 p = u_light * vec4(world + normal * u_shadow_bias * (0.6 + 2.0 * grazing), 1.0);
  vec3 c = p.xyz * 0.5 + 0.5;
  vec2 border = smoothstep(vec2(0.5), vec2(0.46), abs(c.xy - 0.5));
  float weight = border.x * border.y * step(c.z, 1.0);
  if (weight <= 0.0) return 1.0;
  float start = turn_of_pixel();
  float sum = 0.0;
  for (int i = 0; i < 16; i++) {
    float r = sqrt((float(i) + 0.5) / 16.0) * 2.6 * u_texel;
    float a = start + float(i) * 2.3999632;
    sum += texture(u_shadow, vec3(c.xy + r * vec2(cos(a), sin(a)), c.z - 0.0006));
  }
  return mix(1.0, sum / 16.0, weight);
}

vec3 shade(vec3 albedo, vec3 world, vec3 normal, float gloss) {
  vec3 view = normalize(u_eye - world);
  float sun = max(dot(normal, u_sun), 0.0);
  float direct = sun > 0.0 ? sun * lit(world, normal) : 0.0;
  vec3 ambient = mix(u_ground, u_sky, 0.5 + 0.5 * dot(normal, u_up)) * mix(0.5, 1.0, open_sky(world, normal));
  float rim = pow(1.0 - max(dot(normal, view), 0.0), 4.0);
  float shine = pow(max(dot(normal, normalize(view + u_sun)), 0.0), 48.0) * gloss * direct;
  return albedo * (ambient + u_sun_color * direct) + u_sky * rim * 0.10 * gloss + u_sun_color * shine * 0.16;
}

vec3 display(vec3 c) {
  c = c / (1.0 + 0.22 * c);
  return pow(clamp(c, 0.0, 1.0), vec3(1.0 / 2.2));
}

// Share of a pixel that lies on a line of the grid with this spacing (m).
float grid(vec2 at, float spacing, float width) {
  vec2 cell = at / spacing;
  vec2 pixel = max(fwidth(cell), 1e-6);
  vec2 near = abs(fract(cell - 0.5) - 0.5) / pixel;
  float line = 1.0 - smoothstep(width * 0.5 - 0.5, width * 0.5 + 0.5, min(near.x, near.y));
  return line * (1.0 - smoothstep(0.15, 0.5, max(pixel.x, pixel.y)));
}
`;

const BODY_VERTEX = `#version 300 es
layout(location = 0) in vec3 a_position;
layout(location = 1) in vec3 a_normal;
layout(location = 2) in vec3 a_edge;
layout(location = 3) in float a_cap;
${INSTANCE}
uniform mat4 u_view;
out vec3 v_world, v_normal, v_edge, v_local, v_axis;
flat out vec4 v_color;
flat out float v_pattern;
void main() {
  vec3 local = a_position * i_scale.xyz + vec3(0.0, a_cap * i_place.w, 0.0);
  v_world = turn(i_rotation, local) + i_place.xyz;
  v_normal = turn(i_rotation, normalize(a_normal / i_scale.xyz));
  v_edge = a_edge;
  v_axis = a_normal;
  v_local = i_scale.w > 1.5 ? local : a_position;
  v_color = i_color;
  v_pattern = i_scale.w;
  gl_Position = u_view * vec4(v_world, 1.0);
}`;

const BODY_FRAGMENT = `#version 300 es
precision highp float;
${LIGHT}
in vec3 v_world, v_normal, v_edge, v_local, v_axis;
flat in vec4 v_color;
flat in float v_pattern;
uniform vec3 u_center, u_floor, u_line;
uniform float u_grid, u_horizon_distance;
out vec4 color;
void main() {
  vec3 normal = normalize(v_normal);
  vec3 albedo = v_color.rgb;
  float fade = 1.0;
  // Round bodies wear a band and a pole, so that one sees them turn.
  if (v_pattern > 0.5 && v_pattern < 1.5) {
    float soft = fwidth(v_local.x) + 0.001;
    float band = 1.0 - smoothstep(0.16 - soft, 0.16 + soft, abs(v_local.x));
    float pole = smoothstep(0.93 - soft, 0.93 + soft, abs(v_local.x));
    albedo = mix(albedo, mix(albedo, vec3(0.92), 0.62), max(band, pole));
  }
  // Large fixed bodies carry a grid on their faces.
  if (v_pattern > 1.5) {
    vec3 a = abs(v_axis);
    vec2 at = a.y > max(a.x, a.z) ? v_local.xz : a.x > a.z ? v_local.yz : v_local.xy;
    float line = max(grid(at, u_grid, 1.0) * 0.5, grid(at, u_grid * 5.0, 1.4));
    albedo = mix(u_floor, u_line, line);
    fade = 1.0 - smoothstep(0.2, 0.98, distance(v_world, u_center) / u_horizon_distance);
  }
  vec3 width = fwidth(v_edge) * 1.25;
  vec3 near = smoothstep(vec3(0.0), width, v_edge);
  float edge = 1.0 - min(near.x, min(near.y, near.z));
  albedo = mix(albedo, albedo * 0.45, edge * 0.8);
  vec3 c = shade(albedo, v_world, normal, 1.0);
  c = mix(c, vec3(1.0, 0.72, 0.2), v_color.a * (0.25 + 0.5 * edge));
  color = vec4(display(c), fade);
}`;

// Fixed bodies between the eye and what moves: outlines and a hint of their faces.
const GHOST_FRAGMENT = `#version 300 es
precision highp float;
in vec3 v_world, v_normal, v_edge, v_local, v_axis;
flat in vec4 v_color;
flat in float v_pattern;
uniform vec3 u_line;
out vec4 color;
void main() {
  vec3 near = smoothstep(vec3(0.0), fwidth(v_edge) * 1.25, v_edge);
  float edge = 1.0 - min(near.x, min(near.y, near.z));
  color = vec4(pow(u_line, vec3(1.0 / 2.2)), 0.05 + 0.55 * edge);
}`;

const SHADOW_VERTEX = `#version 300 es
layout(location = 0) in vec3 a_position;
layout(location = 3) in float a_cap;
${INSTANCE}
uniform mat4 u_view;
void main() {
  vec3 local = a_position * i_scale.xyz + vec3(0.0, a_cap * i_place.w, 0.0);
  gl_Position = u_view * vec4(turn(i_rotation, local) + i_place.xyz, 1.0);
}`;

const SHADOW_FRAGMENT = `#version 300 es
precision mediump float;
void main() {}`;

// Contact points and arrows: lit from the camera, seen through bodies.
const MARK_FRAGMENT = `#version 300 es
precision highp float;
in vec3 v_world, v_normal, v_edge, v_local;
flat in vec4 v_color;
flat in float v_pattern;
uniform vec3 u_eye;
uniform float u_alpha;
out vec4 color;
void main() {
  float facing = max(dot(normalize(v_normal), normalize(u_eye - v_world)), 0.0);
  color = vec4(pow(v_color.rgb * (0.55 + 0.5 * facing), vec3(1.0 / 2.2)), u_alpha);
}`;

const FLOOR_VERTEX = `#version 300 es
layout(location = 0) in vec2 a_corner;
uniform mat4 u_view;
uniform vec3 u_origin, u_axis1, u_axis2;
uniform float u_size;
out vec3 v_world;
out vec2 v_at;
void main() {
  v_at = a_corner * u_size;
  v_world = u_origin + u_axis1 * v_at.x + u_axis2 * v_at.y;
  gl_Position = u_view * vec4(v_world, 1.0);
}`;

const FLOOR_FRAGMENT = `#version 300 es
precision highp float;
${LIGHT}
in vec3 v_world;
in vec2 v_at;
uniform vec3 u_normal, u_albedo, u_line;
uniform float u_size, u_grid, u_solid;
uniform vec2 u_shift;
out vec4 color;
void main() {
  vec2 at = v_at + u_shift;
  float line = max(grid(at, u_grid, 1.0) * 0.45, grid(at, u_grid * 5.0, 1.5));
  float fade = 1.0 - smoothstep(0.2, 0.98, length(v_at) / u_size);
  if (u_solid < 0.5) {
    color = vec4(display(u_line), (0.05 + 0.5 * line) * fade * 0.6);
    return;
  }
  vec3 c = shade(mix(u_albedo, u_line, line), v_world, u_normal, 0.0);
  color = vec4(display(c), fade);
}`;

const SKY_VERTEX = `#version 300 es
layout(location = 0) in vec2 a_corner;
out float v_height;
void main() {
  v_height = a_corner.y * 0.5 + 0.5;
  gl_Position = vec4(a_corner, 0.0, 1.0);
}`;

const SKY_FRAGMENT = `#version 300 es
precision highp float;
in float v_height;
uniform vec3 u_horizon, u_zenith;
out vec4 color;
void main() { color = vec4(mix(u_horizon, u_zenith, smoothstep(0.35, 1.0, v_height)), 1.0); }`;
