/** The Anthropic Messages API, and other services with the same wire. */
import type { Account, Provider, WireMediaSupport } from '../provider-interface.ts'
import { NOTES } from './encoding-notes.ts'
import { describeModel } from './model-traits.ts'
import { parseErrorResponse, refusesReasoning } from './parse-errors.ts'
import { QUIRKS } from './quirks.ts'
import { encodeRequest } from './request/encode-request.ts'
import { decodeStream, decodeBody } from './response/decode-stream.ts'

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

export function getCompactionThreshold({ baseUrl, quirks }: Account, model: string): number | null {
  const { compact } = quirks
  const isAble = typeof compact === 'boolean' ? compact : baseUrl.startsWith(OWN_HOST)
  return isAble && describeModel(model, quirks).compacts ? LEAST_TRIGGER : null
}

const OWN_HOST = 'https://api.anthropic.com/'

const LEAST_TRIGGER = 50_000

export const MEDIA_SUPPORT: WireMediaSupport = {
  loads: (_, url) => url.startsWith('https:'),
  // Counted as base64: https://platform.claude.com/docs/en/build-with-claude/vision
  imageChars: 5 * 1024 * 1024,
  // Of 32 MB, with room for what is said.
  requestChars: 30_000_000,
}
