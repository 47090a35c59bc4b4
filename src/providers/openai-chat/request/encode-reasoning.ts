/**
 * Reasoning on the assistant message that it led to. Services disagree on the field, and many refuse
 * any: what is not known to be wanted is not sent, except for what came in chat's own words.
 */
import { readChatOnlyFields, filterObjects } from '../../../core/items/chat-only-fields.ts'
import type { Reasoning } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { ChatOptions, EncodingContext } from './encoding-context.ts'
import { unpackReasoningDetails, type ReasoningMaker } from '../pack-reasoning-details.ts'
import type { PositionedItem } from './group-items-into-messages.ts'

export interface EncodedReasoning {
  readonly fields: JsonObject
  /** Mistral's form: a part in front of the content. */
  readonly part: JsonObject | null
}

const NO_REASONING: EncodedReasoning = { fields: {}, part: null }

/** `firstCall` is the place of the first call that it led to, `null` if it led to none. */
export function encodeReasoning(
  reasoning: readonly PositionedItem<Reasoning>[],
  firstCall: number | null,
  encoding: EncodingContext,
): EncodedReasoning {
  const known =
    reasoning.length === 0
      ? NO_REASONING
      : encodeReasoningItems(reasoning, firstCall !== null, encoding)
  return firstCall === null ? known : addEmptyReasoning(known, firstCall, encoding)
}

/** Empty reasoning, for a service that wants to see the field whatever it holds. */
function addEmptyReasoning(
  known: EncodedReasoning,
  at: number,
  { options, notes }: EncodingContext,
): EncodedReasoning {
  const { reasoningDemanded, reasoningField = 'none' } = options.quirks
  if (reasoningDemanded !== true || !TEXT_FIELDS.has(reasoningField)) return known
  if (known.fields[reasoningField] !== undefined) return known
  notes.write('reasoning-stand-in', { at })
  return { ...known, fields: { ...known.fields, [reasoningField]: '' } }
}

const TEXT_FIELDS: ReadonlySet<string> = new Set(['reasoning_content', 'reasoning'])

function encodeReasoningItems(
  reasoning: readonly PositionedItem<Reasoning>[],
  hasCalls: boolean,
  { options, notes }: EncodingContext,
): EncodedReasoning {
  const { reasoningOn, reasoningField } = options.quirks
  const texts = new Map<string, string>()
  const details: JsonObject[] = []
  for (const { at, item } of reasoning) {
    const sealed = unpackReasoningDetails(item.encrypted_content)
    if (isFromOtherUpstream(item, options) || (sealed !== null && isOtherMaker(sealed, options))) {
      notes.write('reasoning-of-elsewhere', { at })
      continue
    }
    const native = readChatOnlyFields(item)
    const given = filterObjects(native.reasoning_details)
    const own = given.length > 0 ? given : (sealed?.details ?? [])
    const hasDetails = own.length > 0 && reasoningField !== 'none'
    if (hasDetails) details.push(...own)
    // Details say the text themselves, unless it came under a name of its own beside them.
    if (hasDetails && native.$field === undefined) continue
    const text = readText(item)
    const field = chooseTextField(reasoningField, native.$field)
    if (text === '') notes.write('reasoning-sealed', { at })
    else if (field === 'none' || (reasoningOn === 'calls' && !hasCalls)) {
      notes.write('reasoning-not-sent', { at })
    } else texts.set(field, texts.has(field) ? `${texts.get(field)}\n\n${text}` : text)
  }
  return buildReasoning(texts, details)
}

function buildReasoning(
  texts: ReadonlyMap<string, string>,
  details: readonly JsonObject[],
): EncodedReasoning {
  const fields: Record<string, Json> = {}
  let part: JsonObject | null = null
  for (const [field, text] of texts) {
    if (field === 'thinking-part') {
      part = { type: 'thinking', thinking: [{ type: 'text', text }] }
    } else fields[field] = text
  }
  if (details.length > 0) fields['reasoning_details'] = details
  return { fields, part }
}

/** Plain text among services of details goes in the field that they have for it. */
function chooseTextField(
  quirk: ChatOptions['quirks']['reasoningField'],
  own: string | undefined,
): string {
  if (quirk === undefined) return own ?? 'none'
  return quirk === 'reasoning_details' ? 'reasoning' : quirk
}

function readText({ summary, content = [] }: Reasoning): string {
  const parts = content.length > 0 ? content : summary
  return parts.map((part) => part.text).join('\n\n')
}

/** Known only of what comes from the store; what a client sends is taken as it is. */
export function isFromOtherUpstream(
  { origin }: Pick<Reasoning, 'origin'>,
  options: ChatOptions,
): boolean {
  return origin !== undefined && isOtherMaker(origin, options)
}

function isOtherMaker(maker: ReasoningMaker, { account, model }: ChatOptions): boolean {
  return maker.account !== account.name || maker.model !== model
}
