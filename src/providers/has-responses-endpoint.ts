/**
 * True if an upstream itself has one of OpenAI's endpoints beside `/responses`. OpenAI has all of
 * them; another server that speaks the Responses API declares one with the quirk of that name, e.g.
 * `{"quirks": {"inputTokens": true}}`.
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
