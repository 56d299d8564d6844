/** Exit codes by meaning. */
export const EXIT = {
  done: 0,
  /** The data or the request is at fault. */
  failed: 1,
  /** The command line is at fault. */
  usage: 2,
  /** Interrupted by the user: Ctrl-C. */
  interrupted: 130,
  /** Ended by another program: SIGTERM. */
  ended: 143,
} as const;

/** Why a run was aborted; the reason of its signal. */
export class Interruption extends Error {
  readonly exitCode: typeof EXIT.interrupted | typeof EXIT.ended;

  constructor(signal: "SIGINT" | "SIGTERM") {
    super(signal === "SIGINT" ? "interrupted" : "ended");
    this.name = "Interruption";
    this.exitCode = signal === "SIGINT" ? EXIT.interrupted : EXIT.ended;
  }
}
