/** What can be said of every upstream, whatever its wire. Each is read where its subject is at home. */
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
  what: 'a number of tokens, or such numbers by model',
  read(value) {
    const sizes: readonly unknown[] = isObject(value) ? Object.values(value) : [value]
    return sizes.every((size) => typeof size === 'number' && size > 0) ? value : undefined
  },
  sentence:
    'How much its models take. By model as in `{"qwen*": 32768, "*": 8192}`; the first pattern that matches counts.',
}

const sees: Quirk = {
  what: 'a list of: image, audio, video, file; or such lists by model',
  read(value) {
    const lists: readonly unknown[] = isObject(value) ? Object.values(value) : [value]
    return lists.every((kinds) => isStringList(kinds) && kinds.every(isMediaKind))
      ? value
      : undefined
  },
  sentence:
    'What its models can see, hear and read beside text; the rest becomes a notice. By model as in `{"*-vl*": ["image"], "*": []}`; the first pattern that matches counts. Where nobody says it, everything, but for models that are known to be blind.',
}

function isMediaKind(text: string): boolean {
  return MEDIA_KINDS.some((kind) => kind === text)
}

const speakerGuard: Quirk = {
  what: 'true, false or a list of labels',
  read: (value) => (typeof value === 'boolean' || isStringList(value) ? value : undefined),
  sentence:
    "Ends an answer before a line that another speaker would begin. The labels are the model's own. Goes before `SPEAKER_GUARD`.",
}

export const COMMON_QUIRKS: QuirkTable = {
  contextWindow,
  degrade: flagQuirk(
    'Where it refuses an optional parameter, it is asked again without it, up to three times.',
  ),
  imageLimitBytes: countQuirk(
    'How much base64 one image may be. Above it older images become notices, and the newest question is refused.',
  ),
  mediaLimitBytes: countQuirk('The same for all media of a request together; the oldest go first.'),
  mediaUrls: flagQuirk(
    'Whether it loads media from their addresses. If not, they are loaded here and sent within the request.',
  ),
  prefixCheck: flagQuirk(
    'Takes reasoning back only behind the prefix that it was made on. Where it is not said, the model tells.',
  ),
  sees,
  speakerGuard,
  stop: listQuirk(
    'a list of stop strings',
    'Added to those of every request, as control tokens that its models let slip.',
  ),
}
