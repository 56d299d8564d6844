/** What the benchmark of the GPU found, and its table. */

export interface GpuResults {
  readonly gpu: { readonly adapter: string; readonly variant: string };
  readonly processor: { readonly cpu: string; readonly threads: number };
  readonly data: string;
  readonly works: readonly {
    readonly name: string;
    readonly title: string;
    readonly goal?: number;
    /** Milliseconds of the first call, of the median, the fastest and the slowest of those behind it, and of one on the processor. */
    readonly first: number;
    readonly milliseconds: number;
    readonly least: number;
    readonly most: number;
    readonly processor?: number;
    /** Whether both gave the same bytes. */
    readonly same?: boolean;
  }[];
}

const START = "<!-- gpu:start -->";
const END = "<!-- gpu:end -->";

export function tableOf({ gpu, processor, data, works }: GpuResults): string {
  const lines = works.map(({ title, goal, milliseconds, least, most, processor, same }) => {
    const times = processor === undefined ? "" : `${(processor / milliseconds).toFixed(1)} ×`;
    const cells = [
      title,
      `${ms(milliseconds)} (${ms(least)} to ${ms(most)})`,
      processor === undefined ? "" : ms(processor),
      times,
      same === undefined ? "" : same ? "yes" : "**no**",
    ];
    return `| ${[...cells, goal === undefined ? "" : `< ${ms(goal)}`].join(" | ")} |`;
  });
  return [
    `${gpu.adapter}, program "${gpu.variant}"; ${processor.cpu}, ${processor.threads} threads; ${data}. Milliseconds, warm: the median, and the fastest and slowest.`,
    "",
    "| work | GPU | processor | ratio | same bytes | goal |",
    "| --- | ---: | ---: | ---: | --- | ---: |",
    ...lines,
  ].join("\n");
}

const ms = (value: number): string => (value < 100 ? value.toPrecision(2) : Math.round(value).toLocaleString("en"));

/** The text with what stands between the marks replaced. */
export function withTable(text: string, table: string): string {
  const [start, end] = [text.indexOf(START), text.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`expected ${START} and ${END}`);
  return `${text.slice(0, start + START.length)}\n\n${table}\n\n${text.slice(end)}`;
}
