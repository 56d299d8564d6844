/** The command `ranksim`: this process's streams and interrupts around `run`. */

import { EXIT, Interruption, interruptedText } from "./exit.ts";
import { processIo } from "./io.ts";

/** Milliseconds that work has to stop by itself; a read that does not answer, say of a network's file, is then left. */
const GRACE = 300;

const interrupt = new AbortController();
/** What has to be undone on a sudden end; known once the program is loaded. */
let cleanUp = (): void => {};
/** Whether the command at work ends by itself, in its own time. */
let isPatient = false;

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    const reason = new Interruption(signal);
    const leave = () => {
      cleanUp();
      process.stderr.write(interruptedText(process.argv));
      process.exit(reason.exitCode);
    };
    // The second time the user means it.
    if (interrupt.signal.aborted) leave();
    interrupt.abort(reason);
    if (!isPatient) setTimeout(leave, GRACE).unref();
  });
}

// A reader that has seen enough (`| head`) is no error. Other write errors reach the caller.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(EXIT.done);
});

// Loaded only now, so that an interrupt is heard from the first moment.
const [{ run }, { removeUnfinished }] = await Promise.all([import("./run.ts"), import("@ranksim/data/node")]);
cleanUp = removeUnfinished;
process.exitCode = await run(
  process.argv.slice(2),
  processIo(interrupt.signal, () => {
    isPatient = true;
  }),
);
// What the work left behind, such as a read of a pipe that is never closed, does not keep the process alive.
if (interrupt.signal.aborted || process.exitCode !== EXIT.done) process.exit(process.exitCode);
