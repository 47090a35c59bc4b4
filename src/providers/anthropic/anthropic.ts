/** The Anthropic Messages API, and other services with the same wire. */
import type { Account, Provider } from '../provider-interface.ts'
import { compactsFrom } from './compacts-from.ts'
import { decode, decodeWhole } from './response/decode-stream.ts'
import { encode } from './request/encode-request.ts'
import { failure, refusesReasoning } from './parse-errors.ts'
import { MEDIA } from './media.ts'
import { NOTES } from './encoding-notes.ts'
import { QUIRKS } from './quirks.ts'
import { traitsOf } from './model-traits.ts'

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
