/** HTML and SVG as text. Everything that comes from data or files goes through `escaped`. */

/** Text that is safe between tags and inside quoted attributes. Control characters, which no page may hold, become "�". */
export function escaped(text: string): string {
  return text
    .replace(/(?![\t\n\r])\p{Cc}|\p{Cs}|[\ufffe\uffff]/gu, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** A name that may break where its parts join (comp.sys.mac) instead of anywhere; safe between tags. */
export const breakable = (name: string): string => escaped(name).replace(/[._/-](?=\w)/g, "$&<wbr>");

/** A coordinate with at most one decimal. */
export const place = (value: number): string => String(Math.round(value * 10) / 10);

/** Attributes of an element; undefined ones are left out, values are escaped. */
export type Attributes = { readonly [name: string]: string | number | undefined };

/** An element around content that is markup already. */
export function element(name: string, attributes: Attributes, content = ""): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escaped(typeof value === "number" ? place(value) : (value as string))}"`)
    .join("");
  return `<${name}${written}>${content}</${name}>`;
}

/** A piece of SVG text. */
export function svgText(x: number, y: number, text: string, attributes: Attributes = {}): string {
  return element("text", { x, y, ...attributes }, escaped(text));
}
