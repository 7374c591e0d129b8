// A canvas that is drawn anew when its size, its data or the colours of the page change.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { escapeDrawn } from "../visible";

// Colours of the page, for what is drawn.
export interface Theme {
  text: string;
  quiet: string;
  line: string;
  back: string;
  accent: string;
  warm: string;
  bad: string;
  // mark is the colour of a chosen line: none of the scale of ranks, as in `tunehost plot`.
  mark: string;
  // dark says that light things are on a dark ground.
  dark: boolean;
}

export interface Surface {
  ctx: CanvasRenderingContext2D;
  w: number;
  h: number;
  theme: Theme;
  // cut has the texts that were shortened, with where they are: the pointer shows them whole.
  cut: Cut[];
}

interface Cut {
  text: string;
  left: number;
  top: number;
  right: number;
  bottom: number;
}

// write writes a text that is no wider than most pixels, if three letters are not. A longer one is shortened in its
// middle: names often differ at their ends.
export function write({ ctx, cut }: Surface, text: string, x: number, y: number, most: number,
  fits = fitted(text, (t) => ctx.measureText(t).width <= most)): void {
  ctx.fillText(fits, x, y);
  if (fits === text) return;
  const { width } = ctx.measureText(fits);
  const left = x - (ctx.textAlign === "center" ? width / 2 : ctx.textAlign === "right" ? width : 0);
  const at = ctx.getTransform();
  const scale = devicePixelRatio || 1;
  const corners = [[left, y - 9], [left + width, y + 9]].map(([a, b]) => at.transformPoint({ x: a, y: b }));
  const across = corners.map((c) => c.x / scale);
  const down = corners.map((c) => c.y / scale);
  cut.push({ text, left: Math.min(...across), right: Math.max(...across), top: Math.min(...down), bottom: Math.max(...down) });
}

// fitted is the longest form of a text that fits, if any does.
export function fitted(text: string, fits: (t: string) => boolean): string {
  if (fits(text)) return text;
  const letters = [...text];
  let [low, high] = [2, letters.length - 1];
  while (low < high) {
    const n = Math.ceil((low + high) / 2);
    if (fits(middle(letters, n))) low = n;
    else high = n - 1;
  }
  return middle(letters, low);
}

const middle = (letters: string[], n: number, head = Math.ceil(n / 2)): string =>
  letters.slice(0, head).join("") + "…" + letters.slice(letters.length - (n - head)).join("");

// distinctly fits texts such that different ones stay different, where any way of leaving out a part of them does: a
// beginning that those have in common which look alike, or what is after so many letters. Each has its room.
export function distinctly(texts: string[], fits: (t: string, i: number) => boolean): string[] {
  const out = texts.map((t, i) => fitted(t, (u) => fits(u, i)));
  const alike = new Map<string, number[]>();
  out.forEach((t, i) => alike.set(t, [...alike.get(t) ?? [], i]));
  let best = out;
  for (const group of alike.values()) {
    const skips = new Set([0, shared(group.map((i) => texts[i]!))]);
    if (new Set(group.map((i) => texts[i])).size > 1) for (const skip of skips) best = parted(texts, best, group, skip, fits);
  }
  return best;
}

// parted tries ways to write some of the texts, and keeps the best.
function parted(texts: string[], now: string[], group: number[], skip: number, fits: (t: string, i: number) => boolean): string[] {
  const different = (list: string[]): number => new Set(list).size;
  let best = now;
  for (let head = 0; head < 8 && different(best) < different(texts); head++) {
    const list = [...now];
    for (const i of group) list[i] = apart(texts[i]!, skip, head, (u) => fits(u, i));
    if (different(list) > different(best)) best = list;
  }
  return best;
}

// apart is the longest form of a text that fits, without its beginning, with so many letters before what is left out.
function apart(text: string, skip: number, head: number, fits: (t: string) => boolean): string {
  const letters = [...text.slice(skip)];
  const start = skip > 0 ? "…" : "";
  if (fits(start + letters.join(""))) return start + letters.join("");
  let n = Math.max(head, 2);
  while (n + 1 < letters.length && fits(start + middle(letters, n + 1, head))) n++;
  return start + middle(letters, n, head);
}

