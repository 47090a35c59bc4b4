/**
 * Packs thought signatures for clients that store the conversation themselves. Gemini signs tool
 * calls and requires the signatures in later requests. OpenAI's format has no field for them in a
 * call, but `encrypted_content` in reasoning. So the gateway emits a reasoning item with this
 * `encrypted_content` before a signed call:
 *
 *     gemini:1:<model that made the signature>:<signature>
 *
 * The next request contains the signature at the first call after that item. The signature is not
 * encrypted, because it contains no readable text. The other wires do not send strings that begin
 * with `gemini:`.
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
