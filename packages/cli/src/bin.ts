#!/usr/bin/env node

/** The command `ranksim`: this process's streams and interrupts around `run`. */

import { EXIT } from "./exit.ts";
import { processIo } from "./io.ts";

const interrupt = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // The second time the user means it; files are safe at any moment.
    if (interrupt.signal.aborted) process.exit(EXIT.interrupted);
    interrupt.abort();
  });
}

// A reader that has seen enough (`| head`) is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? EXIT.done : EXIT.failed);
});

// Loaded only now, so that an interrupt is heard from the first moment.
const { run } = await import("./run.ts");
process.exitCode = await run(process.argv.slice(2), processIo(interrupt.signal));
