/**
 * True if an upstream has the endpoint `/responses/compact` or `/responses/input_tokens`. OpenAI
 * has both. Other servers have those that the account's quirks list, e.g. `{"quirks":
 * {"inputTokens": true}}`.
 */
import type { Account } from './provider-interface.ts'

export function hasCompactOrCountEndpoint(
  { wire, baseUrl, quirks }: Account,
  name: 'compact' | 'inputTokens',
): boolean {
  if (wire !== 'responses') return false
  const quirk = quirks[name]
  return typeof quirk === 'boolean' ? quirk : baseUrl.startsWith('https://api.openai.com/')
}
