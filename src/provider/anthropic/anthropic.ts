/** The Anthropic Messages API, and other services with the same wire. */
import type { Account, Provider } from '../provider.ts'
import { compactsFrom } from './compacts-from.ts'
import { decode, decodeWhole } from './decode.ts'
import { encode } from './encode.ts'
import { failure, refusesReasoning } from './failure.ts'
import { MEDIA } from './media.ts'
import { NOTES } from './notes.ts'
import { QUIRKS } from './quirks.ts'
import { traitsOf } from './traits.ts'

export const anthropic: Provider = {
  wire: 'anthropic',
  speaks: () => null,
  encode,
  decode,
  decodeWhole,
  failure,
  refusesReasoning,
  bindsReasoning: (model) => traitsOf(model, {}).bindsThinking,
  compactsFrom,
  compactionFirst: true,
  media: () => MEDIA,
  notes: NOTES,
  quirks: QUIRKS,
  headers: ({ apiKey }: Account) => ({
    ...(apiKey === null ? {} : { 'x-api-key': apiKey }),
    'anthropic-version': '2023-06-01',
  }),
}
