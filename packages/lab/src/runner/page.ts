/** Pages: what stands between two marks is made from results, the rest is written by hand. */

/** The text with the part between `<!-- name -->` and the next `<!-- end -->` replaced. */
export function withPart(text: string, name: string, part: string): string {
  const mark = `<!-- ${name} -->`;
  const start = text.indexOf(mark);
  const end = text.indexOf("<!-- end -->", start);
  if (start < 0 || end < 0) throw new Error(`expected ${mark} and <!-- end --> in the page`);
  return `${text.slice(0, start + mark.length)}\n\n${part}\n\n${text.slice(end)}`;
}
