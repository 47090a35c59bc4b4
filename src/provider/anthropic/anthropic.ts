/**
 * The Anthropic Messages API, and other services with the same wire.
 *
 * Quirks of an account: `prefill` (may a conversation end with an assistant message), `cacheControl`
 * (`false`, or `'1h'` for a longer life), `structuredOutput` (`native` or `tool`), `thinking` (`none`,
 * `budget` or `adaptive`), `maxTokens` (the limit when the client names none), `strictTools` (hold
 * tool arguments to their schema). What they are without a setting is in `traits.ts`.
 */
import type { Account, Provider } from '../provider.ts'
import { decode, decodeWhole } from './decode.ts'
import { encode } from './encode.ts'
import { failure } from './failure.ts'
import { NOTES } from './notes.ts'

export const anthropic: Provider = {
  wire: 'anthropic',
  speaks: () => null,
  encode,
  decode,
  decodeWhole,
  failure,
  notes: NOTES,
  headers: ({ apiKey }: Account) => ({
    ...(apiKey === null ? {} : { 'x-api-key': apiKey }),
    'anthropic-version': '2023-06-01',
  }),
}
