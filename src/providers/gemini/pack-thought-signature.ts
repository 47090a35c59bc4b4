/**
 * Thought signatures for clients that keep the conversation themselves. Such a client sends back
 * what it was given in OpenAI's shape, and a function call has no place for a signature there; but
 * a reasoning item has one for what only the provider can read. So a signed call is preceded by a
 * reasoning item whose `encrypted_content` is
 *
 *     gemini:1:<model that made it>:<signature>
 *
 * and the signature goes back onto the first call behind that item. Nothing is encrypted here: the
 * signature is opaque by itself. No other wire may send what starts with `gemini:`.
 */
export interface ModelSignature {
  readonly model: string
  readonly signature: string
}

const PREFIX = 'gemini:1:'

export function packSignature({ model, signature }: ModelSignature): string {
  return `${PREFIX}${encodeURIComponent(model)}:${signature}`
}

/** `null` for what was not sealed here. */
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
