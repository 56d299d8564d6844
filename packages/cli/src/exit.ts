/** Exit codes by meaning. */
export const EXIT = {
  done: 0,
  /** The data or the request is at fault. */
  failed: 1,
  /** The command line is at fault. */
  usage: 2,
  interrupted: 130,
} as const;
