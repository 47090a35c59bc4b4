/**
 * Reasoning that only its maker can read travels through a client in `encrypted_content`. What the
 * gateway put there itself begins with the name of the wire that understands it; what OpenAI sealed
 * is base64 and has no colon.
 */
export function detectEncryptedContentWire(sealed: string): string | null {
  return /^([a-z]+):/.exec(sealed)?.[1] ?? null
}
