/**
 * Replaces hidden images, recordings and files by notices: because a limit allows only later ones, because
 * the same image comes again, or because the model does not accept this kind of media.
 *
 * The latest question keeps all media that the model accepts. All limits move in steps, so that earlier
 * rounds are sent unchanged between two steps; a repeated image also is a step.
 */
import type { Item, Part } from '../../core/item.ts'
import { replaceContentParts } from '../../core/items/replace-content-parts.ts'
import { assignMediaHandles, listContentParts } from '../../core/media/media-handles.ts'
import {
  createHiddenMediaGroupNotice,
  type HiddenMediaGroup,
  type MediaNoticeOptions,
} from '../../core/media/media-notices.ts'
import type { Note } from '../../core/note.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'
import {
  selectMediaToHide,
  type HiddenMedia,
  type MediaVisibilityOptions,
} from './select-media-to-hide.ts'

export function replaceHiddenMedia({
  rules,
  outputsStay = true,
  sees,
  canView,
  conversation,
}: MediaVisibilityOptions): Transform {
  return {
    name: 'show-media',
    needs: ITEM_TRAITS.media | ITEM_TRAITS.markdownImage,
    prefixStability: 'lasting',
    run(items) {
      const hiddenByItem = selectMediaToHide(items, { ...rules, outputsStay }, sees)
      const notes: Note[] = []
      if (hiddenByItem.size === 0) return { items, notes }
      const handles = assignMediaHandles(conversation ?? items)
      const rebuilt = items.map((item, at) => {
        const hidden = hiddenByItem.get(at)
        if (hidden === undefined) return item
        const whys = new Set([...hidden.values()].map(({ why }) => why))
        for (const why of whys) notes.push({ did: 'changed', at, why })
        return insertNotices(item, hidden, { handles, canView })
      })
      return { items: rebuilt, notes }
    },
  }
}

/** Replaces the hidden parts, by index, with notices. Adjacent parts hidden for the same reason share one notice. */
function insertNotices(
  item: Item,
  hidden: ReadonlyMap<number, HiddenMedia>,
  options: Omit<MediaNoticeOptions, 'partType'>,
): Item {
  const isAssistant = item.type === 'message' && item.role === 'assistant'
  const type = isAssistant ? 'output_text' : 'input_text'
  const parts: (Part | HiddenMediaGroup)[] = []
  for (const [index, part] of listContentParts(item).entries()) {
    const media = hidden.get(index)
    if (media === undefined) {
      parts.push(part)
      continue
    }
    const { kind, identity } = media.medium
    const why = NOTICE_REASONS[media.why]
    const last = parts.at(-1)
    const joins = last !== undefined && 'why' in last && last.kind === kind && last.why === why
    const identities = joins ? [...last.identities, identity] : [identity]
    parts.splice(joins ? -1 : parts.length, 1, { kind, why, identities })
  }
  return replaceContentParts(
    item,
    parts.map((part) =>
      'why' in part ? createHiddenMediaGroupNotice(part, { ...options, partType: type }) : part,
    ),
  )
}

const NOTICE_REASONS: Readonly<Record<HiddenMedia['why'], HiddenMediaGroup['why']>> = {
  'media-outside-window': 'older',
  'media-too-old': 'older',
  'media-over-limit': 'older',
  'media-over-bytes': 'older',
  'media-repeated': 'repeated',
  'media-unseen': 'unseen',
}
