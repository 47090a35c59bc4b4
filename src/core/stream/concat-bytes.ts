/** Concatenates chunks of bytes; a single chunk is returned without a copy. */
export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const only = chunks[0]
  if (chunks.length === 1 && only !== undefined) return only
  let size = 0
  for (const chunk of chunks) size += chunk.length
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}
