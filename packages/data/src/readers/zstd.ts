/** What Zstandard frames claim to unpack to and can unpack to at most, so that they can be refused before room is made. */

const SKIPPED = 0x184d2a50;
const MOST_BLOCK = 2 ** 17;

/** No more bytes than this come out of the frames, by the headers of their blocks. */
export function zstdMost(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let most = 0;
  for (let at = 0; at + 8 < bytes.byteLength; ) {
    if ((view.getUint32(at, true) & 0xfffffff0) === SKIPPED) {
      at += 8 + view.getUint32(at + 4, true);
      continue;
    }
    const descriptor = bytes[at + 4];
    const isSingle = (descriptor & 0x20) !== 0;
    at += 5 + (isSingle ? 0 : 1) + [0, 1, 2, 4][descriptor & 3] + [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6];
    for (let isLast = false; !isLast && at + 3 <= bytes.byteLength; ) {
      const block = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16);
      const [kind, size] = [(block >> 1) & 3, block >>> 3];
      isLast = (block & 1) === 1;
      most += kind < 2 ? size : MOST_BLOCK;
      at += 3 + (kind === 1 ? 1 : size);
    }
    at += descriptor & 4 ? 4 : 0;
  }
  return most;
}

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
