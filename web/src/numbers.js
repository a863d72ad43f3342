// Numbers as text.

const state = { digits: false };

/** Whether all digits are shown. */
export const showsAllDigits = () => state.digits;
export function showAllDigits(on) {
  state.digits = on;
}

/** The shortest text that stands for exactly this number. */
export const exact = (x) => (Number.isFinite(x) ? String(x) : "–");

/** With five significant digits; with all of them where the reader asked for that. */
export function short(x, digits = 5) {
  if (!Number.isFinite(x)) return "–";
  if (state.digits) return exact(x);
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-3) return x.toExponential(digits - 2).replace(/\.?0*e\+?/, "e");
  return Number.isInteger(x) ? String(x) : String(Number(x.toPrecision(digits)));
}

/** An element that shows a number, and holds all of its digits in `data-value` and as its title. */
export function numberElement(tag, x, unit = "", digits = 5) {
  const element = document.createElement(tag);
  element.textContent = short(x, digits) + (unit && Number.isFinite(x) ? ` ${unit}` : "");
  element.title = exact(x) + (unit ? ` ${unit}` : "");
  element.dataset.value = exact(x);
  return element;
}
