/**
 * Which of OpenAI's endpoints around an answer an upstream has itself. OpenAI has them all; another
 * server that speaks Responses says so with a quirk of that name.
 */
import type { Account } from './provider-interface.ts'

export function hasResponsesEndpoint(
  { wire, baseUrl, quirks }: Account,
  name: 'compact' | 'inputTokens',
): boolean {
  if (wire !== 'responses') return false
  const said = quirks[name]
  return typeof said === 'boolean' ? said : baseUrl.startsWith('https://api.openai.com/')
}
