/**
 * Replaces images, recordings and files by notices if they exceed a limit of the policy, or if the model does not
 * accept this kind of media. With `media.repeated: last`, also replaces an image that comes again later.
 *
 * The latest question keeps all media that the model accepts. The cutoff of each limit moves in steps, so that most
 * requests send earlier rounds unchanged. When an image is repeated, its earlier occurrence is replaced at once.
 */
import type { Item, Part } from '../../core/item.ts'
import type { MediaRules } from '../../core/context-policy.ts'
import { replaceContentParts } from '../../core/items/replace-content-parts.ts'
import { assignMediaHandles, listContentParts } from '../../core/media/media-handles.ts'
import {
  createHiddenMediaGroupNotice,
  type HiddenMediaGroup,
  type MediaNoticeOptions,
} from '../../core/media/media-notices.ts'
import type { Note } from '../../core/note.ts'
import { ITEM_TRAITS } from '../detect-item-traits.ts'
import type { Transform } from '../transform-interface.ts'
import type { MediaKind } from '../../core/media/content-part-media.ts'
import { selectMediaToHide, type HiddenMedia, type OldImageFinder } from './select-media-to-hide.ts'

export interface MediaHidingOptions {
  readonly rules: MediaRules
  /** Finds the old images that are hidden; by default all that `keepTurns` does not keep. */
  readonly findOldImages?: OldImageFinder | undefined
  /** The kinds of media that the model accepts. */
  readonly acceptedMediaKinds: ReadonlySet<MediaKind>
  /**
   * The complete conversation, if the transform runs on only a part of it. Media handles, e.g. `media_3`, are numbered
   * over the complete conversation.
   */
  readonly conversation?: readonly Item[] | undefined
}

export function replaceHiddenMedia({
  rules,
  findOldImages,
  acceptedMediaKinds,
  conversation,
}: MediaHidingOptions): Transform {
  return {
    name: 'show-media',
    requiredTraits: ITEM_TRAITS.media | ITEM_TRAITS.markdownImage,
    prefixChanges: 'permanent',
    run(items) {
      const hiddenByItem = selectMediaToHide(items, { rules, acceptedMediaKinds, findOldImages })
      const notes: Note[] = []
      if (hiddenByItem.size === 0) return { items, notes }
      const handles = assignMediaHandles(conversation ?? items)
      const rebuilt = items.map((item, index) => {
        const hidden = hiddenByItem.get(index)
        if (hidden === undefined) return item
        const whys = new Set([...hidden.values()].map(({ why }) => why))
        for (const why of whys) notes.push({ did: 'changed', at: index, why })
        return insertNotices(item, hidden, { handles, canView: rules.view })
      })
      return { items: rebuilt, notes }
    },
  }
}

/**
 * Replaces the hidden content parts of an item with notices. `hidden` contains these parts by their index. Adjacent
 * parts of one kind, e.g. images, that are hidden for the same reason share one notice.
 */
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
