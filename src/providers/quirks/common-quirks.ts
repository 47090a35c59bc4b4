/** Lists the quirks that accounts of every provider can have. */
import { isObject } from '../../core/json/json.ts'
import { MEDIA_KINDS } from '../../core/media/content-part-media.ts'
import {
  countQuirk,
  flagQuirk,
  isStringList,
  listQuirk,
  type Quirk,
  type QuirkTable,
} from './quirk-value-kinds.ts'

const contextWindow: Quirk = {
  acceptedValues: 'a number of tokens, or such numbers by model',
  parse(value) {
    const sizes: readonly unknown[] = isObject(value) ? Object.values(value) : [value]
    return sizes.every((size) => typeof size === 'number' && size > 0) ? value : undefined
  },
  description:
    'The context window of its models, in tokens. Sizes by model: `{"qwen*": 32768, "*": 8192}`; the first matching pattern applies.',
}

const sees: Quirk = {
  acceptedValues: 'a list of: image, audio, video, file; or such lists by model',
  parse(value) {
    const lists: readonly unknown[] = isObject(value) ? Object.values(value) : [value]
    return lists.every((kinds) => isStringList(kinds) && kinds.every(isMediaKind))
      ? value
      : undefined
  },
  description:
    'Media that its models accept besides text; a notice replaces other media. By model as in `{"*-vl*": ["image"], "*": []}`; the first matching pattern applies. Default: all, except for models that are known to accept only text.',
}

function isMediaKind(text: string): boolean {
  return MEDIA_KINDS.some((kind) => kind === text)
}

const speakerGuard: Quirk = {
  acceptedValues: 'true, false or a list of labels',
  parse: (value) => (typeof value === 'boolean' || isStringList(value) ? value : undefined),
  description:
    "The gateway ends an answer before a line in which another speaker begins, e.g. `User: …`. A list contains the model's own labels, which do not end it. Overrides `SPEAKER_GUARD`.",
}

export const COMMON_QUIRKS: QuirkTable = {
  contextWindow,
  degrade: flagQuirk(
    'The gateway repeats a request without an optional parameter that this upstream rejects, up to 3 times.',
  ),
  imageLimitBytes: countQuirk(
    'The maximum number of base64 characters of one image. A notice replaces a larger image of an earlier message; a larger image in or after the latest user message is an error.',
  ),
  mediaLimitBytes: countQuirk(
    'The maximum number of base64 characters of all media of a request; notices replace the oldest. If the media in and after the latest user message alone exceed it, the request is rejected.',
  ),
  mediaUrls: flagQuirk(
    'Loads media from URLs itself; otherwise the gateway loads them and sends them in the request. Default: true, except with the profile `ollama`; on the Gemini wire `remoteUrls` also decides.',
  ),
  prefixCheck: flagQuirk(
    'Accepts reasoning only after the same items that preceded it when it was generated. Default: by the model.',
  ),
  sees,
  speakerGuard,
  stop: listQuirk(
    'a list of stop sequences',
    'The gateway adds these stop sequences to every request, e.g. control tokens that its models write by mistake.',
  ),
}
