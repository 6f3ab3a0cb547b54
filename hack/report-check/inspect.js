function (width) {
  // What of the page a person on this view would trip over. Contrast is WCAG 2.2's (1.4.3): relative luminance of
  // text against what lies behind it, at least 4.5, or 3 for large text.
  const problems = [];
  const root = document.documentElement;
  if (root.scrollWidth > width) {
    const wide = [...document.body.querySelectorAll("*")]
      .filter((e) => e.getBoundingClientRect().right > width + 1 && !scrolls(e.parentElement))
      .map(called);
    problems.push(`it scrolls sideways: ${root.scrollWidth} px in ${width} px, because of ${wide.slice(0, 3).join(", ") || "its margins"}`);
  }
  if (!document.title.trim()) problems.push("it has no title");
  if (!root.lang) problems.push("it does not say its language (html lang)");
  const headings = [...document.querySelectorAll("h1")];
  if (headings.length !== 1) problems.push(`it has ${headings.length} h1 headings, not one`);
  const pictures = [...document.querySelectorAll("img, svg, canvas, [role=img]")].filter((e) => shown(e) && !e.closest("[aria-hidden=true]") && !e.parentElement.closest("svg, [role=img]"));
  for (const p of pictures) if (!words(p)) problems.push(`a picture has no words: ${called(p)}`);
  for (const t of document.querySelectorAll("table")) if (shown(t) && !t.querySelector("th")) problems.push(`a table has no header cells: ${called(t)}`);
  // A picture shrinks with the page, and its text with it: less than 9 CSS pixels is not to be read on a phone. Paper has dots enough.
  const smallest = 9;
  if (!matchMedia("print").matches) {
    const small = [...document.querySelectorAll("svg text")].filter(shown).map((e) => parseFloat(getComputedStyle(e).fontSize) * (e.getScreenCTM()?.d ?? 1));
    const least = Math.min(...small);
    if (least < smallest) problems.push(`text in a picture is ${least.toFixed(1)} px high, less than ${smallest}`);
  }
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) problems.push(`two elements have the id ${id}`);

  let contrast = 21;
  const bad = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n = walker.nextNode(); n; n = walker.nextNode()) {
    const e = n.parentElement;
    if (!n.textContent.trim() || !shown(e) || e.closest("script, style, title, desc, defs, metadata, noscript")) continue;
    const style = getComputedStyle(e);
    const own = e instanceof SVGElement ? style.fill : style.color;
    const ink = color(own);
    if (!ink) continue;
    ink.a *= opacity(e);
    if (ink.a === 0) continue;
    const behind = background(e);
    const ratio = compare(over(ink, behind), behind);
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && parseInt(style.fontWeight) >= 700) ? 3 : 4.5;
    contrast = Math.min(contrast, ratio);
    if (ratio < least) {
      const key = `${called(e)}: ${own} on rgb(${[behind.r, behind.g, behind.b].map(Math.round)}) is ${ratio.toFixed(2)}, less than ${least}`;
      if (!bad.has(key)) bad.set(key, n.textContent.trim().slice(0, 40));
    }
  }
  for (const [key, text] of [...bad].slice(0, 8)) problems.push(`hard to read: "${text}" (${key})`);
  if (bad.size > 8) problems.push(`hard to read: ${bad.size - 8} more kinds of text`);
  return { width: root.scrollWidth, height: root.scrollHeight, pictures: pictures.length, contrast, problems };

  function called(e) {
    const name = typeof e.className === "string" ? e.className : e.className?.baseVal ?? "";
    return e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + (name ? "." + name.trim().split(/\s+/).join(".") : "");
  }
  function scrolls(e) {
    for (; e && e !== document.body; e = e.parentElement) if (/auto|scroll|hidden|clip/.test(getComputedStyle(e).overflowX)) return true;
    return false;
  }
  function shown(e) {
    const s = getComputedStyle(e);
    return s.visibility !== "hidden" && s.display !== "none" && e.getClientRects().length > 0;
  }
  function words(e) {
    const labelled = (e.getAttribute("aria-labelledby") ?? "").split(/\s+/).map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
    return (e.getAttribute("alt") ?? e.getAttribute("aria-label") ?? "").trim() || labelled.trim() || e.querySelector?.(":scope > title")?.textContent.trim();
  }
  function opacity(e) {
    let o = 1;
    for (; e; e = e.parentElement) o *= parseFloat(getComputedStyle(e).opacity);
    return o;
  }
  function color(text) {
    const m = text.match(/rgba?\(([^)]+)\)/);
    if (!m) return null; // none, currentColor of a gradient, another colour space
    const [r, g, b, a = 1] = m[1].split(/[ ,/]+/).map(Number);
    return { r, g, b, a };
  }
  // What lies behind an element: its ancestors' backgrounds, and within a picture the last rectangle drawn before it
  // that covers it.
  function background(e) {
    const layers = [];
    const box = e.getBoundingClientRect();
    const svg = e.closest("svg");
    if (svg) {
      for (const r of svg.querySelectorAll("rect, path")) {
        if (!(r.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING)) continue;
        const b = r.getBoundingClientRect();
        const fill = color(getComputedStyle(r).fill);
        if (fill && b.left <= box.left && b.right >= box.right && b.top <= box.top && b.bottom >= box.bottom) {
          layers.push({ ...fill, a: fill.a * parseFloat(getComputedStyle(r).fillOpacity) * opacity(r) });
        }
      }
    }
    const html = [];
    for (let p = svg ?? e; p; p = p.parentElement) {
      const c = color(getComputedStyle(p).backgroundColor);
      if (c && c.a > 0) html.unshift(c);
    }
    const canvas = matchMedia("print").matches || !/dark/.test(getComputedStyle(root).colorScheme) || !matchMedia("(prefers-color-scheme: dark)").matches
      ? { r: 255, g: 255, b: 255, a: 1 } : { r: 18, g: 18, b: 18, a: 1 };
    return [...html, ...layers].reduce((below, c) => over(c, below), canvas);
  }
  function over(c, below) {
    const mix = (x, y) => c.a * x + (1 - c.a) * y;
    return { r: mix(c.r, below.r), g: mix(c.g, below.g), b: mix(c.b, below.b), a: 1 };
  }
  function luminance(c) {
    const [r, g, b] = [c.r, c.g, c.b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }
  function compare(a, b) {
    const [x, y] = [luminance(a), luminance(b)];
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
  }
}
