/**
 * Packs thought signatures for clients that store the conversation themselves. Such a client sends
 * items back in OpenAI's format, where a function call has no field for a signature, but a
 * reasoning item has `encrypted_content`. So a reasoning item comes before each signed call, with
 * the `encrypted_content`
 *
 *     gemini:1:<model that made it>:<signature>
 *
 * and the next request moves the signature to the first call after that item. The gateway does not
 * encrypt the signature, because it contains no readable text. No other wire may send a string that
 * starts with `gemini:`.
 */
export interface ModelSignature {
  readonly model: string
  readonly signature: string
}

const PREFIX = 'gemini:1:'

export function packSignature({ model, signature }: ModelSignature): string {
  return `${PREFIX}${encodeURIComponent(model)}:${signature}`
}

/** Returns the signature in a packed string, or `null` if another provider made the string. */
export function unpackSignature(text: string | null | undefined): ModelSignature | null {
  if (text === null || text === undefined || !text.startsWith(PREFIX)) return null
  const colon = text.indexOf(':', PREFIX.length)
  if (colon < 0 || colon === text.length - 1) return null
  try {
    const model = decodeURIComponent(text.slice(PREFIX.length, colon))
    return { model, signature: text.slice(colon + 1) }
  } catch {
    return null
  }
}
