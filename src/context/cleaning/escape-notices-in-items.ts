/**
 * Users and tools cannot speak in the gateway's name: where their texts would begin like one of its
 * notices, the bracket becomes another one. Our own notices are known by more than their words.
 *
 * Under every policy, for every wire has notices of its own, and a medium that comes later may bring
 * some: what was sent before would otherwise change with it.
 */
import { escapeFakeNotices, isTextWithoutNotice } from '../../core/text/gateway-notice.ts'
import type { Item, Part } from '../../core/item.ts'
import { listContentParts } from '../../core/media/media-handles.ts'
import { replaceItems } from '../map-items-with-notes.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'

export function escapeNoticesInItems(): Transform {
  return {
    name: 'defuse-notices',
    needs: ITEM_TRAITS.noticeText,
    prefixStability: 'none',
    run: (items) => replaceItems(items, withoutLookAlikes, 'notice-defused'),
  }
}

function withoutLookAlikes(item: Item): Item {
  switch (item.type) {
    case 'message': {
      if (item.role !== 'user') return item
      const content = defusedParts(item.content)
      return content === item.content ? item : { ...item, content }
    }
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const output =
        typeof item.output === 'string'
          ? escapeFakeNotices(item.output)
          : defusedParts(listContentParts(item))
      return output === item.output ? item : { ...item, output }
    }
    case 'function_call':
    case 'custom_tool_call':
    case 'reasoning':
    case 'opaque':
      return item
  }
}

function defusedParts(parts: readonly Part[]): readonly Part[] {
  const texts = parts.filter(isTextWithoutNotice).map(({ text }) => text)
  // Some wires make one text of several parts, in lines or not, and a notice may be spread over them.
  const harmless = defusedTogether(defusedTogether(texts, '\n'), '')
  if (harmless === texts) return parts
  let at = 0
  return parts.map((part) => {
    if (!isTextWithoutNotice(part)) return part
    const text = harmless[at++] ?? part.text
    return text === part.text ? part : { ...part, text }
  })
}

/** The very same list, if they are harmless with so much between them. */
function defusedTogether(texts: readonly string[], between: string): readonly string[] {
  const whole = texts.join(between)
  const harmless = escapeFakeNotices(whole)
  if (harmless === whole) return texts
  let at = 0
  return texts.map((text) => {
    const start = at
    at += text.length + between.length
    return harmless.slice(start, start + text.length)
  })
}
