/** The chunks of a web stream, which is cancelled when they are no longer wanted. */
export async function* readStream(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Reached early too, when the consumer stops: the source is then stopped as well.
    await reader.cancel().catch(() => undefined);
  }
}
