/** What was measured, beside what was to be reached. */

/** The results, as far as parts were run. */
export interface Found {
  readonly source?: {
    readonly rows: number;
    readonly bytes: number;
    readonly memory: string;
    readonly source: { readonly peakMegabytes: number };
    readonly shareOfRate: number;
  };
  readonly predict?: { readonly peakMegabytes: number; readonly shareOfRate: number };
  readonly ranks?: { readonly timesAsFast: number; readonly mostOfMachine?: number };
  readonly checkpoint?: { readonly overhead: number };
  readonly kills?: { readonly jobs: number; readonly slowestEndSeconds: number; readonly sameFile: number };
}

/** A table in Markdown. */
export function tableOf({ source, predict, ranks, checkpoint, kills }: Found): string {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  const lines: [string, string, string][] = [];
  if (source) {
    const what = `training from ${(source.bytes / 1e9).toFixed(1)} GB with --memory ${source.memory}`;
    lines.push([`${what}: peak memory`, "1,200 MB", `${source.source.peakMegabytes.toFixed(0)} MB`]);
    lines.push([`${what}: rate of rows in memory`, "60 %", percent(source.shareOfRate)]);
  }
  if (predict) {
    lines.push(["answers from that file: peak memory", "400 MB", `${predict.peakMegabytes.toFixed(0)} MB`]);
    lines.push(["answers from that file: rate of rows in memory", "90 %", percent(predict.shareOfRate)]);
  }
  if (ranks) lines.push(["two processes against one, training alone", "1.6 x", `${ranks.timesAsFast.toFixed(2)} x`]);
  if (ranks?.mostOfMachine) {
    lines.push(["two trainings at once against one after the other", "", `${ranks.mostOfMachine.toFixed(2)} x`]);
  }
  if (checkpoint) lines.push(["a state after each round costs", "5 %", percent(checkpoint.overhead)]);
  if (kills) {
    lines.push(["kill -9 of a process: the job ends within", "5 s", `${kills.slowestEndSeconds.toFixed(2)} s`]);
    lines.push(["the same file after a restart", "all", `${kills.sameFile} of ${kills.jobs}`]);
  }
  const rows = lines.map((cells) => `| ${cells.join(" | ")} |\n`);
  return `| what | goal | found |\n| --- | --- | --- |\n${rows.join("")}`;
}
