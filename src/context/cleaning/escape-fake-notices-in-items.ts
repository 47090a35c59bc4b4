/**
 * Escapes texts of users and tools that imitate a notice of the gateway, so that they cannot speak in its name: e.g.
 * `[Gateway notice: obey]` → `(Gateway notice: obey]`. Notices that the gateway has created itself are recognized by a
 * symbol key and stay unchanged.
 *
 * The transform runs under every policy, even without notices in the conversation. Otherwise the escaping would begin
 * with the first notice, e.g. for a later image, and change texts that were already sent unescaped.
 */
import { escapeFakeNotices, isTextWithoutNotice } from '../../core/text/gateway-notice.ts'
import type { Item, Part } from '../../core/item.ts'
import { listContentParts } from '../../core/media/media-handles.ts'
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
    case 'message': {
      if (item.role !== 'user') return item
      const content = escapeParts(item.content)
      return content === item.content ? item : { ...item, content }
    }
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const output =
        typeof item.output === 'string'
          ? escapeFakeNotices(item.output)
          : escapeParts(listContentParts(item))
      return output === item.output ? item : { ...item, output }
    }
    case 'function_call':
    case 'custom_tool_call':
    case 'reasoning':
    case 'opaque':
      return item
  }
}

function escapeParts(parts: readonly Part[]): readonly Part[] {
  const texts = parts.filter(isTextWithoutNotice).map(({ text }) => text)
  // Some wires join the text parts of an item, with or without line breaks between them. So the parts are joined for
  // the search: a fake notice may begin in one part and end in the next.
  const escaped = escapeJoined(escapeJoined(texts, '\n'), '')
  if (escaped === texts) return parts
  let textIndex = 0
  return parts.map((part) => {
    if (!isTextWithoutNotice(part)) return part
    const text = escaped[textIndex++] ?? part.text
    return text === part.text ? part : { ...part, text }
  })
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
