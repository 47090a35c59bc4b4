/** The Anthropic Messages API, and other services with the same wire. */
import type { Account, Provider } from '../provider-interface.ts'
import { getCompactionThreshold } from './compacts-from.ts'
import { decodeStream, decodeBody } from './response/decode-stream.ts'
import { encodeRequest } from './request/encode-request.ts'
import { parseErrorResponse, refusesReasoning } from './parse-errors.ts'
import { MEDIA_SUPPORT } from './media.ts'
import { NOTES } from './encoding-notes.ts'
import { QUIRKS } from './quirks.ts'
import { describeModel } from './model-traits.ts'

export const anthropic: Provider = {
  wire: 'anthropic',
  speaks: () => null,
  encode: encodeRequest,
  decode: decodeStream,
  decodeWhole: decodeBody,
  failure: parseErrorResponse,
  refusesReasoning,
  bindsReasoning: (model) => describeModel(model, {}).bindsThinking,
  compactsFrom: getCompactionThreshold,
  compactionFirst: true,
  media: () => MEDIA_SUPPORT,
  notes: NOTES,
  quirks: QUIRKS,
  headers: ({ apiKey }: Account) => ({
    ...(apiKey === null ? {} : { 'x-api-key': apiKey }),
    'anthropic-version': '2023-06-01',
  }),
}
