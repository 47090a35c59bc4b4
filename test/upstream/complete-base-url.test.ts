import { expect, test } from 'vitest'
import { readSettings } from '../../src/settings/read-settings.ts'
import { listAccounts } from '../../src/upstream/accounts-and-model-routing.ts'

function baseUrlOf(environment: Readonly<Record<string, string>>): string | undefined {
  return listAccounts(readSettings(environment))[0]?.baseUrl
}

test.each([
  // Anthropic's SDKs append `/v1/messages` to this variable.
  ['ANTHROPIC_BASE_URL', 'https://api.anthropic.com', 'https://api.anthropic.com/v1'],
  ['ANTHROPIC_BASE_URL', 'https://api.anthropic.com/v1/', 'https://api.anthropic.com/v1'],
  ['ANTHROPIC_BASE_URL', 'https://api.z.ai/api/anthropic', 'https://api.z.ai/api/anthropic/v1'],
  ['ANTHROPIC_BASE_URL', 'https://x/v1/a/b/anthropic', 'https://x/v1/a/b/anthropic/v1'],
  ['GEMINI_BASE_URL', 'https://x', 'https://x/v1beta'],
  ['GEMINI_BASE_URL', 'https://x/v1beta', 'https://x/v1beta'],
  ['GEMINI_BASE_URL', 'https://x/v1alpha1', 'https://x/v1alpha1'],
  [
    'GEMINI_BASE_URL',
    'https://x/v1/projects/p/locations/l/publishers/google',
    'https://x/v1/projects/p/locations/l/publishers/google',
  ],
  // OpenAI's SDKs expect the complete address.
  ['OPENAI_BASE_URL', 'https://api.perplexity.ai', 'https://api.perplexity.ai'],
  ['OPENROUTER_BASE_URL', 'https://openrouter.ai/api/v1', 'https://openrouter.ai/api/v1'],
])('%s=%s requests paths below %s', (name, value, baseUrl) => {
  expect(baseUrlOf({ [name]: value })).toBe(baseUrl)
})

test.each([
  ['anthropic', 'https://api.anthropic.com', 'https://api.anthropic.com/v1'],
  ['gemini', 'https://x:8080/', 'https://x:8080/v1beta'],
  ['anthropic', 'https://x/v1', 'https://x/v1'],
  // A path was chosen by the operator, so it is complete.
  ['anthropic', 'https://x/proxy', 'https://x/proxy'],
  ['chat', 'https://x', 'https://x'],
  ['responses', 'https://x', 'https://x'],
])('an upstream with the wire %s at %s is requested below %s', (wire, baseUrl, expected) => {
  const upstream = { name: 'a', wire, baseUrl }
  expect(baseUrlOf({ UPSTREAMS: JSON.stringify([upstream]) })).toBe(expected)
})
