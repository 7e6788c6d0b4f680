/**
 * Runs in the browser: how many texts can be seen, and those with a contrast below 4.5, by WCAG's own
 * arithmetic; without what is switched off. https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
 */
export const WEAK_CONTRASTS = `(() => {
  const rgb = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const [lr, lg, lb] = [r, g, b].map((part) => {
      const s = part / 255;
      return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * lr + 0.7152 * lg + 0.0722 * lb;
  };
  const background = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, alpha = 1] = rgb(getComputedStyle(at).backgroundColor);
      if (alpha === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const found = { texts: 0, weak: [] };
  for (const element of document.body.querySelectorAll("*")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const isSeen = element.checkVisibility() && element.getClientRects().length > 0;
    if (!own || !isSeen || element.matches("script, style, option, :disabled")) continue;
    const { color } = getComputedStyle(element);
    const [dark, light] = [luminance(rgb(color)), luminance(background(element))].toSorted((a, b) => a - b);
    const ratio = (light + 0.05) / (dark + 0.05);
    found.texts += 1;
    if (ratio < 4.5) found.weak.push(element.textContent.slice(0, 40) + ": " + ratio.toFixed(2));
  }
  return found;
})()`;
