/**
 * Returns the wire whose encrypted reasoning the gateway packed into `encrypted_content`, e.g.
 * `anthropic` for `anthropic:…`. Returns null for OpenAI's content, which is base64 without a colon.
 */
export function detectEncryptedContentWire(content: string): string | null {
  return /^([a-z]+):/.exec(content)?.[1] ?? null
}
