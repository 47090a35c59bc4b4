/**
 * Returns the wire of reasoning that the gateway packed into the field `encrypted_content`, e.g.
 * `anthropic` for `anthropic:…`. Returns null for OpenAI's own content, which is base64 without a colon.
 */
export function detectEncryptedContentWire(content: string): string | null {
  return /^([a-z]+):/.exec(content)?.[1] ?? null
}
