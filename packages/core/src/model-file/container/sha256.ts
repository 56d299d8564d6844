/**
 * SHA-256, synchronous: the digest of a model file. Web Crypto answers only through a promise, so a library in JavaScript is
 * used; in Node its own module is asked, which takes a fifth of the time.
 */

import { sha256 as portable } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

/** What is needed of Node's crypto module. Asked for at run time, not imported: browsers load the same file. */
interface NodeCrypto {
  createHash(name: "sha256"): { update(part: Uint8Array): unknown; digest(): Uint8Array };
}

/** The digest, as 64 lower-case hexadecimal digits, of the parts read one after another. */
export function sha256(parts: readonly Uint8Array[]): string {
  const { process } = globalThis as { process?: { getBuiltinModule?(id: string): NodeCrypto | undefined } };
  const crypto = process?.getBuiltinModule?.("node:crypto");
  const hash = crypto ? crypto.createHash("sha256") : portable.create();
  for (const part of parts) hash.update(part);
  return bytesToHex(new Uint8Array(hash.digest())); // of this realm: a test runner's has another
}
