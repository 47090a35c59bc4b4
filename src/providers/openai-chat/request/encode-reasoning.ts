/**
 * Encodes reasoning as fields of the assistant message after it. Services use different fields and
 * may reject unknown ones, so reasoning is sent only if a quirk names the field, or if the client
 * sent it in a field.
 */
import { readChatOnlyFields, filterObjects } from '../../../core/items/chat-only-fields.ts'
import type { Reasoning } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { ChatEncodingOptions, EncodingContext } from './encoding-context.ts'
import { unpackReasoningDetails, type ReasoningMaker } from '../pack-reasoning-details.ts'
import type { PositionedItem } from './group-items-into-messages.ts'

export interface EncodedReasoning {
  readonly fields: JsonObject
  /** For Mistral only: a part of type `thinking` for the beginning of the content. */
  readonly contentPart: JsonObject | null
}

/**
 * Encodes the reasoning of one message. `firstCallIndex` is the index of the message's first tool
 * call, or null without one.
 */
export function encodeReasoning(
  reasoning: readonly PositionedItem<Reasoning>[],
  firstCallIndex: number | null,
  encoding: EncodingContext,
): EncodedReasoning {
  const { options, notes } = encoding
  const encoded = encodeReasoningItems(reasoning, firstCallIndex !== null, encoding)
  const { reasoningDemanded, reasoningField = 'none' } = options.quirks
  if (firstCallIndex === null || reasoningDemanded !== true) return encoded
  if (!TEXT_FIELDS.has(reasoningField) || encoded.fields[reasoningField] !== undefined)
    return encoded
  notes.write('reasoning-stand-in', { itemIndex: firstCallIndex })
  return { ...encoded, fields: { ...encoded.fields, [reasoningField]: '' } }
}

const TEXT_FIELDS: ReadonlySet<string> = new Set(['reasoning_content', 'reasoning'])

function encodeReasoningItems(
  reasoning: readonly PositionedItem<Reasoning>[],
  hasCalls: boolean,
  { options, notes, jsonBudget }: EncodingContext,
): EncodedReasoning {
  const { reasoningOn, reasoningField } = options.quirks
  const texts = new Map<string, string>()
  const details: JsonObject[] = []
  for (const { itemIndex, item } of reasoning) {
    const packed = unpackReasoningDetails(item.encrypted_content, jsonBudget)
    if (isFromOtherUpstream(item, options) || (packed !== null && isOtherMaker(packed, options))) {
      notes.write('reasoning-of-elsewhere', { itemIndex })
      continue
    }
    const chatFields = readChatOnlyFields(item)
    const recorded = filterObjects(chatFields.reasoning_details)
    const itemDetails = recorded.length > 0 ? recorded : (packed?.details ?? [])
    const sendsDetails = itemDetails.length > 0 && reasoningField !== 'none'
    if (sendsDetails) details.push(...itemDetails)
    // `reasoning_details` contain the text too. It is sent in a second field only if the client
    // sent it there.
    if (sendsDetails && chatFields.$field === undefined) continue
    const text = readText(item)
    const field = chooseTextField(reasoningField, chatFields.$field)
    if (text === '') notes.write('reasoning-sealed', { itemIndex })
    else if (field === 'none' || (reasoningOn === 'calls' && !hasCalls)) {
      notes.write('reasoning-not-sent', { itemIndex })
    } else texts.set(field, texts.has(field) ? `${texts.get(field)}\n\n${text}` : text)
  }
  return buildReasoning(texts, details)
}

function buildReasoning(
  texts: ReadonlyMap<string, string>,
  details: readonly JsonObject[],
): EncodedReasoning {
  const fields: Record<string, Json> = {}
  let contentPart: JsonObject | null = null
  for (const [field, text] of texts) {
    if (field === 'thinking-part') {
      contentPart = { type: 'thinking', thinking: [{ type: 'text', text }] }
    } else fields[field] = text
  }
  if (details.length > 0) fields['reasoning_details'] = details
  return { fields, contentPart }
}

/**
 * Returns the field in which reasoning text is sent: the one that the quirk `reasoningField` names
 * (`reasoning` if it is `reasoning_details`); without the quirk, the field in which the client sent
 * the text, otherwise `none`.
 */
function chooseTextField(
  quirk: ChatEncodingOptions['quirks']['reasoningField'],
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
 * True if another account or model made the item. False without a recorded origin, because the
 * client itself sent the item.
 */
export function isFromOtherUpstream(
  { origin }: Pick<Reasoning, 'origin'>,
  options: ChatEncodingOptions,
): boolean {
  return origin !== undefined && isOtherMaker(origin, options)
}

function isOtherMaker(maker: ReasoningMaker, { account, model }: ChatEncodingOptions): boolean {
  return maker.account !== account.name || maker.model !== model
}
