/**
 * The compiled kernels: embedded as text, compiled once for each kind of memory, and the probes that say whether this
 * engine can run them. A probe is the smallest module that uses a feature; validating it neither compiles nor runs it.
 */

import { kernelBytes, kernels, memoryFlagsAt } from "./kernels.generated.ts";

/** Flags of a memory's limits: with a maximum, and shared. */
const SHARED_WITH_MAXIMUM = 3;

const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

/** A module with one function `() -> v128` of the given body. */
function vectorFunction(...body: number[]): Uint8Array<ArrayBuffer> {
  const code = [0x00, ...body, 0x0b];
  return Uint8Array.from([
    ...HEADER,
    ...[0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b],
    ...[0x03, 0x02, 0x01, 0x00],
    ...[0x0a, code.length + 2, 0x01, code.length, ...code],
  ]);
}

/** Whether the engine has WebAssembly with 128-bit SIMD (`i32.const 0; i8x16.splat`), and can inflate the kernels. */
export function hasSimd(): boolean {
  if (typeof WebAssembly !== "object" || typeof DecompressionStream === "undefined") return false;
  return WebAssembly.validate(vectorFunction(0x41, 0x00, 0xfd, 0x0f));
}

/** Whether the engine has shared memories, and this page (or process) may hand them to workers. */
export function hasSharedMemory(): boolean {
  if (typeof SharedArrayBuffer === "undefined") return false;
  if ((globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated === false) return false;
  return WebAssembly.validate(Uint8Array.from([...HEADER, 0x05, 0x04, 0x01, SHARED_WITH_MAXIMUM, 0x01, 0x01]));
}

const compiled = new Map<boolean, Promise<WebAssembly.Module>>();

/** The kernels, importing a memory of their own or a shared one. */
export function compileKernels(shared: boolean): Promise<WebAssembly.Module> {
  const module = compiled.get(shared) ?? compile(shared);
  compiled.set(shared, module);
  return module;
}

async function compile(shared: boolean): Promise<WebAssembly.Module> {
  const bytes = await inflated(kernels, kernelBytes);
  if (shared) bytes[memoryFlagsAt] = SHARED_WITH_MAXIMUM;
  return WebAssembly.compile(bytes);
}

/** What is used of Node. Browsers load the same file. */
interface NodeGlobals {
  readonly process?: {
    getBuiltinModule?(name: "node:zlib"): { inflateRawSync(bytes: Uint8Array): Uint8Array<ArrayBuffer> } | undefined;
  };
  readonly Buffer?: { from(text: string, encoding: "base64"): Uint8Array };
}

/** What was deflated to base64: embedded like this the kernels take three quarters of what they otherwise add to a page. */
async function inflated(text: string, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const { process, Buffer } = globalThis as NodeGlobals;
  const zlib = process?.getBuiltinModule?.("node:zlib");
  // A stream takes 12 ms of a cold start of Node, which has to load what streams are made of; this takes 2.
  if (zlib && Buffer) return zlib.inflateRawSync(Buffer.from(text, "base64"));
  const { readable, writable } = new DecompressionStream("deflate-raw");
  const writer = writable.getWriter();
  const written = writer.write(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
  const closed = writer.close();
  const bytes = new Uint8Array(length);
  let at = 0;
  const reader = readable.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    bytes.set(part.value, at);
    at += part.value.length;
  }
  await Promise.all([written, closed]);
  return bytes;
}
