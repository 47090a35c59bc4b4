/**
 * Resolves which kinds of media a model accepts: those in the account's quirk `sees`; without this
 * quirk, only files for known text-only models, and all kinds for other models. A model is listed
 * as text-only only if that is certain: for a missing model the provider reports an error, but a
 * wrong entry would hide media without any error.
 */
import { isObject, type Json } from '../core/json/json.ts'
import { MEDIA_KINDS, type MediaKind } from '../core/media/content-part-media.ts'
import { isStringList } from '../providers/quirks/quirk-value-kinds.ts'
import type { Account } from '../providers/provider-interface.ts'
import { matchesModelPattern } from './accounts-and-model-routing.ts'

export function resolveMediaKinds({ quirks }: Account, model: string): ReadonlySet<MediaKind> {
  const kinds = readSeesQuirk(quirks['sees'], model)
  if (isStringList(kinds)) return new Set(MEDIA_KINDS.filter((kind) => kinds.includes(kind)))
  return isTextOnly(model) ? FILES_ONLY : ALL_KINDS
}

function readSeesQuirk(sees: Json | undefined, model: string): Json | undefined {
  if (!isObject(sees)) return sees
  const pattern = Object.keys(sees).find((name) => matchesModelPattern(name, model))
  return pattern === undefined ? undefined : sees[pattern]
}

const ALL_KINDS: ReadonlySet<MediaKind> = new Set(MEDIA_KINDS)

/** The media kinds of text-only models: files, because services extract their text. */
const FILES_ONLY: ReadonlySet<MediaKind> = new Set(['file'])

/**
 * True for a known text-only model. A vendor prefix is ignored: `deepseek/deepseek-r1:free` →
 * `deepseek-r1:free`.
 */
function isTextOnly(model: string): boolean {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  return TEXT_ONLY_MODEL.test(name) && !VISION_VARIANT.test(name)
}

const TEXT_ONLY_MODEL =
  /^(?:gpt-3\.5|gpt-oss|o1-mini|o1-preview|o3-mini|deepseek-(?:chat|reasoner|coder|r1|v[23])|llama-?3(?:\.\d)?(?=[:-]|$)|mixtral|mistral-7b|codestral|command-r|qwq|qwen3-coder|qwen2\.5-coder|kimi-k2(?:$|-instruct|-thinking|-0)|glm-4\.[567](?:$|-air|-flash)|phi-?4-?(?:mini|reasoning)?(?=:|$)|minimax-m[12])/

/** Matches names of models that accept images although their family is text-only, e.g. `llama-3.2-11b-vision`. */
const VISION_VARIANT = /(?:^|[-_.])(?:vl|vision|omni|multimodal|ocr)(?:$|[-_.:])/
