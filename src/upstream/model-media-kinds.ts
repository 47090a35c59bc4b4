/**
 * Which kinds of media a model can see, hear or read: what its account's `sees` says, a short table
 * of models that are known to take nothing but text, and everything for all others. Who is blind
 * and does not know it is refused by its provider; who sees and is thought blind, nobody would notice.
 */
import { isObject, type Json } from '../core/json/json.ts'
import { MEDIA_KINDS, type MediaKind } from '../core/media/content-part-media.ts'
import { isStringList } from '../providers/quirks/quirk-value-kinds.ts'
import type { Account } from '../providers/provider-interface.ts'
import { matchesModelPattern } from './accounts-and-model-routing.ts'

export function resolveMediaKinds({ quirks }: Account, model: string): ReadonlySet<MediaKind> {
  const said = readSeesQuirk(quirks['sees'], model)
  if (isStringList(said)) return new Set(MEDIA_KINDS.filter((kind) => said.includes(kind)))
  return isTextOnly(model) ? FILES_ONLY : ALL_KINDS
}

function readSeesQuirk(sees: Json | undefined, model: string): Json | undefined {
  if (!isObject(sees)) return sees
  const pattern = Object.keys(sees).find((name) => matchesModelPattern(name, model))
  return pattern === undefined ? undefined : sees[pattern]
}

const ALL_KINDS: ReadonlySet<MediaKind> = new Set(MEDIA_KINDS)

/** Of a document its service may read out the text. */
const FILES_ONLY: ReadonlySet<MediaKind> = new Set(['file'])

/** By the name alone, without its vendor: `deepseek/deepseek-r1:free` is `deepseek-r1`. */
function isTextOnly(model: string): boolean {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  return TEXT_ONLY_MODEL.test(name) && !VISION_VARIANT.test(name)
}

const TEXT_ONLY_MODEL =
  /^(?:gpt-3\.5|gpt-oss|o1-mini|o1-preview|o3-mini|deepseek-(?:chat|reasoner|coder|r1|v[23])|llama-?3(?:\.\d)?(?=[:-]|$)|mixtral|mistral-7b|codestral|command-r|qwq|qwen3-coder|qwen2\.5-coder|kimi-k2(?:$|-instruct|-thinking|-0)|glm-4\.[567](?:$|-air|-flash)|phi-?4-?(?:mini|reasoning)?(?=:|$)|minimax-m[12])/

/** Of one family some have eyes. */
const VISION_VARIANT = /(?:^|[-_.])(?:vl|vision|omni|multimodal|ocr)(?:$|[-_.:])/
