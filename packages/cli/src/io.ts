/**
 * Everything a command may touch of the world around it: streams, environment, working folder and the signal that ends it.
 * Passed as a value, so that tests and other programs can run commands without a process of their own.
 */

/** Where text and bytes go. */
export interface Output {
  /** Resolves once the chunk was taken, so that a slow reader slows the writer down. */
  write(chunk: string | Uint8Array): Promise<void>;
  readonly isTerminal: boolean;
  /** Width in characters. */
  readonly columns: number;
  /** Bits per colour: 1 for none, 4, 8, or 24 for true colour. */
  readonly colourDepth: 1 | 4 | 8 | 24;
}

/** The world of one run. */
export interface Io {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
  /** Aborted when the user interrupts; long work then stops and nothing half-done remains. */
  readonly signal: AbortSignal;
}

/** Width taken where there is no terminal to ask. */
const DEFAULT_COLUMNS = 100;

/** The world of this process. */
export function processIo(signal: AbortSignal): Io {
  return {
    stdin: process.stdin,
    stdout: streamOutput(process.stdout),
    stderr: streamOutput(process.stderr),
    env: process.env,
    cwd: process.cwd(),
    signal,
  };
}

function streamOutput(stream: NodeJS.WriteStream): Output {
  return {
    write: (chunk) =>
      new Promise((resolve, reject) => {
        stream.write(chunk, (error) => (error ? reject(error) : resolve()));
      }),
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns || DEFAULT_COLUMNS;
    },
    colourDepth: colourDepth(stream),
  };
}

/** Node's own judgement, which knows terminals and FORCE_COLOR; NO_COLOR has the last word. */
function colourDepth(stream: NodeJS.WriteStream): Output["colourDepth"] {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  if (NO_COLOR !== undefined && NO_COLOR !== "") return 1;
  if (stream.isTTY) return stream.getColorDepth() as Output["colourDepth"];
  if (FORCE_COLOR === undefined || FORCE_COLOR === "0" || FORCE_COLOR === "false") return 1;
  return FORCE_COLOR === "3" ? 24 : FORCE_COLOR === "2" ? 8 : 4;
}
