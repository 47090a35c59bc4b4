/**
 * Decides which pictures, recordings and files of a conversation a model is shown. What it is not
 * shown becomes a notice in its place, a part of its own: because only newer ones are shown, because
 * the same image comes again later, or because this model cannot see the like.
 *
 * The newest question is whole, but for what the model is blind to. All borders move in steps, so that
 * a turn is sent as before until the next one; that an image comes again is a step, too.
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
      const fates = selectMediaToHide(items, { ...rules, outputsStay }, sees)
      const notes: Note[] = []
      if (fates.size === 0) return { items, notes }
      const handles = assignMediaHandles(conversation ?? items)
      const rebuilt = items.map((item, at) => {
        const hidden = fates.get(at)
        if (hidden === undefined) return item
        const whys = new Set([...hidden.values()].map(({ why }) => why))
        for (const why of whys) notes.push({ did: 'changed', at, why })
        return withNotices(item, hidden, { handles, canView })
      })
      return { items: rebuilt, notes }
    },
  }
}

/** `hidden`: by the place of the part. Neighbours that are hidden for one reason share a notice. */
function withNotices(
  item: Item,
  hidden: ReadonlyMap<number, HiddenMedia>,
  telling: Omit<MediaNoticeOptions, 'type'>,
): Item {
  const isAssistant = item.type === 'message' && item.role === 'assistant'
  const type = isAssistant ? 'output_text' : 'input_text'
  const parts: (Part | HiddenMediaGroup)[] = []
  for (const [place, part] of listContentParts(item).entries()) {
    const fate = hidden.get(place)
    if (fate === undefined) {
      parts.push(part)
      continue
    }
    const { kind, identity } = fate.medium
    const why = TOLD[fate.why]
    const last = parts.at(-1)
    const joins = last !== undefined && 'why' in last && last.kind === kind && last.why === why
    const identities = joins ? [...last.identities, identity] : [identity]
    parts.splice(joins ? -1 : parts.length, 1, { kind, why, identities })
  }
  return replaceContentParts(
    item,
    parts.map((part) =>
      'why' in part ? createHiddenMediaGroupNotice(part, { ...telling, type }) : part,
    ),
  )
}

const TOLD: Readonly<Record<HiddenMedia['why'], HiddenMediaGroup['why']>> = {
  'media-outside-window': 'older',
  'media-too-old': 'older',
  'media-over-limit': 'older',
  'media-over-bytes': 'older',
  'media-repeated': 'repeated',
  'media-unseen': 'unseen',
}
