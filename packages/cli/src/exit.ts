/** Exit codes by meaning. */
export const EXIT = {
  done: 0,
  /** Error in the data or the request. */
  failed: 1,
  /** Usage error. */
  usage: 2,
  /** Interrupted by the user: Ctrl-C. */
  interrupted: 130,
  /** Ended by another program: SIGTERM. */
  ended: 143,
} as const;

/** What an interrupted command says; what it had got done is in a checkpoint, or nowhere. */
export function interruptedText(argv: readonly string[]): string {
  const isKept = argv.some((word) => /^--checkpoint(=|$)/.test(word));
  const cure = isKept ? "no model was written; the same command goes on from its checkpoint" : "nothing was changed";
  return `interrupted: ${cure}\n`;
}

/** Why a run was aborted; the reason of its signal. */
export class Interruption extends Error {
  readonly exitCode: typeof EXIT.interrupted | typeof EXIT.ended;

  constructor(signal: "SIGINT" | "SIGTERM") {
    super(signal === "SIGINT" ? "interrupted" : "ended");
    this.name = "Interruption";
    this.exitCode = signal === "SIGINT" ? EXIT.interrupted : EXIT.ended;
  }
}
