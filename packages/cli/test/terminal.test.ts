import { afterEach, describe, expect, test, vi } from "vitest";
import type { Output } from "../src/io.ts";
import { refinementText } from "../src/model/refinement-text.ts";
import { pictureOf, shrink } from "../src/pictures/picture.ts";
import { drawPictures } from "../src/terminal/draw.ts";
import { bytes, count, counted, percent, seconds, short } from "../src/terminal/numbers.ts";
import { startMeter } from "../src/terminal/progress.ts";
import {
  cut,
  displayWidth,
  printable,
  printableJson,
  printableLines,
  styleOf,
  withoutControls,
} from "../src/terminal/style.ts";
import { pairs, table } from "../src/terminal/table.ts";

function plainOutput(changes: Partial<Output> = {}): Output & { text: string } {
  const output = {
    text: "",
    isTerminal: false,
    columns: 80,
    colourDepth: 1 as Output["colourDepth"],
    ...changes,
    write: async (chunk: string | Uint8Array) => {
      output.text += chunk;
    },
  };
  return output;
}
const style = styleOf(plainOutput());

test("numbers in the unit that fits", () => {
  expect([count(1234567), counted(1, "row"), counted(2, "class", "classes")]).toEqual([
    "1,234,567",
    "1 row",
    "2 classes",
  ]);
  expect([1, 999, 1000, 1_500_000, 12_345_678].map(bytes)).toEqual([
    "1 byte",
    "999 bytes",
    "1.0 kB",
    "1.5 MB",
    "12 MB",
  ]);
  expect([0.00001, 0.0034, 0.25, 1, 59.96, 3600].map(seconds)).toEqual([
    "0.1 ms",
    "3.4 ms",
    "250 ms",
    "1.0 s",
    "1 min 0 s",
    "1 h 0 min 0 s",
  ]);
  expect([0, 3, 1234, 0.123456, 1e9, 1e-9].map(short)).toEqual(["0", "3", "1,234", "0.1235", "1.00e+9", "1.00e-9"]);
  expect(percent(0.12345)).toBe("12.3 %");
});

test("tables align names to the left and numbers to the right, whatever their alphabet", () => {
  const text = table(
    [{ head: "name" }, { head: "n", align: "right" }],
    [
      ["お茶", "5"],
      ["tea", "1,000"],
    ],
    style,
  );
  expect(text).toBe("name      n\n────  ─────\nお茶      5\ntea   1,000\n");
  expect(
    pairs(
      [
        ["a", "1"],
        ["long", "2\n3"],
        ["gone", undefined],
      ],
      style,
    ),
  ).toBe("a     1\nlong  2\n      3\n");
});

test("text is measured and cut by what it shows", () => {
  expect(displayWidth("\u001b[31mred\u001b[39m")).toBe(3);
  expect(displayWidth("きy")).toBe(3);
  expect([cut("abcdef", 4), cut("きききき", 5), cut("ab", 2)]).toEqual(["abc…", "きき…", "ab"]);
  expect(printable("a\u0007b\nc")).toBe("a\ufffdb\ufffdc");
});

describe("pictures", () => {
  const picture = pictureOf([0, 1, 2, 3, 4, 5], 2, 3);

  test("stretch numbers from black to white", () => {
    expect(Array.from(picture.pixels)).toEqual([0, 51, 102, 153, 204, 255]);
    expect(Array.from(pictureOf([7, 7], 2, 1).pixels)).toEqual([0, 0]);
  });

  test("shrink by the mean of squares", () => {
    // (0 + 51 + 102 + 153) / 4 = 76.5 and (204 + 255) / 2 = 229.5.
    expect(shrink(picture, 2)).toEqual({ width: 1, height: 2, pixels: Uint8Array.of(77, 230) });
    expect(shrink(picture, 3)).toBe(picture);
  });

  test("are drawn as a ramp without colours, as half blocks with", () => {
    const captioned = [{ picture: pictureOf([0, 9, 9, 0], 2, 2), caption: "x" }];
    expect(drawPictures(captioned, plainOutput(), style)).toBe("  @@\n@@\nx\n");
    const black = "2;0;0;0m";
    const white = "2;255;255;255m";
    const line = `\u001b[38;${black}\u001b[48;${white}▀\u001b[38;${white}\u001b[48;${black}▀\u001b[0m`;
    expect(drawPictures(captioned, plainOutput({ colourDepth: 24 }), style)).toBe(`${line}\nx\n`);
    expect(drawPictures(captioned, plainOutput({ colourDepth: 8 }), style)).toContain(
      "\u001b[38;5;16m\u001b[48;5;231m▀",
    );
  });

  test("go to the next line where the terminal ends", () => {
    const captioned = Array.from({ length: 3 }, (_, i) => ({ picture, caption: String(i) }));
    const lines = drawPictures(captioned, plainOutput({ columns: 12 }), style).split("\n");
    expect(lines.filter((line) => /^0 +1$/.test(line))).toHaveLength(1);
    expect(lines.filter((line) => line === "2")).toHaveLength(1);
  });
});

describe("progress", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test("is a line for every tenth in a pipe, once a second has passed", async () => {
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => now);
    const output = plainOutput();
    const meter = startMeter("working", output, style, false);
    now = 990;
    await meter.show(0.5);
    expect(output.text).toBe("");
    for (const share of [0.52, 0.55, 0.61, 0.62]) {
      now += 100;
      await meter.show(share, "detail");
    }
    await meter.show(1);
    await meter.end();
    const lines = output.text.trimEnd().split("\n");
    expect(lines.map((line) => line.replace(/, .* s/, ""))).toEqual([
      "working:  52 %, detail",
      "working:  61 %, detail",
      "working: 100 %",
    ]);
  });

  test("is one line on a terminal, no wider than it, and gone at the end", async () => {
    const output = plainOutput({ isTerminal: true, columns: 60 });
    const meter = startMeter("working", output, style, false);
    await meter.onProgress({
      stage: "spread",
      label: "a very long name of a class indeed",
      iteration: 2,
      moved: 12345,
      share: 0.5,
    });
    const line = output.text.replace(/^\r/, "").replace("\u001b[K", "");
    expect(displayWidth(line)).toBeLessThan(60);
    expect(line).toContain("50 %");
    await meter.end();
    expect(output.text.endsWith("\r\u001b[K")).toBe(true);
  });
});

test("nothing that could steer a terminal is printed, and JSON stays the same value", () => {
  const nasty = "a\u001b[2J\u009b31m\u202eb\u2028\n\tc";
  expect(printableLines(nasty)).toBe("a\ufffd[2J\ufffd31m\ufffdb\ufffd\n\tc");
  const plain = { write: async () => {}, isTerminal: true, columns: 80, colourDepth: 1 } as const;
  const red = "\u001b[31mred\u001b[39m";
  expect(withoutControls(`${red}\u001b[2J\u007f`, plain)).toBe("\ufffd[31mred\ufffd[39m\ufffd[2J\ufffd");
  expect(withoutControls(`${red}\u001b[2J\u007f`, { ...plain, colourDepth: 8 })).toBe(`${red}\ufffd[2J\ufffd`);
  const text = printableJson({ [nasty]: [nasty] }, 2);
  expect(JSON.parse(text)).toEqual({ [nasty]: [nasty] });
  expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e]/u);
});

test("what refinement did is said in few digits", () => {
  const found = { refined: true, heldOutRows: 259, before: 0.985, after: 0.992, window: Math.SQRT2 / 100, epochs: 1 };
  expect(refinementText(found)).toBe("yes, from 98.5 % to 99.2 % right of 259 held-out rows, window 0.0141, 1 epoch");
});
