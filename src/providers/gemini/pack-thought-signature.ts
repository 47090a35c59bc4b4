/**
 * Packs thought signatures for clients that store the conversation themselves. Gemini signs tool
 * calls and requires the signatures in later requests. In OpenAI's format, a call has no field for
 * a signature, but reasoning has `encrypted_content`. So the gateway emits a reasoning item before
 * a signed call, with this `encrypted_content`:
 *
 *     gemini:1:<model that made the signature>:<signature>
 *
 * The encoder moves the signature from this item to the first call after it. The signature is not
 * encrypted, because it contains no readable text. The prefix `gemini:` shows the encoders of the
 * other wires that their upstreams cannot read the string, so they do not send it.
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
