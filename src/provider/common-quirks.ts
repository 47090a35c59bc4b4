/** What can be said of every upstream, whatever its wire. Each is read where its subject is at home. */
import { isObject } from '../conversation/json.ts'
import { flag, isListOfTexts, list, type Quirk, type QuirkTable } from './quirk.ts'

const contextWindow: Quirk = {
  what: 'a number of tokens, or such numbers by model',
  read(value) {
    const sizes: readonly unknown[] = isObject(value) ? Object.values(value) : [value]
    return sizes.every((size) => typeof size === 'number' && size > 0) ? value : undefined
  },
  sentence:
    'How much its models take. By model as in `{"qwen*": 32768, "*": 8192}`; the first pattern that matches counts.',
}

const speakerGuard: Quirk = {
  what: 'true, false or a list of labels',
  read: (value) => (typeof value === 'boolean' || isListOfTexts(value) ? value : undefined),
  sentence:
    "Ends an answer before a line that another speaker would begin. The labels are the model's own. Goes before `SPEAKER_GUARD`.",
}

export const COMMON_QUIRKS: QuirkTable = {
  contextWindow,
  degrade: flag(
    'Where it refuses an optional parameter, it is asked again without it, up to three times.',
  ),
  prefixCheck: flag(
    'Takes reasoning back only behind the prefix that it was made on. Where it is not said, the model tells.',
  ),
  speakerGuard,
  stop: list(
    'a list of stop strings',
    'Added to those of every request, as control tokens that its models let slip.',
  ),
}
