/**
 * True if an upstream has one of OpenAI's endpoints below `/responses`, e.g.
 * `/responses/input_tokens`. OpenAI has all of them. For another server, the account's quirks list
 * the endpoints that it has, e.g. `{"quirks": {"inputTokens": true}}`.
 */
import type { Account } from './provider-interface.ts'

export function hasResponsesEndpoint(
  { wire, baseUrl, quirks }: Account,
  name: 'compact' | 'inputTokens',
): boolean {
  if (wire !== 'responses') return false
  const quirk = quirks[name]
  return typeof quirk === 'boolean' ? quirk : baseUrl.startsWith('https://api.openai.com/')
}
