/** What records in a file have to be, field by field: one checker for reports and schemas, which says where something else was found. */

/** What is wrong with a value, and where; undefined where nothing is. */
export type Check = (value: unknown, place: string) => string | undefined;

/** A value that passes a test. */
export const such =
  (expected: string, isRight: (value: unknown) => boolean): Check =>
  (value, place) =>
    isRight(value) ? undefined : `${place}: expected ${expected}, found ${shown(value)}`;

/** Counts in records are below this. */
const LIMIT = 2 ** 32;
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;

export const COUNT = such("a whole number from 0", isCount);
export const POSITIVE = such(
  `a whole number from 1 below ${LIMIT}`,
  (value) => isCount(value) && (value as number) > 0 && (value as number) < LIMIT,
);
export const SHARE = such("a number from 0 to 1", (value) => typeof value === "number" && value >= 0 && value <= 1);
export const NUMBER = such("a finite number", Number.isFinite);
export const FLAG = such("true or false", (value) => typeof value === "boolean");
export const TEXT = such("a text", (value) => typeof value === "string");

/** One of some values. */
export const oneOf = (...choices: readonly (string | number)[]): Check =>
  such(choices.map((choice) => JSON.stringify(choice)).join(" or "), (value) =>
    choices.includes(value as string | number),
  );

/** A list of such values. */
export const listOf =
  (check: Check): Check =>
  (value, place) =>
    Array.isArray(value) ? first(value, (item, at) => check(item, `${place}[${at}]`)) : LIST(value, place);

/** An object with all of the fields needed, perhaps some of others, and no more. */
export const record =
  (needed: { readonly [name: string]: Check }, others: { readonly [name: string]: Check } = {}): Check =>
  (value, place) => {
    if (!isPlain(value)) return OBJECT(value, place);
    const missing = Object.keys(needed).find((name) => !Object.hasOwn(value, name));
    if (missing !== undefined) return needed[missing](undefined, `${place}.${missing}`);
    return first(Object.entries(value), ([name, field]) => {
      const check = Object.hasOwn(needed, name) ? needed[name] : Object.hasOwn(others, name) ? others[name] : undefined;
      return check ? check(field, `${place}.${name}`) : `${place}: unknown field ${shown(name)}`;
    });
  };

/** Whether a value is an object with fields. */
export const isPlain = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const LIST = such("a list", Array.isArray);
const OBJECT = such("an object", isPlain);

/** What is wrong with the first item that is not right. */
function first<T>(items: readonly T[], wrong: (item: T, at: number) => string | undefined): string | undefined {
  for (const [at, item] of items.entries()) {
    const found = wrong(item, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

const shown = (value: unknown): string =>
  value === undefined ? "none" : (JSON.stringify(value) ?? String(value)).slice(0, 60);
