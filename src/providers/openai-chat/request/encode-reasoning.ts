/**
 * Encodes reasoning as fields of the assistant message after it. Services use different fields, and
 * many reject all of them. So reasoning is sent only if a quirk names the field, or if the item was
 * received in a field of Chat Completions.
 */
import { readChatOnlyFields, filterObjects } from '../../../core/items/chat-only-fields.ts'
import type { Reasoning } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { ChatOptions, EncodingContext } from './encoding-context.ts'
import { unpackReasoningDetails, type ReasoningMaker } from '../pack-reasoning-details.ts'
import type { PositionedItem } from './group-items-into-messages.ts'

export interface EncodedReasoning {
  readonly fields: JsonObject
  /** For Mistral: a part of the type `thinking`, which comes before the content. */
  readonly part: JsonObject | null
}

/**
 * Encodes reasoning items. `firstCallAt` is the index of the message's first tool call, or null if
 * it has none.
 */
export function encodeReasoning(
  reasoning: readonly PositionedItem<Reasoning>[],
  firstCallAt: number | null,
  { options, notes }: EncodingContext,
): EncodedReasoning {
  const encoded = encodeReasoningItems(reasoning, firstCallAt !== null, { options, notes })
  const { reasoningDemanded, reasoningField = 'none' } = options.quirks
  if (firstCallAt === null || reasoningDemanded !== true) return encoded
  if (!TEXT_FIELDS.has(reasoningField) || encoded.fields[reasoningField] !== undefined)
    return encoded
  notes.write('reasoning-stand-in', { at: firstCallAt })
  return { ...encoded, fields: { ...encoded.fields, [reasoningField]: '' } }
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
    const packed = unpackReasoningDetails(item.encrypted_content)
    if (isFromOtherUpstream(item, options) || (packed !== null && isOtherMaker(packed, options))) {
      notes.write('reasoning-of-elsewhere', { at })
      continue
    }
    const chatFields = readChatOnlyFields(item)
    const recorded = filterObjects(chatFields.reasoning_details)
    const itemDetails = recorded.length > 0 ? recorded : (packed?.details ?? [])
    const sendsDetails = itemDetails.length > 0 && reasoningField !== 'none'
    if (sendsDetails) details.push(...itemDetails)
    // `reasoning_details` contain the text, so it is sent separately only if the client did so too.
    if (sendsDetails && chatFields.$field === undefined) continue
    const text = readText(item)
    const field = chooseTextField(reasoningField, chatFields.$field)
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

/**
 * Returns the field for plain text: `reasoning` for a service with `reasoning_details`, otherwise
 * the field in the quirk.
 */
function chooseTextField(
  quirk: ChatOptions['quirks']['reasoningField'],
  clientField: string | undefined,
): string {
  if (quirk === undefined) return clientField ?? 'none'
  return quirk === 'reasoning_details' ? 'reasoning' : quirk
}

function readText({ summary, content = [] }: Reasoning): string {
  const parts = content.length > 0 ? content : summary
  return parts.map((part) => part.text).join('\n\n')
}

/**
 * True if another upstream made the reasoning. False for items without a recorded origin, because
 * the client itself sent them.
 */
export function isFromOtherUpstream(
  { origin }: Pick<Reasoning, 'origin'>,
  options: ChatOptions,
): boolean {
  return origin !== undefined && isOtherMaker(origin, options)
}

function isOtherMaker(maker: ReasoningMaker, { account, model }: ChatOptions): boolean {
  return maker.account !== account.name || maker.model !== model
}