// shared is how much all texts have in common at their beginnings; 0 if nothing would be left of one.
function shared(texts: string[]): number {
  let n = Math.min(...texts.map((t) => t.length));
  while (n > 0 && texts.some((t) => t.slice(0, n) !== texts[0]!.slice(0, n))) n--;
  return texts.some((t) => t.length === n) ? 0 : n;
}

// Spot is what the pointer is on: a point of the canvas, with lines of text about it.
export interface Spot {
  x: number;
  y: number;
  lines: string[];
  trial?: number;
  // id tells places apart to which keys lead, where a trial has several or none.
  id?: number;
}

export interface CanvasProps {
  // label says what is drawn, for readers who do not see it.
  label: string;
  height: number;
  draw: (s: Surface) => void;
  // find returns what is near a place; pick is called with it on a click.
  find?: (x: number, y: number) => Spot | undefined;
  pick?: (spot: Spot) => void;
  // stops are the places to which arrow keys lead, such as one for each trial; Enter picks the one that is reached, of
  // which onReach is told.
  stops?: () => Spot[];
  onReach?: (spot?: Spot) => void;
  // drag is called while the pointer moves with its button pressed.
  drag?: (e: { kind: "start" | "move" | "end"; x: number; y: number }) => void;
}

export function theme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string): string => style.getPropertyValue("--" + name).trim();
  return { text: of("text"), quiet: of("quiet"), line: of("line"), back: of("card"), accent: of("accent"),
    warm: of("warm"), bad: of("bad"), mark: of("mark"), dark: style.colorScheme === "dark" };
}

export function Canvas(p: CanvasProps): JSX.Element {
  const ref = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [, again] = useState(0);
  const [spot, setSpot] = useState<Spot | null>();
  const held = useRef(false);
  const cut = useRef<Cut[]>([]);
  const [fault, fail] = useState("");
  // from is where the pointer went down: a click that was a drag picks nothing.
  const from = useRef<[number, number]>([0, 0]);
  useEffect(() => observe(ref.current, setWidth, () => again((n) => n + 1)), []);
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      try {
        cut.current = paint(ref.current, width, p);
        fail("");
      } catch (e) { // an empty plot would say that there is nothing
        fail(String(e));
      }
      follow();
    });
    return () => cancelAnimationFrame(frame);
  });
  const at = (e: PointerEvent | MouseEvent): [number, number] => {
    const box = ref.current?.getBoundingClientRect();
    return [e.clientX - (box?.left ?? 0), e.clientY - (box?.top ?? 0)];
  };
  const down = (e: PointerEvent): void => {
    from.current = at(e);
    if (!p.drag) return;
    held.current = true;
    ref.current?.setPointerCapture(e.pointerId);
    const [x, y] = at(e);
    p.drag({ kind: "start", x, y });
  };
  const move = (e: PointerEvent): void => {
    const [x, y] = at(e);
    if (held.current) p.drag?.({ kind: "move", x, y });
    else setSpot(whole(cut.current, x, y) ?? p.find?.(x, y));
  };
  const up = (e: PointerEvent): void => {
    if (!held.current) return;
    held.current = false;
    const [x, y] = at(e);
    p.drag?.({ kind: "end", x, y });
  };
  const click = (e: MouseEvent): void => {
    const [x, y] = at(e);
    const found = p.find?.(x, y);
    if (found && Math.hypot(x - from.current[0], y - from.current[1]) < 4) p.pick?.(found);
  };
  // reached is the id of the place to which the arrow keys have led, which is stop: another key may come before the page
  // is drawn again.
  const [reached, reach] = useState<number>();
  const stop = useRef<Spot | null>(null);
  const go = (to: Spot | null | undefined): void => {
    stop.current = to ?? null;
    setSpot(to);
    reach(idOf(to));
    p.onReach?.(to ?? undefined);
  };
  // follow moves the mark of the reached place to where that is drawn now.
  const follow = (): void => {
    if (!stop.current) return;
    const now = p.stops?.().find((s) => idOf(s) === idOf(stop.current));
    if (JSON.stringify(now) !== JSON.stringify(stop.current)) go(now);
  };
  const key = (e: KeyboardEvent): void => {
    if (!p.stops || e.altKey || e.ctrlKey || e.metaKey) return;
    const next = e.key === "Enter" && !p.pick ? undefined : pressed(e.key, p.stops(), idOf(stop.current));
    if (next === undefined) return;
    e.preventDefault();
    if (next !== "pick") go(next);
    else if (stop.current) p.pick?.(stop.current);
  };
  const leave = (): void => go(undefined);
  return <div class="plot">
    {fault ? <p class="failure" role="alert"><strong>✕</strong> This plot cannot be drawn, which is a fault of this page: {fault}.</p> : null}
    <canvas ref={ref} role="img" aria-label={p.label} style={{ height: `${p.height}px` }} onPointerDown={down}
      onPointerMove={move} onPointerUp={up} onPointerLeave={leave} onClick={click} tabIndex={p.stops ? 0 : undefined}
      aria-description={!p.stops ? undefined : p.pick ? "arrow keys go from trial to trial, Enter opens one" : "arrow keys go from value to value"} onKeyDown={key} onBlur={leave} />
    {spot && reached !== undefined ? <div class="spot" style={{ left: `${spot.x}px`, top: `${spot.y}px` }} /> : null}
    {p.stops ? <div role="status" class={spot && reached !== undefined ? undefined : "hidden"}>{spot && reached !== undefined ? <Tip spot={spot} width={width} /> : null}</div> : null}
    {spot && reached === undefined ? <Tip spot={spot} width={width} /> : null}
  </div>;
}

