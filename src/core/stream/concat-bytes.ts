/** One array of bytes out of several; the only one is returned as it is. */
export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const only = chunks[0]
  if (chunks.length === 1 && only !== undefined) return only
  let size = 0
  for (const chunk of chunks) size += chunk.length
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
