// Control characters and those that change the direction of text make a page show something other than what it has:
// names, parameters, metrics and logs are shown with escapes in their place, in the form of package untrusted.
import { Fragment, options } from "preact";
import type { VNode } from "preact";

// Tabs and ends of lines are shown as themselves.
const hidden = /(?![\t\n\r])[\p{Cc}\p{Bidi_Control}]/gu;

// unprinted are characters of which a page shows nothing, or a blank as of a space; the command line escapes the same ones.
// An end of a line is none where a text has several.
const unprinted = /[^\p{L}\p{M}\p{N}\p{P}\p{S} \n]/gu;

// escaped escapes such characters in JSON.
export const escaped = (text: string): string =>
  text.replace(unprinted, (c) => c.split("").map((unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0")).join(""));

// visible escapes control characters and those that change the direction of text.
export const visible = (text: string): string =>
  text.replace(hidden, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

// said are the attributes that are shown or read aloud. Others, such as values of fields, stay exact.
const said = ["title", "aria-label", "alt", "placeholder", "label"];

function child(of: unknown): unknown {
  if (typeof of === "string") return visible(of);
  return Array.isArray(of) ? of.map(child) : of;
}

// escapeTexts makes all elements that are created from now on show their texts escaped.
export function escapeTexts(): void {
  const before = options.vnode;
  options.vnode = (node: VNode): void => {
    if (typeof node.type === "string" || node.type === Fragment) {
      const props = node.props as Record<string, unknown>;
      if (props["children"] !== undefined) props["children"] = child(props["children"]);
      for (const name of said) if (typeof props[name] === "string") props[name] = visible(props[name]);
    }
    before?.(node);
  };
}

// escapeDrawn makes a canvas write and measure its texts escaped.
export function escapeDrawn(ctx: CanvasRenderingContext2D): void {
  const { fillText, measureText } = CanvasRenderingContext2D.prototype;
  ctx.fillText = (text, ...at): void => fillText.call(ctx, visible(text), ...at);
  ctx.measureText = (text): TextMetrics => measureText.call(ctx, visible(text));
}
