/** The size that a Zstandard frame claims to unpack to, so that a claim can be refused before room is made for it. */

/** Content size of the frame, or its window size where the content's is not stated; 0 for what is no such frame. */
export function zstdClaim(bytes: Uint8Array): number {
  if (bytes.byteLength < 6 || bytes[0] !== 0x28 || bytes[1] !== 0xb5 || bytes[2] !== 0x2f || bytes[3] !== 0xfd)
    return 0;
  const descriptor = bytes[4];
  const isSingle = (descriptor & 0x20) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3];
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6];
  if (sizeBytes === 0) return (1 + (bytes[5] & 7) / 8) * 2 ** (10 + (bytes[5] >> 3));
  const at = 5 + (isSingle ? 0 : 1) + dictionaryBytes;
  let size = 0;
  for (let i = sizeBytes - 1; i >= 0; i--) size = size * 256 + (bytes[at + i] ?? 0);
  return sizeBytes === 2 ? size + 256 : size;
}