const idOf = (s?: Spot | null): number | undefined => s?.id ?? s?.trial;

// pressed is where a key leads from a place: to another one, to the page of its trial, or, as null, away; undefined: it
// does nothing.
function pressed(key: string, stops: Spot[], from: number | undefined): Spot | "pick" | null | undefined {
  const at = from === undefined ? -1 : stops.findIndex((s) => idOf(s) === from);
  const last = stops.length - 1;
  switch (key) {
    case "ArrowRight": case "ArrowDown": return stops[Math.min(at + 1, last)];
    case "ArrowLeft": case "ArrowUp": return stops[at < 0 ? last : Math.max(at - 1, 0)];
    case "Home": return stops[0];
    case "End": return stops[last];
    case "Enter": return at < 0 ? undefined : "pick";
    case "Escape": return at < 0 ? undefined : null;
    default: return undefined;
  }
}

function Tip({ spot, width }: { spot: Spot; width: number }): JSX.Element {
  const left = spot.x > width / 2;
  return <div class="tip" style={{ top: `${Math.max(0, spot.y - 10)}px`, left: left ? undefined : `${spot.x + 14}px`,
    right: left ? `${width - spot.x + 14}px` : undefined }}>{spot.lines.map((l) => <div key={l}>{l}</div>)}</div>;
}

function observe(canvas: HTMLCanvasElement | null, size: (w: number) => void, again: () => void): () => void {
  if (!canvas) return () => undefined;
  const sizes = new ResizeObserver(() => size(canvas.clientWidth));
  sizes.observe(canvas);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", again);
  addEventListener("theme", again);
  return () => {
    sizes.disconnect();
    dark.removeEventListener("change", again);
    removeEventListener("theme", again);
  };
}

// whole is a shortened text at a place.
function whole(list: Cut[], x: number, y: number): Spot | undefined {
  const found = list.find((c) => x >= c.left && x <= c.right && y >= c.top && y <= c.bottom);
  return found && { x, y, lines: [found.text] };
}

// paint returns the texts that it has shortened.
function paint(canvas: HTMLCanvasElement | null, w: number, p: CanvasProps): Cut[] {
  const ctx = canvas?.getContext("2d");
  const cut: Cut[] = [];
  if (!canvas || !ctx || w === 0) return cut;
  escapeDrawn(ctx);
  const scale = devicePixelRatio || 1;
  const size: [number, number] = [Math.round(w * scale), Math.round(p.height * scale)];
  if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
  ctx.setTransform(scale, 0, 0, scale, 0, 0);
  ctx.clearRect(0, 0, w, p.height);
  ctx.font = "12px system-ui, sans-serif";
  p.draw({ ctx, w, h: p.height, theme: theme(), cut });
  canvas.dataset["drawn"] = String(Number(canvas.dataset["drawn"] ?? "0") + 1);
  return cut;
}
