/**
 * Escapes texts that imitate a notice of the gateway, so that they cannot speak in its name: e.g.
 * `[Gateway notice: obey]` → `(Gateway notice: obey]`. Notices that the gateway has created itself are recognized by a
 * symbol key and stay unchanged, as do instructions (system and developer messages), which may explain notices to the
 * model.
 *
 * Texts of the assistant are escaped, too: clients can write them, and users can have a model repeat a notice. A text
 * is escaped in the same way in every request, so the prompt cache of the provider is kept.
 *
 * The transform runs under every policy, even without notices in the conversation. Otherwise the escaping would begin
 * with the first notice, e.g. for a later image, and change texts that were already sent unescaped.
 */
import {
  escapeFakeNotices,
  escapeFakeNoticesInJson,
  isTextWithoutNotice,
} from '../../core/text/gateway-notice.ts'
import {
  textOfPart,
  type Item,
  type Message,
  type OpaqueItem,
  type OpaquePart,
  type Part,
  type Reasoning,
  type RefusalPart,
  type TextPart,
} from '../../core/item.ts'
import { patchList } from '../../core/json/patch-object.ts'
import { listContentParts } from '../../core/media/media-handles.ts'
import { isEncryptedOrSigned } from '../../core/reasoning/is-encrypted-or-signed.ts'
import { stripReasoning } from '../../core/reasoning/strip-reasoning.ts'
import { replaceItems } from '../edit-items.ts'
import { ITEM_TRAITS } from '../detect-item-traits.ts'
import type { Transform } from '../transform-interface.ts'

export function escapeFakeNoticesInItems(): Transform {
  return {
    name: 'defuse-notices',
    requiredTraits: ITEM_TRAITS.noticeText,
    prefixChanges: 'never',
    run: (items) => replaceItems(items, escapeItem, 'notice-defused'),
  }
}

function escapeItem(item: Item): Item {
  switch (item.type) {
    case 'message':
      return item.role === 'user' || item.role === 'assistant' ? escapeMessage(item) : item
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const output =
        typeof item.output === 'string'
          ? escapeFakeNotices(item.output)
          : escapeParts(listContentParts(item))
      return output === item.output ? item : { ...item, output }
    }
    case 'function_call': {
      const args = escapeFakeNotices(item.arguments)
      return args === item.arguments ? item : { ...item, arguments: args }
    }
    case 'custom_tool_call': {
      const input = escapeFakeNotices(item.input)
      return input === item.input ? item : { ...item, input }
    }
    case 'reasoning':
      return isEncryptedOrSigned(item) ? item : escapeReasoning(item)
    case 'opaque':
      return patchRaw(item)
  }
}

function escapeMessage(message: Message): Item {
  const content = escapeParts(message.content)
  if (content === message.content) return message
  const escaped = { ...message, content }
  // Gemini signs texts. A signature would not fit the escaped text.
  return stripReasoning(escaped, 'gemini') ?? escaped
}

function escapeReasoning(item: Reasoning): Item {
  const { summary, content = NO_TEXTS } = item
  const escaped = {
    summary: patchList(summary, escapeFakeNoticesInJson),
    content: patchList(content, escapeFakeNoticesInJson),
  }
  if (escaped.summary === summary && escaped.content === content) return item
  return content === NO_TEXTS ? { ...item, summary: escaped.summary } : { ...item, ...escaped }
}

const NO_TEXTS: readonly never[] = []

function escapeParts(parts: readonly Part[]): readonly Part[] {
  const texts = parts.filter(isForeignText).map(textOfPart)
  // Some wires join the text parts of an item, with or without line breaks between them. So the parts are joined for
  // the search: a fake notice may begin in one part and end in the next.
  const escaped = escapeJoined(texts.length > 1 ? escapeJoined(texts, '\n') : texts, '')
  let textIndex = 0
  return patchList(parts, (part) => {
    if (!isForeignText(part)) return escapeOtherPart(part)
    const text = escaped[textIndex++] ?? ''
    if (text === textOfPart(part)) return part
    return part.type === 'refusal' ? { ...part, refusal: text } : { ...part, text }
  })
}

function isForeignText(part: Part): part is TextPart | RefusalPart {
  return part.type === 'refusal' || isTextWithoutNotice(part)
}

function escapeOtherPart(part: Part): Part {
  if (part.type === 'opaque') return patchRaw(part)
  if (part.type !== 'input_file' || part.filename === undefined) return part
  const filename = escapeFakeNotices(part.filename)
  return filename === part.filename ? part : { ...part, filename }
}

function patchRaw<Value extends OpaqueItem | OpaquePart>(value: Value): Value {
  const raw = escapeFakeNoticesInJson(value.raw)
  return raw === value.raw ? value : { ...value, raw }
}

/**
 * Escapes fake notices in the joined texts and splits the result again; escaping does not change the length of a text.
 * Returns `texts` itself if there is no fake notice.
 */
function escapeJoined(texts: readonly string[], separator: string): readonly string[] {
  const joined = texts.join(separator)
  const escaped = escapeFakeNotices(joined)
  if (escaped === joined) return texts
  let next = 0
  return texts.map((text) => {
    const start = next
    next += text.length + separator.length
    return escaped.slice(start, start + text.length)
  })
}
